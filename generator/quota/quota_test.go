package quota

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func refused(t *testing.T, err error) *Exceeded {
	t.Helper()
	e, ok := errors.AsType[*Exceeded](err)
	if !ok || e.Hint == "" {
		t.Fatalf("not refused with a hint: %v", err)
	}
	return e
}

func TestABucketRefillsWithTime(t *testing.T) {
	s := New([]Rule{{User: "app", IDs: 10, Per: time.Second, Burst: 20}}, nil)
	if err := s.Take("app", "orders", 20, 0); err != nil {
		t.Fatal(err)
	}
	e := refused(t, s.Take("app", "orders", 5, 100*time.Millisecond))
	if e.Retry < 400*time.Millisecond || e.Retry > 402*time.Millisecond {
		t.Errorf("try again in %v, not 400ms", e.Retry)
	}
	if err := s.Take("app", "orders", 5, 500*time.Millisecond); err != nil {
		t.Errorf("after the time of the hint: %v", err)
	}
	if e := refused(t, s.Take("app", "orders", 21, time.Hour)); e.Retry != 0 {
		t.Errorf("more than the burst can never be drawn, and the client is told to try again in %v", e.Retry)
	}
	if err := s.Take("app", "orders", 20, time.Hour); err != nil {
		t.Error(err)
	}
	refused(t, s.Take("app", "orders", 1, time.Hour))
	if err := s.Take("other", "orders", 1000, time.Hour); err != nil {
		t.Errorf("a user without a quota: %v", err)
	}
	s = New([]Rule{{User: "app", IDs: 1, Per: 8760 * time.Hour, Burst: 1000}}, nil)
	if err := s.Take("app", "orders", 1000, 0); err != nil {
		t.Fatal(err)
	}
	if e := refused(t, s.Take("app", "orders", 1000, 0)); e.Retry < 100*8760*time.Hour {
		t.Errorf("a thousand ids, one a year: try again in %v", e.Retry)
	}
}

func TestWhoseBucket(t *testing.T) {
	for _, c := range []struct {
		rule  Rule
		draws [][2]string // each takes the whole of a bucket
		last  [2]string   // which then is empty
		free  [2]string   // which is not
	}{
		{Rule{User: "*", IDs: 1, Per: time.Hour}, [][2]string{{"a", "x"}}, [2]string{"a", "y"}, [2]string{"b", "x"}},
		{Rule{Generator: "*", IDs: 1, Per: time.Hour}, [][2]string{{"a", "x"}}, [2]string{"b", "x"}, [2]string{"a", "y"}},
		{Rule{User: "a*", Generator: "x", IDs: 1, Per: time.Hour}, [][2]string{{"a1", "x"}, {"a2", "x"}}, [2]string{"a1", "x"}, [2]string{"a1", "y"}},
	} {
		s := New([]Rule{c.rule}, nil)
		for _, d := range c.draws {
			if err := s.Take(d[0], d[1], 1, 0); err != nil {
				t.Errorf("%+v: %v", c.rule, err)
			}
		}
		refused(t, s.Take(c.last[0], c.last[1], 1, 0))
		if err := s.Take(c.free[0], c.free[1], 1, 0); err != nil {
			t.Errorf("%+v: %v", c.rule, err)
		}
	}
}

func TestARefusedDrawCountsNowhere(t *testing.T) {
	rules := []Rule{{User: "a", IDs: 10, Per: time.Hour}, {Generator: "x", IDs: 5, Per: time.Hour}}
	s := New(rules, nil)
	refused(t, s.Take("a", "x", 6, 0))
	if err := s.Take("a", "y", 10, 0); err != nil {
		t.Errorf("the draw that the second quota refused was counted by the first: %v", err)
	}
	s.Give("a", "y", 10)
	s.Give("a", "y", 10) // a bucket never holds more than the burst
	if err := s.Take("a", "y", 10, 0); err != nil {
		t.Errorf("what was not drawn is not given back: %v", err)
	}
	refused(t, s.Take("a", "y", 1, 0))
	s = New([]Rule{rules[0]}, s)
	refused(t, s.Take("a", "y", 1, 0)) // a reload forgets nothing
	if got := s.States()[0].Refused; got != 2 {
		t.Errorf("%d refusals counted, not 2", got)
	}
}

func TestFullBucketsHoldNoMemory(t *testing.T) {
	s := New([]Rule{{User: "*", IDs: 1, Per: time.Second}}, nil)
	for i := range 100_000 {
		if err := s.Take(fmt.Sprint("user", i), "x", 1, time.Duration(i)*10*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.limits[0].buckets); n > 2*leastSweep {
		t.Errorf("%d buckets for 100 that are not full", n)
	}
}

func TestManyDrawAtOnce(t *testing.T) {
	s := New([]Rule{{Generator: "x", IDs: 1000, Per: time.Hour}}, nil)
	var drawn atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 500 {
				if s.Take("a", "x", 1, 0) == nil {
					drawn.Add(1)
				}
			}
		})
	}
	all.Wait()
	if drawn.Load() != 1000 {
		t.Errorf("%d ids under a quota of 1000", drawn.Load())
	}
}

func TestCheck(t *testing.T) {
	for _, r := range []Rule{
		{IDs: 1, Per: time.Second},
		{User: "a", Per: time.Second},
		{User: "a", IDs: 1},
		{User: "a*b", IDs: 1, Per: time.Second},
		{User: "a", IDs: 1, Per: time.Second, Burst: -1},
	} {
		if r.Check() == nil {
			t.Errorf("%+v is accepted", r)
		}
	}
	if err := (Rule{User: "a*", Generator: "*", IDs: 1, Per: time.Second}).Check(); err != nil {
		t.Error(err)
	}
}
