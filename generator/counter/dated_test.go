package counter

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/history"
	"nextid/generator/store/memory"
)

// datedWorld is a store, and servers with their own clocks.
type datedWorld struct {
	t      *testing.T
	store  *generatortest.Faulty
	log    history.Log
	opened []*server
}

// server is one server's generator.
type server struct {
	*DatedGenerator
	w     *datedWorld
	clock *generatortest.Clock
	n     int
}

func inDatedWorld(t *testing.T, f func(w *datedWorld)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &datedWorld{t: t, store: generatortest.NewFaulty(memory.New(memory.Config{}))}
		defer func() {
			w.store.Clear()
			for _, s := range w.opened {
				s.Close(context.Background())
			}
			if err := w.log.Check(); err != nil {
				t.Error(err)
			}
		}()
		f(w)
	})
}

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

// open starts a server whose clock shows now.
func (w *datedWorld) open(now time.Time, options string) *server {
	w.t.Helper()
	s := &server{w: w, clock: generatortest.NewClock(now), n: len(w.opened)}
	k := Dated(w.store, s.clock, "test")
	o, err := k.Normalize(json.RawMessage(options))
	if err != nil {
		w.t.Fatal(err)
	}
	g, err := k.Open(w.t.Context(), generator.Definition{Name: "bills", Kind: DatedKindName, Options: o})
	if err != nil {
		w.t.Fatal(err)
	}
	s.DatedGenerator = g.(*DatedGenerator)
	w.opened = append(w.opened, s)
	return s
}

// draw draws one number and checks that id and code agree.
func (s *server) draw() string {
	s.w.t.Helper()
	r, err := s.Next(s.w.t.Context(), 1)
	if err != nil {
		s.w.t.Fatal(err)
	}
	s.w.log.Add(history.Event{Name: "bills", Client: s.n, Range: r})
	code, err := s.AppendCode(nil, r.First)
	if err != nil {
		s.w.t.Fatal(err)
	}
	if back, err := s.ParseCode(string(code)); err != nil || back != r.First {
		s.w.t.Errorf("%s is %d, %v, want %d", code, back, err, r.First)
	}
	return string(code)
}

func (s *server) wants(codes ...string) {
	s.w.t.Helper()
	for _, want := range codes {
		if got := s.draw(); got != want {
			s.w.t.Errorf("drew %s, want %s", got, want)
		}
	}
}

func (s *server) refuses(kind error, text string) {
	s.w.t.Helper()
	r, err := s.Next(s.w.t.Context(), 1)
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), text) {
		s.w.t.Errorf("%+v, %v, want %q", r, err, text)
	}
}

func TestCodes(t *testing.T) {
	t.Parallel()
	now := at("2026-11-21T07:30:00Z")
	for options, want := range map[string][2]string{
		`{}`: {"20261121-000001", "20261121-000002"},
		`{"pattern":"yyMMdd","separator":"","width":4}`:       {"2611210001", "2611210002"},
		`{"prefix":"INV/","pattern":"yyyy-MM","suffix":"/A"}`: {"INV/2026-11-000001/A", "INV/2026-11-000002/A"},
		`{"pattern":"dd.MM.yyyy","separator":" #","width":2}`: {"21.11.2026 #01", "21.11.2026 #02"},
		`{"pattern":"yy","width":10,"start":500}`:             {"26-0000000500", "26-0000000501"},
		`{"pattern":"yyyyMMddHH","width":3,"start":0}`:        {"2026112107-000", "2026112107-001"},
		`{"time_zone":"Asia/Shanghai","pattern":"yyMMddHH"}`:  {"26112115-000001", "26112115-000002"},
		`{"time_zone":"Pacific/Kiritimati"}`:                  {"20261121-000001", "20261121-000002"},
		`{"pattern":"yyyyMMdd","period":"year"}`:              {"20261121-000001", "20261121-000002"},
	} {
		inDatedWorld(t, func(w *datedWorld) { w.open(now, options).wants(want[0], want[1]) })
	}
}

func TestIDsAreTheDigits(t *testing.T) {
	inDatedWorld(t, func(w *datedWorld) {
		for options, want := range map[string]int64{
			`{}`: 20261121000001, `{"pattern":"yyMMdd"}`: 261121000001, `{"pattern":"ddMMyyyy","width":3}`: 20261121001,
		} {
			w.store = generatortest.NewFaulty(memory.New(memory.Config{}))
			s := w.open(at("2026-11-21T12:00:00Z"), options)
			r, err := s.Next(w.t.Context(), 5)
			if err != nil || r != (generator.Range{First: want, Step: 1, Count: 5}) {
				t.Errorf("%s: %+v, %v, want %d", options, r, err, want)
			}
			p, err := s.Explain(r.Last())
			if err != nil || !p.Time.Equal(at("2026-11-21T00:00:00Z")) || *p.Sequence != 5 {
				t.Errorf("%s: %+v, %v", options, p, err)
			}
			floor, _ := s.Floor(at("2026-11-21T09:00:00Z"))
			ceil, _ := s.Ceil(at("2026-11-21T09:00:00Z"))
			if floor != want-1 || ceil != want-2+s.modulus {
				t.Errorf("%s: the ids of the day lie between %d and %d", options, floor, ceil)
			}
		}
	})
}

func TestPeriods(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		options string
		times   []string
		want    []string
	}{
		{
			`{"width":3}`,
			[]string{"2026-11-21T23:59:59Z", "2026-11-22T00:00:00Z", "2026-11-22T23:59:59Z", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"},
			[]string{"20261121-001", "20261122-001", "20261122-002", "20261201-001", "20270101-001"},
		},
		{
			`{"pattern":"yyyyMM","width":3}`,
			[]string{"2026-11-01T00:00:00Z", "2026-11-30T23:59:59Z", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"},
			[]string{"202611-001", "202611-002", "202612-001", "202701-001"},
		},
		{ // the number continues over days and months; the date is that of the draw
			`{"width":3,"period":"year"}`,
			[]string{"2026-11-21T12:00:00Z", "2026-11-22T12:00:00Z", "2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z", "2027-02-01T00:00:00Z"},
			[]string{"20261121-001", "20261122-002", "20261231-003", "20270101-001", "20270201-002"},
		},
		{
			`{"pattern":"yyMMdd","width":3,"period":"month"}`,
			[]string{"2028-02-28T12:00:00Z", "2028-02-29T12:00:00Z", "2028-03-01T12:00:00Z"},
			[]string{"280228-001", "280229-002", "280301-001"},
		},
		{ // noon in Auckland is the day before in UTC
			`{"time_zone":"Pacific/Auckland","width":2}`,
			[]string{"2026-11-21T10:59:59Z", "2026-11-21T11:00:00Z"},
			[]string{"20261121-01", "20261122-01"},
		},
		{ // midnight is missing: clocks go from 23:59:59 to 01:00
			`{"time_zone":"America/Sao_Paulo","width":2}`,
			[]string{"2018-11-04T02:59:59Z", "2018-11-04T03:00:00Z", "2018-11-04T03:00:01Z"},
			[]string{"20181103-01", "20181104-01", "20181104-02"},
		},
		{ // midnight comes twice: at 00:01 clocks go back to 23:01 of the day before. The date does not.
			`{"time_zone":"America/St_Johns","width":2}`,
			[]string{"2010-11-07T02:29:59Z", "2010-11-07T02:30:30Z", "2010-11-07T02:31:30Z", "2010-11-07T03:31:00Z"},
			[]string{"20101106-01", "20101107-01", "20101107-02", "20101107-03"},
		},
		{ // a day that Samoa does not have
			`{"time_zone":"Pacific/Apia","width":2}`,
			[]string{"2011-12-30T09:59:59Z", "2011-12-30T10:00:00Z"},
			[]string{"20111229-01", "20111231-01"},
		},
		{ // the hour that comes twice goes on
			`{"time_zone":"Europe/Berlin","pattern":"yyyyMMddHH","width":2}`,
			[]string{"2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-25T02:30:00Z"},
			[]string{"2026102502-01", "2026102502-02", "2026102503-01"},
		},
	} {
		inDatedWorld(t, func(w *datedWorld) {
			s := w.open(at(tc.times[0]), tc.options)
			s.clock.Freeze(true)
			for i, now := range tc.times {
				s.clock.Set(at(now))
				s.wants(tc.want[i])
			}
		})
		// A server that was restarted in between returns the same.
		inDatedWorld(t, func(w *datedWorld) {
			for i, now := range tc.times {
				s := w.open(at(now), tc.options)
				s.wants(tc.want[i])
				s.Close(w.t.Context())
			}
		})
	}
}

func TestClocksThatDifferOverMidnight(t *testing.T) {
	inDatedWorld(t, func(w *datedWorld) {
		fast := w.open(at("2026-11-21T23:59:59Z"), `{}`)
		slow := w.open(at("2026-11-21T23:59:40Z"), `{}`)
		fast.wants("20261121-000001")
		slow.wants("20261121-000002")
		fast.clock.Advance(2 * time.Second)
		slow.clock.Advance(2 * time.Second)
		fast.wants("20261122-000001")
		// The day before has ended for all servers, whatever their clocks say.
		slow.wants("20261122-000002")
		fast.wants("20261122-000003")
		late := w.open(at("2026-11-21T22:59:00Z"), `{}`)
		late.refuses(generator.ErrNotNow, "has come to 20261122 already, and the clock of this server says 2026-11-21T22:59:00Z")
		late.clock.Advance(2 * time.Minute)
		late.wants("20261122-000004")
		slow.clock.Advance(time.Hour)
		slow.wants("20261122-000005")
	})
}

func TestClockSetBack(t *testing.T) {
	inDatedWorld(t, func(w *datedWorld) {
		s := w.open(at("2026-11-22T00:00:01Z"), `{"max_ahead":"10s"}`)
		s.wants("20261122-000001")
		s.clock.Step(-5 * time.Second)
		s.wants("20261122-000002")
		s.clock.Step(-24 * time.Hour)
		s.refuses(generator.ErrNotNow, "has come to 20261122 already")
		s.clock.Step(24 * time.Hour)
		s.wants("20261122-000003")
	})
}

// Several servers draw over midnight, and some clients leave. The numbers of each
// day have no gap except at its end, and none comes twice.
func TestMidnightUnderLoad(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	inDatedWorld(t, func(w *datedWorld) {
		w.store.Inject(generatortest.Reserve, 1<<30, func(ctx context.Context, call func(context.Context) error) error {
			<-time.After(rand.N(20 * time.Millisecond))
			return call(ctx)
		})
		var mu sync.Mutex
		days := map[int64][]int64{}
		var wg sync.WaitGroup
		for n := range 3 {
			s := w.open(at("2026-11-21T23:59:59Z").Add(time.Duration(n)*150*time.Millisecond), `{}`)
			for c := range 6 {
				random := rand.New(rand.NewPCG(seed, uint64(10*n+c)))
				wg.Go(func() {
					for range 100 {
						ctx, cancel := context.WithTimeout(w.t.Context(), time.Duration(5+random.IntN(100))*time.Millisecond)
						r, err := s.Next(ctx, random.Int64N(3)+1)
						cancel()
						if err != nil {
							continue
						}
						w.log.Add(history.Event{Name: "bills", Client: 10*n + c, Range: r})
						mu.Lock()
						for i := range r.Count {
							day := (r.First + i) / s.modulus
							days[day] = append(days[day], (r.First+i)%s.modulus)
						}
						mu.Unlock()
					}
				})
			}
		}
		wg.Wait()
		if len(days) != 2 {
			t.Fatalf("days: %v", days)
		}
		for day, numbers := range days {
			slices.Sort(numbers)
			missing := 0
			for i, n := range numbers {
				if n != int64(i+1+missing) {
					missing += int(n) - (i + 1 + missing)
				}
			}
			// Numbers whose clients left at the end of the day or of the test are missing.
			if len(numbers) < 100 || missing > 3*3*6 {
				t.Errorf("%d: %d numbers, %d are missing", day, len(numbers), missing)
			}
		}
	})
}

func TestFullPeriod(t *testing.T) {
	inDatedWorld(t, func(w *datedWorld) {
		s := w.open(at("2026-11-21T12:00:00Z"), `{"width":1,"time_zone":"Europe/Berlin"}`)
		s.wants("20261121-1", "20261121-2")
		r, err := s.Next(w.t.Context(), 100)
		if err != nil || r.Count != 7 {
			t.Errorf("%+v, %v, want the 7 that are left", r, err)
		}
		s.refuses(generator.ErrExhausted, "up to 9 are used for the day 20261121")
		_, err = s.Next(w.t.Context(), 1)
		var e *generator.Error
		if !errors.As(err, &e) || !strings.Contains(e.Hint, "2026-11-22T00:00:00+01:00") || !strings.Contains(e.Hint, `{"width": 2}`) {
			t.Errorf("%+v", e)
		}
		s.clock.Advance(12 * time.Hour)
		s.wants("20261122-1")
	})
}

func TestRaiseDated(t *testing.T) {
	inDatedWorld(t, func(w *datedWorld) {
		s := w.open(at("2026-11-21T12:00:00Z"), `{"width":3}`)
		s.wants("20261121-001")
		for _, tc := range []struct {
			v    int64
			used bool
			want string
		}{
			{20261121010, true, "20261121-011"},
			{20261121020, false, "20261121-020"},
			{20261121005, true, "20261121-021"},
			{20261120900, true, "20261121-022"},
		} {
			if err := s.Raise(w.t.Context(), tc.v, tc.used); err != nil {
				t.Error(err)
			}
			s.wants(tc.want)
		}
		for _, v := range []int64{20261122001, 20261121999, 20261341001, 5} {
			if err := s.Raise(w.t.Context(), v, true); !errors.Is(err, generator.ErrOption) {
				t.Errorf("raise to %d: %v, want ErrOption", v, err)
			}
		}
		if err := Dated(w.store, s.clock, "").(generator.Recoverable).Recover(w.t.Context(), definition(t, `{"width":3}`), 20261121500); err != nil {
			t.Error(err)
		}
		s.wants("20261121-500")
		for _, id := range []int64{20261122001, 30261121001} {
			if err := Dated(w.store, s.clock, "").(generator.Recoverable).Recover(w.t.Context(), definition(t, `{"width":3}`), id); !errors.Is(err, generator.ErrOption) {
				t.Errorf("recover at %d: %v", id, err)
			}
		}
		// An id of a pattern with two-digit years is not one of a pattern with four.
		if err := Dated(w.store, s.clock, "").(generator.Recoverable).Recover(w.t.Context(), definition(t, `{"width":3,"pattern":"yyMMdd"}`), 20261121001); !errors.Is(err, generator.ErrOption) {
			t.Error(err)
		}
	})
}

func definition(t *testing.T, options string) generator.Definition {
	t.Helper()
	o, err := Dated(nil, nil, "").Normalize(json.RawMessage(options))
	if err != nil {
		t.Fatal(err)
	}
	return generator.Definition{Name: "bills", Kind: DatedKindName, Options: o}
}

// Ids of an earlier generator of the name are below, or the name is refused.
func TestNameThatWasUsedBefore(t *testing.T) {
	inDatedWorld(t, func(w *datedWorld) {
		for hi, kind := range map[int64]error{5000: nil, 1 << 60: generator.ErrExhausted} {
			w.store = generatortest.NewFaulty(memory.New(memory.Config{}))
			if _, _, err := w.store.Reserve(w.t.Context(), generator.Reservation{
				Key: generator.NameKey("bills"), AtLeast: hi, N: 1, Limit: generator.NoLimit,
			}); err != nil {
				t.Fatal(err)
			}
			if _, err := w.open(at("2026-11-21T12:00:00Z"), `{}`).Next(w.t.Context(), 1); !errors.Is(err, kind) {
				t.Errorf("after %d: %v, want %v", hi, err, kind)
			}
		}
	})
}

func TestEndOfACentury(t *testing.T) {
	inDatedWorld(t, func(w *datedWorld) {
		s := w.open(at("2099-12-31T23:59:59Z"), `{"pattern":"yyMM"}`)
		s.wants("9912-000001")
		s.clock.Advance(time.Second)
		s.refuses(generator.ErrExhausted, "cannot hold the year 2100")
	})
}

func TestStoreErrorsReachTheClient(t *testing.T) {
	inDatedWorld(t, func(w *datedWorld) {
		s := w.open(at("2026-11-21T12:00:00Z"), `{"deadline":"1s"}`)
		w.store.Inject(generatortest.Reserve, 1, generatortest.FailBefore(nil))
		s.refuses(generator.ErrNotNow, "no number is granted")
		w.store.Inject(generatortest.Reserve, 1, generatortest.FailAfter(nil))
		s.refuses(generator.ErrNotNow, "no number is granted")
		s.wants("20261121-000002") // the first is lost with its answer
		w.store.Inject(generatortest.Reserve, 1, generatortest.Hang())
		s.refuses(generator.ErrRetry, "within 1s")
	})
}

func TestDatedOptions(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]string{
		`{"pattern":"yyyydd"}`:                         "has no month",
		`{"pattern":"MMdd"}`:                           "has no year",
		`{"pattern":""}`:                               "has no year",
		`{"pattern":"yyyyMMMdd"}`:                      `has "MMM"`,
		`{"pattern":"yyyyMMddyy"}`:                     "has the year twice",
		`{"pattern":"yyyyMMddx"}`:                      `has "x"`,
		`{"pattern":"yyyyé"}`:                          `has "\xc3"`,
		`{"pattern":"MM__yyyy"}`:                       `has "__"`,
		`{"pattern":"yyyyMM","period":"day"}`:          "period must be one of the parts",
		`{"period":"week"}`:                            "period must be one of the parts",
		`{"width":0}`:                                  "width must be between 1 and 10",
		`{"width":11}`:                                 "width must be between 1 and 10",
		`{"width":2,"start":100}`:                      "start must be between 0 and 99",
		`{"time_zone":"Mars/Olympus"}`:                 `no time zone "Mars/Olympus"`,
		`{"time_zone":"Local"}`:                        "must be named",
		`{"prefix":"ü"}`:                               "printable ASCII",
		`{"suffix":"` + strings.Repeat("x", 33) + `"}`: "at most 32",
		`{"max_ahead":"-1s"}`:                          "max_ahead must be between",
		`{"deadline":"1h"}`:                            "deadline must be between",
		`{"colour":1}`:                                 `unknown option "colour"`,
	} {
		_, err := Dated(nil, nil, "").Normalize(json.RawMessage(options))
		if !errors.Is(err, generator.ErrOption) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", options, err, want)
		}
	}
	stored, err := Dated(nil, nil, "").Normalize(nil)
	if err != nil {
		t.Fatal(err)
	}
	for change, ok := range map[string]bool{
		`{"width":7}`: true, `{"width":5}`: false, `{"prefix":"A"}`: false, `{"pattern":"yyMMdd"}`: false,
		`{"period":"month"}`: false, `{"time_zone":"Asia/Tokyo"}`: true, `{"max_ahead":"0s"}`: true,
	} {
		if _, err := Dated(nil, nil, "").Alter(stored, json.RawMessage(change)); (err == nil) != ok {
			t.Errorf("alter %s: %v", change, err)
		}
	}
}

// A greater width gives more numbers after those of a day are used up.
func TestWiderNumbers(t *testing.T) {
	inDatedWorld(t, func(w *datedWorld) {
		now := at("2026-11-21T12:00:00Z")
		s := w.open(now, `{"width":1,"start":9}`)
		s.wants("20261121-9")
		s.refuses(generator.ErrExhausted, "are used")
		s.Close(w.t.Context())
		w.open(now, `{"width":2}`).wants("20261121-01")
	})
}

func TestForeignCodesAreRefused(t *testing.T) {
	inDatedWorld(t, func(w *datedWorld) {
		s := w.open(at("2026-11-21T12:00:00Z"), `{"prefix":"B","pattern":"yyyy-MM-dd"}`)
		for _, code := range []string{
			"", "B", "2026-11-21-000001", "B2026-11-21-00001", "B2026-11-21-0000011", "B2026-02-30-000001", "B2026-11-21_000001",
			"B2026-1a-21-000001", "B2026-11-21-00000x",
		} {
			if id, err := s.ParseCode(code); !errors.Is(err, generator.ErrOption) {
				t.Errorf("%q is %d, %v", code, id, err)
			}
		}
		for _, id := range []int64{-1, 0, 20260230000001, 1 << 62} {
			if code, err := s.AppendCode(nil, id); !errors.Is(err, generator.ErrOption) {
				t.Errorf("%d is %q, %v", id, code, err)
			}
		}
	})
}
