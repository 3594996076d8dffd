// Package uuid makes and reads the UUIDs of RFC 9562, versions 1 and 3 to 8, and
// ids that are texts: ULID, KSUID, XID, NanoID, CUID2 and TypeID. All of them are
// kinds of generators without the store.
//
// A Source makes the UUIDs of one server. The times of its versions 1, 6, 7 and 8
// only rise, whatever the wall clock does. So they are unique on the server by
// their time alone. Between servers, and over a restart, their random bits make
// them unique.
//
// The other formats come from their authors' Go libraries, or from UUIDs where that
// is simple. This package adds names, an injected clock, the order that their
// formats promise, and functions that explain an id.
package uuid

import (
	"bufio"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"nextid/generator"
)

// UUID is a UUID in network byte order.
type UUID [16]byte

// Namespaces of RFC 9562, section 6.6, and the UUIDs with all bits 0 and 1.
var (
	Nil  = UUID{}
	Max  = UUID{255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}
	DNS  = namespace(0x10)
	URL  = namespace(0x11)
	OID  = namespace(0x12)
	X500 = namespace(0x14)
)

func namespace(low byte) UUID {
	return UUID{0x6b, 0xa7, 0xb8, low, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8}
}

const (
	// gregorian is the number of ticks from 1582-10-15 to 1970-01-01. The time of
	// versions 1 and 6 begins in 1582 (RFC 9562, section 5.1).
	gregorian = 0x01B21DD213814000
	// tick is the unit of that time in ns.
	tick = 100
	// fraction is the least distance between the times of two UUIDs of version 7: the
	// step of the 12 bits below the millisecond, in ns, rounded up (RFC 9562, section
	// 6.2, method 3; PostgreSQL 18 does the same).
	fraction = int64(time.Millisecond)/(1<<12) + 1
	// maxMillis is the largest time of version 7.
	maxMillis = 1<<48 - 1
)

// ErrRange is returned if a time does not fit a UUID of version 7, which holds 1970
// to about 10889.
var ErrRange = errors.New("time is outside of 1970-01-01 to the year 10889")

// Source makes UUIDs. It may be used by several goroutines at once.
type Source struct {
	clock generator.Clock
	last1 atomic.Int64 // tick of the last version 1 or 6
	last7 atomic.Int64 // time of the last version 7, ns
	last8 atomic.Int64 // tick of the last version 8
	seq   uint16       // clock sequence, random at each start
	node  [6]byte

	ulids ulidMaker
}

// NewSource returns a Source with a random node. The address of a network card
// would reveal the machine.
func NewSource(clock generator.Clock) *Source {
	s := &Source{clock: clock, ulids: ulidMaker{clock: clock}}
	var b [8]byte
	_, _ = rand.Read(b[:]) // does not fail
	s.seq = binary.BigEndian.Uint16(b[:]) & 0x3fff
	copy(s.node[:], b[2:])
	s.node[0] |= 1 // multicast: no real network card (RFC 9562, section 6.10)
	return s
}

// rising returns now, or the least time that is step greater than the last result.
func rising(last *atomic.Int64, now, step int64) int64 {
	for {
		before := last.Load()
		if now = max(now, before+step); last.CompareAndSwap(before, now) {
			return now
		}
	}
}

// time1 returns the present in ticks, greater than all earlier results.
func (s *Source) time1() int64 { return rising(&s.last1, s.clock.Wall()/tick+gregorian, 1) }

// V1 returns a UUID of time, clock sequence and node (RFC 9562, section 5.1).
func (s *Source) V1() UUID { return s.v1(s.node) }

// V1MC returns a UUID like V1, with a random multicast node for each one, like
// uuid-ossp's uuid_generate_v1mc.
func (s *Source) V1MC() UUID {
	var node [6]byte
	fillRandom(node[:])
	node[0] |= 1
	return s.v1(node)
}

// v1 returns a UUID of version 1 with a node.
func (s *Source) v1(node [6]byte) UUID {
	var u UUID
	t := uint64(s.time1())
	binary.BigEndian.PutUint32(u[0:], uint32(t))
	binary.BigEndian.PutUint16(u[4:], uint16(t>>32))
	binary.BigEndian.PutUint16(u[6:], uint16(t>>48))
	binary.BigEndian.PutUint16(u[8:], s.seq)
	copy(u[10:], node[:])
	return u.mark(1)
}

// V6 returns a UUID like V1, with its time in order of significance (section 5.6).
func (s *Source) V6() UUID {
	u := joined(uint64(s.time1()), uint64(s.seq)<<48)
	copy(u[10:], s.node[:])
	return u.mark(6)
}

// V4 returns a random UUID (section 5.4).
func (s *Source) V4() UUID {
	var u UUID
	fillRandom(u[:])
	return u.mark(4)
}

// V7 returns a UUID of Unix milliseconds, 12 bits of their fraction, and 62 random
// bits (section 5.7). Each is greater than the one before on this server.
func (s *Source) V7() UUID {
	ns := s.time7()
	return v7(ns/int64(time.Millisecond), ns%int64(time.Millisecond))
}

// V7At returns a UUID of version 7 for another time, or ErrRange. Its random bits
// are as usual. UUIDs of the same microsecond have no order.
func V7At(t time.Time) (UUID, error) {
	if t.UnixMilli() < 0 || t.UnixMilli() > maxMillis {
		return Nil, ErrRange
	}
	return v7(t.UnixMilli(), int64(t.Nanosecond())%int64(time.Millisecond)), nil
}

// V7Shifted returns V7 with its time moved by micros microseconds, or ErrRange.
func (s *Source) V7Shifted(micros int64) (UUID, error) {
	ns := s.time7()
	return V7At(time.UnixMicro(ns/1000 + micros).Add(time.Duration(ns % 1000))) // a sum that overflows is negative
}

// time7 returns the present in Unix ns. It is at least one fraction greater than
// all earlier results.
func (s *Source) time7() int64 { return rising(&s.last7, s.clock.Wall(), fraction) }

// v7 returns a UUID of version 7. rest is the part of the time below the
// millisecond, in ns.
func v7(millis, rest int64) UUID {
	var u UUID
	fillRandom(u[8:])
	binary.BigEndian.PutUint64(u[0:], uint64(millis)<<16|uint64(rest<<12/int64(time.Millisecond)))
	return u.mark(7)
}

// V3 returns the UUID of a name, by MD5 (section 5.3).
func V3(space UUID, name string) UUID {
	return UUID(md5.Sum(append(space[:], name...))).mark(3)
}

// V3Bytes returns the UUID of bytes without a namespace, by MD5, like Java's
// UUID.nameUUIDFromBytes.
func V3Bytes(b string) UUID { return UUID(md5.Sum([]byte(b))).mark(3) }

// V5 returns the UUID of a name, by SHA-1 (section 5.5).
func V5(space UUID, name string) UUID {
	sum := sha1.Sum(append(space[:], name...))
	return UUID(sum[:16]).mark(5)
}

// Own returns a UUID of version 8 from 16 bytes of the caller. 122 of their bits
// are kept (section 5.8).
func Own(b [16]byte) UUID { return UUID(b).mark(8) }

// halves returns the bits of a UUID without version and variant: 60 and 62 bits.
func (u UUID) halves() (high, low uint64) {
	high, low = binary.BigEndian.Uint64(u[:8]), binary.BigEndian.Uint64(u[8:])
	return high>>4&^0xfff | high&0xfff, low & (1<<62 - 1)
}

// joined inverts halves. It leaves version and variant to mark.
func joined(high, low uint64) (u UUID) {
	binary.BigEndian.PutUint64(u[:8], high<<4&^0xffff|high&0xfff)
	binary.BigEndian.PutUint64(u[8:], low)
	return u
}

// mark sets version and variant.
func (u UUID) mark(version byte) UUID {
	u[6] = u[6]&0x0f | version<<4
	u[8] = u[8]&0x3f | 0x80
	return u
}

// Standard reports whether u has the variant of RFC 9562. Without it, the other
// fields are undefined.
func (u UUID) Standard() bool { return u[8]>>6 == 0b10 }

// Version returns the version of a standard UUID, 0 for others.
func (u UUID) Version() int {
	if !u.Standard() {
		return 0
	}
	return int(u[6] >> 4)
}

// Time returns the time of a UUID of version 1, 6 or 7. ok is false for others. For
// version 7 it is the millisecond: a UUID does not show whether the bits below are
// a fraction of it.
func (u UUID) Time() (t time.Time, ok bool) {
	high, _ := u.halves()
	switch u.Version() {
	case 1:
		return ticks(high&0x0fff<<48 | high>>12&0xffff<<32 | high>>28), true
	case 6:
		return ticks(high), true
	case 7:
		return time.UnixMilli(int64(high >> 12)).UTC(), true
	}
	return time.Time{}, false
}

// ticks returns the time of a number of ticks since 1582-10-15.
func ticks(n uint64) time.Time {
	t := int64(n) - gregorian
	return time.Unix(t/1e7, t%1e7*tick).UTC()
}

// Sequence returns the clock sequence and the node of versions 1 and 6. ok is false
// for others.
func (u UUID) Sequence() (sequence, node int64, ok bool) {
	if v := u.Version(); v != 1 && v != 6 {
		return 0, 0, false
	}
	_, low := u.halves()
	return int64(low >> 48), int64(low & (1<<48 - 1)), true
}

// Swapped exchanges the first and the third group, like MySQL's UUID_TO_BIN(u, 1).
// Then UUIDs of version 1 sort by time.
func (u UUID) Swapped() UUID {
	return UUID(slices.Concat(u[6:8], u[4:6], u[:4], u[8:]))
}

// Unswapped inverts Swapped.
func (u UUID) Unswapped() UUID {
	return UUID(slices.Concat(u[4:8], u[2:4], u[:2], u[8:]))
}

// GUID converts between network byte order and that of Microsoft's GUID structure,
// whose first three groups are little-endian. It is its own inverse.
func (u UUID) GUID() UUID {
	u[0], u[1], u[2], u[3] = u[3], u[2], u[1], u[0]
	u[4], u[5] = u[5], u[4]
	u[6], u[7] = u[7], u[6]
	return u
}

// String returns the text form of section 4, in lower case.
func (u UUID) String() string {
	var b [36]byte
	hex.Encode(b[0:8], u[0:4])
	hex.Encode(b[9:13], u[4:6])
	hex.Encode(b[14:18], u[6:8])
	hex.Encode(b[19:23], u[8:10])
	hex.Encode(b[24:36], u[10:16])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:])
}

// randomSize is the number of bytes of crypto/rand that are read at a time. An id needs
// about ten bytes, and one system call per id would cost more than the rest of the id.
const randomSize = 1024

// randomPool keeps a reader per processor, so that no draw waits for a lock.
var randomPool = sync.Pool{New: func() any { return bufio.NewReaderSize(rand.Reader, randomSize) }}

// fillRandom fills b, of at most randomSize bytes, with random bytes. It cannot fail. It
// may be called by several goroutines at once.
func fillRandom(b []byte) {
	r := randomPool.Get().(*bufio.Reader)
	next, _ := r.Peek(len(b)) // crypto/rand does not fail
	copy(b, next)             // io.ReadFull would put b on the heap
	_, _ = r.Discard(len(b))
	randomPool.Put(r)
}
