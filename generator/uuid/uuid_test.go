package uuid

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"nextid/generator"
)

func parse(t testing.TB, s string) UUID {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, "-", ""))
	if err != nil || len(b) != 16 {
		t.Fatalf("%q is no UUID", s)
	}
	return UUID(b)
}

// The examples of RFC 9562, appendices A and B. All of its times are
// 2022-02-22 14:22:22 in UTC-5.
func TestExamplesOfTheRFC(t *testing.T) {
	made := time.Date(2022, 2, 22, 19, 22, 22, 0, time.UTC)
	for _, c := range []struct {
		text     string
		version  int
		time     time.Time
		sequence int64
		node     int64
	}{
		{"c232ab00-9414-11ec-b3c8-9f6bdeced846", 1, made, 0x33c8, 0x9f6bdeced846},
		{"5df41881-3aed-3515-88a7-2f4a814cf09e", 3, time.Time{}, 0, 0},
		{"919108f7-52d1-4320-9bac-f847db4148a8", 4, time.Time{}, 0, 0},
		{"2ed6657d-e927-568b-95e1-2665a8aea6a2", 5, time.Time{}, 0, 0},
		{"1ec9414c-232a-6b00-b3c8-9f6bdeced846", 6, made, 0x33c8, 0x9f6bdeced846},
		{"017f22e2-79b0-7cc3-98c4-dc0c0c07398f", 7, made, 0, 0},
		{"2489e9ad-2ee2-8e00-8ec9-32d5f69181c0", 8, time.Time{}, 0, 0},
	} {
		u := parse(t, c.text)
		at, hasTime := u.Time()
		sequence, node, hasNode := u.Sequence()
		if u.Version() != c.version || !at.Equal(c.time) || hasTime != !c.time.IsZero() ||
			sequence != c.sequence || node != c.node || hasNode != (c.node != 0) || u.String() != c.text {
			t.Errorf("%s: version %d, %v, sequence %x, node %x, text %s", c.text, u.Version(), at, sequence, node, u)
		}
	}
	if got := V3(DNS, "www.example.com").String(); got != "5df41881-3aed-3515-88a7-2f4a814cf09e" {
		t.Errorf("version 3: %s", got)
	}
	if got := V5(DNS, "www.example.com").String(); got != "2ed6657d-e927-568b-95e1-2665a8aea6a2" {
		t.Errorf("version 5: %s", got)
	}
	// Appendix B.2: the first 16 bytes of a SHA-256.
	if got := Own([16]byte(parse(t, "5c146b14-3c52-4afd-538a-375d0df1fbf6"))).String(); got != "5c146b14-3c52-8afd-938a-375d0df1fbf6" {
		t.Errorf("version 8: %s", got)
	}
}

func TestForeignVariantsHaveNoParts(t *testing.T) {
	for _, u := range []UUID{Nil, Max, parse(t, "00000000-0000-7000-c000-000000000000")} {
		if _, ok := u.Time(); ok || u.Version() != 0 || u.Standard() {
			t.Errorf("%s: version %d", u, u.Version())
		}
	}
}

// UUIDs of a Source show their time, and none repeats, whatever the clock does.
func TestUUIDsGrowWhateverTheClockDoes(t *testing.T) {
	start := time.Date(2026, 11, 21, 12, 0, 0, 123_456_700, time.UTC)
	clock := &handClock{start.UnixNano()}
	s := NewSource(clock)
	if at, _ := s.V1().Time(); !at.Equal(start) {
		t.Errorf("version 1 has the time %v", at)
	}
	if at, _ := s.V6().Time(); !at.Equal(start.Add(100)) {
		t.Errorf("version 6 has the time %v", at)
	}
	seven := s.V7()
	if at, _ := seven.Time(); !at.Equal(start.Truncate(time.Millisecond)) {
		t.Errorf("version 7 has the time %v", at)
	}
	// The 12 bits below the millisecond: 0.4567 of it.
	if got := binary.BigEndian.Uint16(seven[6:]) & 0x0fff; got != 4096*4567/10000 {
		t.Errorf("the fraction of version 7 is %d/4096", got)
	}
	last6, last7, seen := s.V6(), seven, map[UUID]bool{}
	for i := range 10_000 {
		switch {
		case i == 5000:
			clock.ns -= int64(time.Hour)
		case i%7 == 0:
			clock.ns += int64(i%1000) * 1000
		}
		six, one, four, seven := s.V6(), s.V1(), s.V4(), s.V7()
		if six.String() <= last6.String() || seven.String() <= last7.String() {
			t.Fatalf("%d: %s after %s, %s after %s", i, six, last6, seven, last7)
		}
		last6, last7 = six, seven
		for _, u := range []UUID{one, four, six, seven, s.V1MC()} {
			if seen[u] {
				t.Fatalf("%s twice", u)
			}
			seen[u] = true
		}
	}
	if s.V1()[10]&1 != 1 || s.V1MC()[10]&1 != 1 {
		t.Error("a node looks like a network card")
	}
	if a, b := s.V1MC(), s.V1MC(); [6]byte(a[10:]) == [6]byte(b[10:]) {
		t.Error("version 1mc has one node")
	}
}

func TestShiftedTime(t *testing.T) {
	s := NewSource(&handClock{time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC).UnixNano()})
	for shift, want := range map[time.Duration]string{
		-24 * time.Hour:               "2026-11-20T12:00:00",
		250 * 365 * 24 * time.Hour:    "2276-09-21T12:00:00",
		-1500 * time.Microsecond:      "2026-11-21T11:59:59",
		math.MinInt64:                 "",
		-57 * 365 * 24 * time.Hour:    "",
		-56*365*24*time.Hour - 999999: "1970-12-05T11:59:59",
	} {
		u, err := s.V7Shifted(shift.Microseconds())
		at, _ := u.Time()
		if want == "" && !errors.Is(err, ErrRange) || want != "" && (err != nil || !strings.HasPrefix(at.Format(time.RFC3339), want)) {
			t.Errorf("%v: %v, %v", shift, at, err)
		}
	}
}

func TestConcurrentUUIDsAreDistinct(t *testing.T) {
	s := NewSource(&handClock{1_800_000_000e9})
	const each = 5000
	var all [4][]UUID
	var workers sync.WaitGroup
	for i := range all {
		workers.Go(func() {
			for range each {
				u := s.V7()
				clear(u[8:]) // by their time alone
				all[i] = append(all[i], u, s.V1())
			}
		})
	}
	workers.Wait()
	seen := map[UUID]bool{}
	for _, us := range all {
		for _, u := range us {
			if seen[u] {
				t.Fatalf("%s twice", u)
			}
			seen[u] = true
		}
	}
}

func TestByteOrders(t *testing.T) {
	u := parse(t, "6ccd780c-baba-1026-9564-5b8c656024db") // the example of MySQL's manual
	if got := hex.EncodeToString(sliceOf(u.Swapped())); got != "1026baba6ccd780c95645b8c656024db" {
		t.Errorf("swapped: %s", got)
	}
	if got := u.GUID().String(); got != "0c78cd6c-baba-2610-9564-5b8c656024db" {
		t.Errorf("GUID: %s", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		u := UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "uuid"))
		if u.Swapped().Unswapped() != u || u.GUID().GUID() != u {
			t.Fatalf("%s does not come back", u)
		}
	})
}

func sliceOf(u UUID) []byte { return u[:] }

func BenchmarkV7(b *testing.B) {
	s := NewSource(generator.SystemClock{})
	for b.Loop() {
		s.V7()
	}
}

// handClock is a clock that the test moves.
type handClock struct{ ns int64 }

func (c *handClock) Wall() int64              { return c.ns }
func (c *handClock) Monotonic() time.Duration { return time.Duration(c.ns) }

func TestBoundsOfTimesThatAVersionCannotHave(t *testing.T) {
	for version, years := range map[int][2]int{6: {1583, 5236}, 7: {1970, 10889}, 8: {1970, 2335}} {
		for year := -4000; year < 290_000; year += 7 {
			_, _, err := Bounds(version, time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC))
			if within := year >= years[0] && year <= years[1]; within != (err == nil) {
				t.Fatalf("version %d, year %d: %v", version, year, err)
			}
		}
	}
}
