package textid

import (
	"crypto/rand"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"
	"github.com/segmentio/ksuid"

	"nextid/generator"
	"nextid/generator/entropy"
)

// ulidMaker makes ULIDs that rise, as the specification's section
// "Monotonicity" has it: of one millisecond each is the one before it and a
// little more, and a clock that is set back does not take them back.
type ulidMaker struct {
	clock generator.Clock

	mu      sync.Mutex
	entropy *ulid.MonotonicEntropy
	last    uint64 // ms
}

func (m *ulidMaker) make() (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.entropy == nil {
		m.entropy = ulid.Monotonic(entropy.Reader, 0)
	}
	m.last = max(m.last, uint64(m.clock.Wall())/uint64(time.Millisecond))
	id, err := ulid.New(m.last, m.entropy)
	if errors.Is(err, ulid.ErrMonotonicOverflow) { // 2^80 used up, after at least 2^47
		m.last++
		id, err = ulid.New(m.last, m.entropy)
	}
	return id.String(), err
}

func (m *ulidMaker) explain(code string) (generator.Parts, bool) { return explainULID(code) }

func explainULID(code string) (p generator.Parts, ok bool) {
	id, err := ulid.ParseStrict(code)
	if err != nil {
		return p, false
	}
	at := id.Timestamp().UTC()
	p.Time = &at
	return p, true
}

// ksuidMaker makes KSUIDs. Those of one second are in no order.
type ksuidMaker struct{ clock generator.Clock }

func (m ksuidMaker) make() (string, error) {
	var random [16]byte
	entropy.Read(random[:])
	id, err := ksuid.FromParts(time.Unix(0, m.clock.Wall()), random[:])
	return id.String(), err
}

func (m ksuidMaker) explain(code string) (generator.Parts, bool) { return explainKSUID(code) }

func explainKSUID(code string) (p generator.Parts, ok bool) {
	for i := range len(code) { // the library takes other letters for digits
		if c := code[i]; (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return p, false
		}
	}
	id, err := ksuid.Parse(code)
	if err != nil {
		return p, false
	}
	at := id.Time().UTC()
	p.Time = &at
	return p, true
}

// xidMaker makes XIDs. The library takes 5 bytes from the machine's id and the
// process's, which are the same in containers of one image; here they are
// random, as in MongoDB's newer ObjectIds.
type xidMaker struct {
	clock   generator.Clock
	process [5]byte
}

func newXIDMaker(clock generator.Clock) *xidMaker {
	m := &xidMaker{clock: clock}
	_, _ = rand.Read(m.process[:]) // does not fail
	return m
}

func (m *xidMaker) make() (string, error) {
	id := xid.NewWithTime(time.Unix(0, m.clock.Wall()))
	copy(id[4:], m.process[:])
	return id.String(), nil
}

func (m *xidMaker) explain(code string) (generator.Parts, bool) { return explainXID(code) }

func explainXID(code string) (p generator.Parts, ok bool) {
	if len(code) != 20 || strings.Trim(code, "0123456789") == "" { // rather a number
		return p, false
	}
	id, err := xid.FromString(code)
	if err != nil {
		return p, false
	}
	at := id.Time().UTC()
	var process int64
	for _, b := range id[4:9] {
		process = process<<8 | int64(b)
	}
	count := int64(id.Counter())
	p.Time, p.Worker, p.Sequence = &at, &process, &count
	return p, true
}
