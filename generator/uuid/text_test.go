package uuid

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/xid"
	"github.com/segmentio/ksuid"

	"nextid/generator"
)

var start = time.Date(2026, 11, 21, 12, 0, 0, 123_456_789, time.UTC)

func open(t testing.TB, kind, options string, clock generator.Clock) *Generator {
	t.Helper()
	kinds := Kinds(clock)
	k := kinds[slices.IndexFunc(kinds, func(k generator.Kind) bool { return k.Name() == kind })]
	stored, err := k.Normalize(json.RawMessage(options))
	if err != nil {
		t.Fatalf("%s %s: %v", kind, options, err)
	}
	if again, err := k.Normalize(stored); err != nil || string(again) != string(stored) {
		t.Errorf("%s: what is stored, %s, is read as %s, %v", kind, stored, again, err)
	}
	gen, err := k.Open(t.Context(), generator.Definition{Name: "a", Kind: kind, Options: stored})
	if err != nil {
		t.Fatalf("%s %s: %v", kind, stored, err)
	}
	return gen.(*Generator)
}

// The examples of MongoDB's manual, of the AT Protocol's specification and of
// CUID2's README, and texts of no format.
func TestIDsThatOthersMake(t *testing.T) {
	for id, want := range map[string]string{
		"507f1f77bcf86cd799439011": "objectid 2012-10-17T21:13:27Z 811621734297 4427793",
		"3jzfcijpj2z2a":            "tid 2023-06-30T15:03:01.887007Z 6",
		"tz4a98xxat96iws9zmbrgj3a": "cuid2",
		"zzzzzzzzzzzzz":            "", // beyond the digits of a TID
		"abcdefghijkla":            "", // a TID of the past or the future
		"507f1f77bcf86cd79943901g": "", // begins with no letter
	} {
		p, ok := ExplainText(id)
		got := ""
		if ok {
			got = p.Kind
			if p.Time != nil {
				got += " " + p.Time.Format(time.RFC3339Nano)
			}
			var gotSb60 strings.Builder
			for _, n := range []*int64{p.Worker, p.Sequence} {
				if n != nil {
					gotSb60.WriteString(fmt.Sprintf(" %d", *n))
				}
			}
			got += gotSb60.String()
		}
		if got != want {
			t.Errorf("%s is %q, want %q", id, got, want)
		}
	}
}

func TestPublishedExamples(t *testing.T) {
	at := func(s string) time.Time {
		v, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct {
		code, kind string
		time       time.Time
		worker     int64
		sequence   int64
	}{
		// github.com/ulid/spec
		{"01ARZ3NDEKTSV4RRFFQ69G5FAV", "ulid", at("2016-07-30T23:54:10.259Z"), 0, 0},
		{"01arz3ndektsv4rrffq69g5fav", "ulid", at("2016-07-30T23:54:10.259Z"), 0, 0},
		{"7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "ulid", time.UnixMilli(1<<48 - 1).UTC(), 0, 0},
		// github.com/segmentio/ksuid, README
		{"0ujtsYcgvSTl8PAuAdqWYSMnLOv", "ksuid", at("2017-10-10T04:00:47Z"), 0, 0},
		{"0ujzPyRiIAffKhBux4PvQdDqMHY", "ksuid", at("2017-10-10T04:46:20Z"), 0, 0},
		// github.com/rs/xid, README and tests
		{"9m4e2mr0ui3e8a215n4g", "xid", time.Unix(1300816219, 0).UTC(), 0x60f486e428, 4271561},
		// github.com/jetify-com/typeid/spec
		{"prefix_01h455vb4pex5vsknk084sn02q", "typeid", at("2023-06-30T03:34:18.518Z"), 0, 0},
	} {
		p, ok := ExplainText(c.code)
		if !ok || p.Kind != c.kind || p.Time == nil || !p.Time.Equal(c.time) ||
			(p.Worker == nil) != (c.worker == 0) || p.Worker != nil && (*p.Worker != c.worker || *p.Sequence != c.sequence) {
			t.Errorf("%s: %+v, %v; time %v", c.code, p, ok, p.Time)
		}
	}
	for _, code := range []string{
		"", "8ZZZZZZZZZZZZZZZZZZZZZZZZZ", "01ARZ3NDEKTSV4RRFFQ69G5FAU", "01ARZ3NDEKTSV4RRFFQ69G5FA", "aWgEPTl1tmebfsQzFP4bxwgy80W",
		"0ujtsYcgvSTl8PAuAdqWYSMnLO_", "9m4e2mr0ui3e8a215n4w", "12345678901234567890", "prefix_81h455vb4pex5vsknk084sn02q", "hello",
	} {
		if p, ok := ExplainText(code); ok {
			t.Errorf("%q is read as %+v", code, p)
		}
	}
}

// Valid and invalid TypeIDs of the specification.
func TestTypeIDsOfTheSpecification(t *testing.T) {
	content, err := os.ReadFile("testdata/typeid.tsv")
	if err != nil {
		t.Fatal(err)
	}
	valid, invalid := 0, 0
	for line := range strings.Lines(string(content)) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") {
			continue
		}
		prefix, u, ok := parseType(f[1])
		if len(f) < 4 {
			invalid++
			if ok {
				t.Errorf("%s: %q is read as %q, %s", f[0], f[1], prefix, u)
			}
			continue
		}
		valid++
		if !ok || prefix != f[2] || u.String() != f[3] {
			t.Errorf("%s: %q is read as %q, %s, %v", f[0], f[1], prefix, u, ok)
		}
		if prefix != "" {
			prefix += "_"
		}
		if got := (Form{name: formTypeID, prefix: prefix}).Code(u); got != f[1] {
			t.Errorf("%s: %s is written %q", f[0], u, got)
		}
	}
	if valid != 9 || invalid != 21 {
		t.Errorf("%d valid and %d invalid examples", valid, invalid)
	}
}

// Ids of all kinds differ and show their time.
func TestCodesDifferAndShowTheirTime(t *testing.T) {
	for _, c := range []struct {
		kind, options string
		length        int
		unit          time.Duration // of the time, 0: none
		rising        bool
	}{
		{"ulid", `{}`, 26, time.Millisecond, true},
		{"ksuid", ``, 27, time.Second, false},
		{"xid", `{}`, 20, time.Second, false},
		{"nanoid", `{}`, 21, 0, false},
		{"nanoid", `{"size":40,"alphabet":"0123456789"}`, 40, 0, false},
		{"cuid2", `{}`, 24, 0, false},
		{"cuid2", `{"size":32}`, 32, 0, false},
		{"typeid", `{"prefix":"user"}`, 31, time.Millisecond, true},
		{"typeid", `{}`, 26, time.Millisecond, true},
	} {
		clock := &handClock{start.UnixNano()}
		g := open(t, c.kind, c.options, clock)
		seen, last := map[string]bool{}, ""
		for i := range 5000 {
			if i == 2500 {
				clock.ns -= int64(time.Hour) // set back
			}
			code, err := g.NextCode(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(code) != c.length || seen[code] || c.rising && code <= last {
				t.Fatalf("%s %s: %q after %q", c.kind, c.options, code, last)
			}
			seen[code], last = true, code
			p, err := g.ExplainCode(code)
			if err != nil || p.Kind != c.kind || (p.Time == nil) != (c.unit == 0) {
				t.Fatalf("%s: %s is %+v, %v", c.kind, code, p, err)
			}
			if i < 2500 && p.Time != nil && (p.Time.Before(start.Truncate(c.unit)) || p.Time.After(start.Add(5*time.Millisecond))) {
				t.Fatalf("%s: %s was made at %v, but it is %v", c.kind, code, p.Time, start)
			}
		}
		if _, err := g.ExplainCode("something else"); !errors.Is(err, generator.ErrOption) {
			t.Errorf("%s: %v", c.kind, err)
		}
		if _, err := g.Next(t.Context(), 1); !errors.Is(err, generator.ErrWrongKind) {
			t.Errorf("%s: Next: %v", c.kind, err)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, c := range []struct{ kind, options, want string }{
		{"ulid", `{"prefix":"a"}`, "unknown option"},
		{"nanoid", `{"size":10}`, "60 random bits"},
		{"nanoid", `{"size":256}`, "size must be between"},
		{"nanoid", `{"size":-1}`, "size must be between"},
		{"nanoid", `{"alphabet":"a"}`, "at least two letters"},
		{"nanoid", `{"alphabet":"aba"}`, "different printable"},
		{"nanoid", `{"alphabet":"aä"}`, "different printable"},
		{"cuid2", `{"size":12}`, "61 random bits"},
		{"cuid2", `{"size":33}`, "size must be between"},
		{"cuid2", `{"size":1}`, "size must be between"},
		{"typeid", `{"prefix":"User"}`, "prefix must be"},
		{"typeid", `{"prefix":"_a"}`, "prefix must be"},
		{"typeid", `{"prefix":"` + strings.Repeat("a", 64) + `"}`, "prefix must be"},
	} {
		kinds := Kinds(generator.SystemClock{})
		k := kinds[slices.IndexFunc(kinds, func(k generator.Kind) bool { return k.Name() == c.kind })]
		if _, err := k.Normalize(json.RawMessage(c.options)); !errors.Is(err, generator.ErrOption) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %q", c.kind, c.options, err, c.want)
		}
		if _, err := k.Open(t.Context(), generator.Definition{Name: "a", Options: json.RawMessage(c.options)}); c.kind != "ulid" && !errors.Is(err, generator.ErrRegressed) {
			t.Errorf("%s stored as %s: %v", c.kind, c.options, err)
		}
	}
}

// An alter opens a generator again. Its ids rise on, also when the clock was set back.
func TestTextsRiseOverAnAlter(t *testing.T) {
	for _, name := range []string{"ulid", "typeid", "xid"} {
		clock := &handClock{start.UnixNano()}
		kinds := Kinds(clock)
		k := kinds[slices.IndexFunc(kinds, func(k generator.Kind) bool { return k.Name() == name })]
		last := ""
		for range 8 { // one that begins anew is lower by chance in half of all cases
			g, err := k.Open(t.Context(), generator.Definition{Name: "a", Options: json.RawMessage("{}")})
			if err != nil {
				t.Fatal(err)
			}
			code, err := g.(*Generator).NextCode(t.Context())
			if err != nil || code <= last {
				t.Errorf("%s: %s after %s, %v", name, code, last, err)
			}
			last = code
			clock.ns -= int64(time.Millisecond)
		}
	}
}

// After the greatest ULID of a millisecond the ULIDs still rise.
func TestULIDsOfAFullMillisecond(t *testing.T) {
	m := &ulidMaker{clock: &handClock{start.UnixNano()}}
	last := ""
	for i := range 20 {
		code, err := m.make()
		if err != nil || code <= last {
			t.Fatalf("%s after %s, %v", code, last, err)
		}
		last = code
		if i == 10 {
			m.high, m.low = 1<<16-1, 1<<64-1
		}
	}
	if got := m.ms - uint64(start.UnixMilli()); got != 1 {
		t.Errorf("went on to the next millisecond %d times", got)
	}
}

// A second that lasts for more ids than the counter of an XID has, or that the clock
// shows twice, repeats none.
func TestXIDsOfARepeatedSecond(t *testing.T) {
	clock := &handClock{start.UnixNano()}
	m := newXIDMaker(clock)
	seen := map[string]bool{}
	for range 4 {
		code, err := m.make()
		if err != nil || seen[code] {
			t.Errorf("%s twice, %v", code, err)
		}
		seen[code] = true
		m.last.Add(1<<24 - 1)              // as many ids
		m.until.Store(0)                   // the second has passed
		clock.ns -= int64(time.Second / 2) // and the clock was set back
	}
}

// The libraries read what this package writes, and the other way round.
func TestLibrariesAgree(t *testing.T) {
	x := xid.New()
	if p, ok := ExplainText(x.String()); !ok || *p.Sequence != int64(x.Counter()) || !p.Time.Equal(x.Time()) {
		t.Errorf("%s: %+v", x, p)
	}
	k := ksuid.New()
	if p, ok := ExplainText(k.String()); !ok || !p.Time.Equal(k.Time()) {
		t.Errorf("%s: %+v", k, p)
	}
	// Two servers in containers of one image have equal machine and process ids.
	clock := generator.SystemClock{}
	if a, b := newXIDMaker(clock), newXIDMaker(clock); a.process == b.process {
		t.Error("two servers make the same XIDs")
	}
}

func TestGeneratorsAreSafeForConcurrentUse(t *testing.T) {
	for _, kind := range []string{"ulid", "ksuid", "xid", "nanoid", "cuid2", "typeid"} {
		g := open(t, kind, `{}`, generator.SystemClock{})
		var mu sync.Mutex
		var wg sync.WaitGroup
		seen := map[string]bool{}
		for range 4 {
			wg.Go(func() {
				for range 500 {
					code, err := g.NextCode(context.Background())
					mu.Lock()
					if err != nil || seen[code] {
						t.Errorf("%s: %q, %v", kind, code, err)
					}
					seen[code] = true
					mu.Unlock()
				}
			})
		}
		wg.Wait()
	}
}

func FuzzExplain(f *testing.F) {
	for _, s := range []string{"01ARZ3NDEKTSV4RRFFQ69G5FAV", "0ujtsYcgvSTl8PAuAdqWYSMnLOv", "9m4e2mr0ui3e8a215n4g", "prefix_01h455vb4pex5vsknk084sn02q", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, code string) {
		if p, ok := ExplainText(code); ok && p.Kind == "" {
			t.Fatalf("%q: %+v", code, p)
		}
		if prefix, u, ok := parseType(code); ok && prefix != "" && (Form{name: formTypeID, prefix: prefix + "_"}).Code(u) != code {
			t.Fatalf("%q is %q and %s", code, prefix, u)
		}
	})
}
