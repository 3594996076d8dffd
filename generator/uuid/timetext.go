package uuid

import (
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"
	"github.com/segmentio/ksuid"

	"nextid/generator"
)

// ulidMaker makes rising ULIDs, as in section "Monotonicity" of the specification.
// Within a millisecond each ULID is the one before plus a small random number. A
// clock that is set back does not set ULIDs back.
type ulidMaker struct {
	clock generator.Clock

	mu        sync.Mutex
	until     time.Duration // monotonic time up to which the last reading of the wall clock is valid
	ms        uint64
	high, low uint64 // the 80 random bits of the last ULID: 16 and 64
}

func (m *ulidMaker) make() (string, error) {
	m.mu.Lock()
	ms := m.ms
	// The wall clock is read once a millisecond: the monotonic clock is faster.
	if now := m.clock.Monotonic(); now >= m.until {
		wall := m.clock.Wall()
		ms = uint64(wall) / uint64(time.Millisecond)
		m.until = now + time.Millisecond - time.Duration(wall)%time.Millisecond
	}
	var b [10]byte
	fillRandom(b[:])
	if ms > m.ms {
		m.ms, m.high, m.low = ms, uint64(binary.BigEndian.Uint16(b[:])), binary.BigEndian.Uint64(b[2:])
	} else {
		var carry uint64
		m.low, carry = bits.Add64(m.low, 1+uint64(binary.BigEndian.Uint32(b[:])), 0)
		if m.high += carry; m.high == 1<<16 { // above the greatest ULID of the millisecond
			m.ms, m.high = m.ms+1, 0
		}
	}
	ms, high, low := m.ms, m.high, m.low
	m.mu.Unlock()

	var id ulid.ULID
	if err := id.SetTime(ms); err != nil {
		return "", err
	}
	binary.BigEndian.PutUint16(id[6:], uint16(high))
	binary.BigEndian.PutUint64(id[8:], low)
	var text [ulid.EncodedSize]byte
	err := id.MarshalTextTo(text[:])
	return string(text[:]), err
}

// ULID returns a ULID, greater than the one before on this server.
func (s *Source) ULID() (string, error) { return s.ulids.make() }

func explainULID(code string) (p generator.Parts, ok bool) {
	id, err := ulid.ParseStrict(code)
	if err != nil {
		return p, false
	}
	return generator.Parts{Time: new(id.Timestamp().UTC())}, true
}

// newKSUID makes a KSUID. KSUIDs of one second have no order.
func newKSUID(clock generator.Clock) (string, error) {
	var random [16]byte
	fillRandom(random[:])
	id, err := ksuid.FromParts(time.Unix(0, clock.Wall()), random[:])
	return id.String(), err
}

func explainKSUID(code string) (p generator.Parts, ok bool) {
	for i := range len(code) { // the library accepts other characters as digits
		if c := code[i]; (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return p, false
		}
	}
	id, err := ksuid.Parse(code)
	if err != nil {
		return p, false
	}
	return generator.Parts{Time: new(id.Time().UTC())}, true
}

// xidMaker makes XIDs. The library takes 5 bytes from the ids of machine and
// process, which are equal in containers of one image. Here they are random, as in
// MongoDB's newer ObjectIds.
type xidMaker struct {
	clock   generator.Clock
	process [5]byte
	until   atomic.Int64 // end of the present second, ns on the monotonic clock

	_    [64]byte      // every id writes last: it has a cache line of its own
	last atomic.Uint64 // second<<24 | count of the last id. It only rises; count begins at random
	_    [64]byte
}

func newXIDMaker(clock generator.Clock) *xidMaker {
	m := &xidMaker{clock: clock}
	fillRandom(m.process[:])
	var begin [4]byte
	fillRandom(begin[1:])
	m.last.Store(uint64(binary.BigEndian.Uint32(begin[:])))
	return m
}

// follow raises the second of last to that of the wall clock. It reads the wall clock
// once a second: the monotonic clock is faster.
func (m *xidMaker) follow() {
	mono := int64(m.clock.Monotonic())
	if mono < m.until.Load() {
		return
	}
	wall := m.clock.Wall()
	second := uint64(wall) / uint64(time.Second)
	for last := m.last.Load(); last>>24 < second && !m.last.CompareAndSwap(last, second<<24|last&(1<<24-1)); last = m.last.Load() {
	}
	m.until.Store(mono + int64(time.Second) - wall%int64(time.Second))
}

func (m *xidMaker) make() (string, error) {
	m.follow()
	last := m.last.Add(1)
	var id xid.ID
	binary.BigEndian.PutUint32(id[:], uint32(last>>24))
	copy(id[4:], m.process[:])
	id[9], id[10], id[11] = byte(last>>16), byte(last>>8), byte(last)
	var text [20]byte
	return string(id.Encode(text[:])), nil
}

func explainXID(code string) (p generator.Parts, ok bool) {
	if len(code) != 20 || (strings.Trim(code, "0123456789") == "" && code != xid.NilID().String()) { // digits alone are a number
		return p, false
	}
	id, err := xid.FromString(code)
	if err != nil {
		return p, false
	}
	return generator.Parts{Time: new(id.Time().UTC()), Worker: new(bigEndian(id[4:9])), Sequence: new(int64(id.Counter()))}, true
}

// Ids of other systems, which nextid reads but does not make.

// explainObjectID explains MongoDB's ObjectId: 24 hexadecimal digits of seconds (4
// bytes), a random number of the process (5) and a counter (3).
func explainObjectID(code string) (p generator.Parts, ok bool) {
	b, err := hex.DecodeString(code)
	if err != nil || len(b) != 12 {
		return p, false
	}
	return generator.Parts{
		Time: new(time.Unix(bigEndian(b[:4]), 0).UTC()), Worker: new(bigEndian(b[4:9])), Sequence: new(bigEndian(b[9:])),
	}, true
}

// bigEndian returns the number of at most eight bytes.
func bigEndian(bytes []byte) (n int64) {
	for _, b := range bytes {
		n = n<<8 | int64(b)
	}
	return n
}

// tidDigits are the digits of Bluesky's TIDs. They are in ASCII order, so that TIDs
// sort as texts.
const tidDigits = "234567abcdefghijklmnopqrstuvwxyz"

// explainTID explains a timestamp identifier of the AT Protocol: 13 digits of base
// 32 for a zero bit, 53 bits of Unix microseconds and 10 bits of a clock id. Words
// of 13 letters would be TIDs, too, for example of the year 2140. So only the years
// 2022 (when the protocol began) to 2099 are accepted.
func explainTID(code string) (p generator.Parts, ok bool) {
	if len(code) != 13 {
		return p, false
	}
	var n int64
	for i := range len(code) {
		d := strings.IndexByte(tidDigits, code[i])
		if d < 0 || i == 0 && d > 15 {
			return p, false
		}
		n = n<<5 | int64(d)
	}
	at, clock := time.UnixMicro(n>>10).UTC(), n&1023
	if at.Year() < 2022 || at.Year() > 2099 {
		return p, false
	}
	p.Time, p.Worker = &at, &clock
	return p, true
}

// explainCUID2 recognizes a CUID2 of the default length: a letter, and 23 letters
// and digits. A CUID2 contains no information.
func explainCUID2(code string) (p generator.Parts, ok bool) {
	p, ok = cuidOptions{Size: cuidSize}.explain(code)
	return p, ok && strings.ContainsAny(code, "0123456789") && strings.ContainsAny(code[1:], cuidFirst)
}
