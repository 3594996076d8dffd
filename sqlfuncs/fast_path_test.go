package sqlfuncs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"testing"

	"nextid/generator"
	"nextid/generator/store/memory"
	"nextid/sqlfuncs"
	"nextid/sqlfuncs/sqltest"
)

// fastSession returns a session and a statement whose generator is running.
func fastSession(t testing.TB, sql string) (*sqltest.Session, *sqlfuncs.Statement) {
	t.Helper()
	server := sqltest.NewServer(t)
	if err := server.Registry.Create(t.Context(), "a", "segment", []byte(`{"step": 10000000}`)); err != nil {
		t.Fatal(err)
	}
	s := server.Session(t)
	s.ID(t, "a", "SELECT next_id('a')")
	st, err := s.Prepare("", sql, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, st
}

// rising checks ids of the generator a without allocating.
type rising struct{ newest int64 }

// add panics if an id is not greater than the one before.
func (r *rising) add(id int64) {
	if id <= r.newest {
		panic("id " + strconv.FormatInt(id, 10) + " does not follow " + strconv.FormatInt(r.newest, 10))
	}
	r.newest = id
}

// check compares the newest id with those that the session knows.
func (r *rising) check(t *testing.T, s *sqltest.Session) {
	t.Helper()
	s.NoteID("a", r.newest)
	s.Want(t, "SELECT lastval(), currval('a')", strconv.FormatInt(r.newest, 10)+"|"+strconv.FormatInt(r.newest, 10))
}

func TestDrawAllocatesNothing(t *testing.T) {
	for _, c := range []struct {
		sql  string
		args []sqlfuncs.Arg
	}{{"SELECT next_id('a')", nil}, {"SELECT nextval('a')", nil}, {"SELECT next_id($1)", []sqlfuncs.Arg{{Data: []byte("a")}}}} {
		s, st := fastSession(t, c.sql)
		var drawn rising
		allocs := testing.AllocsPerRun(1000, func() {
			ids, ok := s.Fast.Execute(st, c.args, 1)
			if !ok {
				t.Fatalf("%s: not on the fast path", c.sql)
			}
			drawn.add(ids.First)
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations", c.sql, allocs)
		}
		drawn.check(t, s)
	}
}

func TestAnsweredPortalsAllocateNothing(t *testing.T) {
	for _, c := range []struct {
		sql  string
		args []sqlfuncs.Arg
	}{{"SELECT next_id('a')", nil}, {"SELECT next_id($1)", []sqlfuncs.Arg{{Data: []byte("a")}}}} {
		s, st := fastSession(t, c.sql)
		formats := []int16{1}
		var drawn rising
		allocs := testing.AllocsPerRun(1000, func() {
			ids, ok := s.Fast.Execute(st, c.args, 1)
			if !ok {
				t.Fatalf("%s: not on the fast path", c.sql)
			}
			drawn.add(ids.First)
			s.Fast.Answered(st, formats, false)
			p, err := s.Portal(nil)
			if err != nil || !p.Binary(0) {
				t.Fatalf("%s: no portal is left: %v", c.sql, err)
			}
			if _, err := p.Next(t.Context()); !errors.Is(err, io.EOF) {
				t.Fatal("a portal gives two ids")
			}
			s.Fast.Answered(st, formats, true)
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations", c.sql, allocs)
		}
		if _, err := s.Portal(nil); err == nil {
			t.Errorf("%s: the portal is left after a Sync", c.sql)
		}
		drawn.check(t, s)
	}
}

func TestCachedSimpleQueryAllocatesNothing(t *testing.T) {
	s, _ := fastSession(t, "SELECT next_id('a')")
	text := []byte("SELECT next_id('a')")
	for range 3 {
		s.ID(t, "a", string(text))
	}
	var drawn rising
	allocs := testing.AllocsPerRun(1000, func() {
		_, ids, ok := s.Fast.Query(text, 1)
		if !ok {
			t.Fatal("not on the fast path")
		}
		drawn.add(ids.First)
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
	drawn.check(t, s)
}

func TestDrawLeavesOtherStatementsToTheSlowPath(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "a")
	s := server.Session(t)
	s.ID(t, "a", "SELECT next_id('a')")
	for _, sql := range []string{
		"SELECT next_id('a') + 0", "SELECT next_id('a'), 1", "SELECT next_id('a') LIMIT 1", "SELECT next_id('a') WHERE false",
		"SELECT DISTINCT next_id('a')", "SELECT next_id('a') FROM generate_series(1, 2)", "SELECT 1", "", "SELECT next_id(NULL)",
		"SELECT next_id('not a name')", "SELECT next_id('unopened')", "EXPLAIN SELECT next_id('a')", "SELECT next_id($1 || 'a')",
		"COPY (SELECT next_id('a')) TO STDOUT", "SELECT currval('a')", "SELECT next_id($1::varchar::text)",
	} {
		st, err := s.Prepare("", sql, nil)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if ids, ok := s.Fast.Execute(st, nil, 1); ok {
			t.Errorf("%s: the fast path gave %d", sql, ids.First)
		}
	}
	st, err := s.Prepare("", "SELECT next_id($1)", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, arg := range []string{"", "unopened", "not a name"} {
		if ids, ok := s.Fast.Execute(st, []sqlfuncs.Arg{{Data: []byte(arg)}}, 1); ok {
			t.Errorf("argument %q: the fast path gave %d", arg, ids.First)
		}
	}
}

func TestNullAndUnknownArgumentsOfAFastStatement(t *testing.T) {
	server := sqltest.NewServer(t)
	s := server.Session(t)
	for _, c := range []struct {
		arg  any
		want string
	}{{nil, sqltest.Null}, {"snow", ""}} {
		r, err := s.Execute(t, "SELECT next_id($1)", c.arg)
		if err != nil || len(r.Rows) != 1 || (c.want != "" && r.String() != c.want) {
			t.Errorf("argument %v: %v, %v", c.arg, r, err)
		} else if c.want == "" {
			s.NoteIDs(t, "snow", r.Column(0)...)
		}
	}
}

func TestTheFastPathFollowsSequenceNames(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "a")
	server.Segment(t, "public.a")
	s := server.Session(t)
	s.ID(t, "public.a", "SELECT next_id('public.a')")
	for want := int64(1); want <= 3; want++ {
		if id := s.ID(t, "a", "SELECT nextval('public.a')"); id != want {
			t.Errorf("nextval('public.a') gave %d, want %d of generator a", id, want)
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	s, st := fastSession(b, "SELECT next_id('a')")
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := s.Fast.Execute(st, nil, 1); !ok {
			b.StopTimer() // a reservation ended
			s.Must(b, "SELECT next_id('a')")
			b.StartTimer()
		}
	}
}

// BenchmarkDrawOfNames draws from names in random order, by sessions in turns.
func BenchmarkDrawOfNames(b *testing.B) {
	for _, n := range []int{64, 20_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			server := sqltest.NewServer(b)
			var sessions [8]*sqltest.Session
			var statements [len(sessions)]*sqlfuncs.Statement
			for i := range sessions {
				sessions[i] = server.Session(b)
				var err error
				if statements[i], err = sessions[i].Prepare("", "SELECT next_id($1)", nil); err != nil {
					b.Fatal(err)
				}
			}
			sessions[0].Must(b, fmt.Sprintf("SELECT count(next_id('tenant' || g)) FROM generate_series(1, %d) g", n))
			names := make([][]sqlfuncs.Arg, 1<<17)
			for i := range names {
				names[i] = []sqlfuncs.Arg{{Data: strconv.AppendInt([]byte("tenant"), 1+rand.Int64N(int64(n)), 10)}}
			}
			missed, i := 0, 0
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := sessions[i%len(sessions)].Fast.Execute(statements[i%len(sessions)], names[i%len(names)], 1); !ok {
					missed++ // a tick or a reservation was used up
				}
				i++
			}
			if missed > i/100+10 {
				b.Errorf("%d of %d draws had no answer", missed, i)
			}
		})
	}
}

func BenchmarkSimpleMiss(b *testing.B) {
	s, _ := fastSession(b, "SELECT 1")
	texts := make([]string, 4096)
	for i := range texts {
		texts[i] = "SELECT next_id('a'), " + strconv.Itoa(i)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if _, err := s.QueryAll(b.Context(), texts[i%len(texts)]+" + "+strconv.Itoa(i)); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

// countedStore counts look-ups of definitions.
type countedStore struct {
	*memory.Store
	lookups *atomic.Int64
}

func (s countedStore) Defined(ctx context.Context, name string) (generator.Definition, error) {
	s.lookups.Add(1)
	return s.Store.Defined(ctx, name)
}

// TestARunningGeneratorIsNotLookedUpInTheStore checks that functions of a generator
// that runs on this server send no request to the store. Draws do not either.
func TestARunningGeneratorIsNotLookedUpInTheStore(t *testing.T) {
	var lookups atomic.Int64
	s := sqltest.NewServer(t, sqltest.Config{Store: countedStore{memory.New(memory.Config{Exclusive: true}), &lookups}}).Session(t)
	s.Must(t, "SELECT create_generator('orders', 'segment'), create_generator('shop', 'snowflake')")
	s.Must(t, "SELECT next_id('orders'), next_code('orders'), next_id('shop')")
	before := lookups.Load()
	for _, sql := range []string{
		"SELECT currval('orders')", "SELECT next_code('orders')",
		"SELECT parse_id(lastval(), 'shop')", "SELECT id_time(lastval(), 'shop')", "SELECT parse_id(next_code('orders'), 'orders')",
	} {
		s.Must(t, sql)
		if n := lookups.Load() - before; n != 0 {
			t.Errorf("%s: %d look-ups", sql, n)
			before = lookups.Load()
		}
	}
}
