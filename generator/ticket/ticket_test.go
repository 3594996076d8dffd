package ticket

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nextid/dbtest"
	"nextid/generator"
	"nextid/generator/counter"
	"nextid/generator/history"
	"nextid/generator/store/memory"
)

// world is a store and the history of all draws.
type world struct {
	t     *testing.T
	store generator.Store
	log   history.Log

	mu     sync.Mutex
	opened int
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, store: memory.New(memory.Config{})}
	t.Cleanup(func() {
		if err := w.log.Check(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// server is one server's generator.
type server struct {
	*Generator
	w *world
	n int
}

func (w *world) open(home int, databases []string, more string) *server {
	w.t.Helper()
	list, _ := json.Marshal(databases)
	k := Kind(Config{Store: w.store, Runtime: generator.SystemClock{}, Owner: "test", Logger: slog.New(slog.DiscardHandler)})
	o, err := k.Normalize(json.RawMessage(`{"databases":` + string(list) + more + `}`))
	if err != nil {
		w.t.Fatal(err)
	}
	g, err := k.Open(w.t.Context(), generator.Definition{Name: "photos", Kind: KindName, Options: o})
	if err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	w.opened++
	s := &server{Generator: g.(*Generator), w: w, n: 100 * w.opened}
	w.mu.Unlock()
	s.source.home = home
	w.t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

// awaitUp waits until want databases are up.
func (s *server) awaitUp(want int) {
	s.w.t.Helper()
	dbtest.Await(s.w.t, fmt.Sprint(want, " databases in use"), func() bool { return s.up() == want })
}

// up returns the number of databases that are up.
func (s *server) up() (n int) {
	s.source.mu.Lock()
	defer s.source.mu.Unlock()
	for _, d := range s.source.databases {
		if d.up {
			n++
		}
	}
	return n
}

// draw draws until it has n numbers.
func (s *server) draw(n int64) []int64 {
	s.w.t.Helper()
	var ids []int64
	for n > 0 {
		r, err := s.Next(s.w.t.Context(), n)
		if err != nil {
			s.w.t.Fatal(err)
		}
		s.w.log.Add(history.Event{Name: "photos", Client: s.n, Range: r})
		for i := range r.Count {
			ids = append(ids, r.First+i*r.Step)
		}
		n -= r.Count
	}
	return ids
}

func (s *server) wants(ids ...int64) {
	s.w.t.Helper()
	if got := s.draw(int64(len(ids))); !slices.Equal(got, ids) {
		s.w.t.Errorf("drew %v, want %v", got, ids)
	}
}

// databases are a MariaDB, a PostgreSQL and a Redis.
type databases struct {
	servers []*dbtest.Server
	urls    []string
}

func start(t *testing.T) *databases {
	t.Helper()
	d := &databases{}
	my, pg, re := dbtest.MariaDB(t), dbtest.Postgres(t), dbtest.Redis(t)
	d.servers = []*dbtest.Server{my, pg, re}
	d.urls = []string{my.MySQLURL("root", "test"), pg.PostgresURL("postgres"), re.URL}
	return d
}

// TestTickets uses the same databases in all its parts, with a table for each.
func TestTickets(t *testing.T) {
	t.Parallel()
	d := start(t)
	part := 0
	run := func(name string, f func(t *testing.T, table string)) {
		part++
		table := fmt.Sprintf("tickets%d", part)
		t.Run(name, func(t *testing.T) { f(t, `,"table":"`+table+`"`) })
	}
	run("each database has its series", func(t *testing.T, table string) {
		for home, want := range [][]int64{{1, 6, 11, 16}, {2, 7, 12, 17}, {3, 8, 13, 18}} {
			s := newWorld(t).open(home, d.urls, table+`,"increment":5`)
			s.awaitUp(3)
			s.wants(want...)
		}
	})
	run("numbers rise over databases and servers", func(t *testing.T, table string) {
		w := newWorld(t)
		var wg sync.WaitGroup
		for home := range 3 {
			for range 2 {
				s := w.open(home, d.urls, table)
				s.awaitUp(3)
				for c := range 4 {
					wg.Go(func() {
						for range 30 {
							r, err := s.Next(w.t.Context(), 3)
							if err != nil {
								t.Error(err)
								return
							}
							w.log.Add(history.Event{Name: "photos", Client: s.n + c, Range: r})
						}
					})
				}
			}
		}
		wg.Wait()
	})
	run("a database that lags behind is raised", func(t *testing.T, table string) {
		w := newWorld(t)
		s := w.open(0, d.urls, table)
		s.awaitUp(3)
		s.draw(100)
		for home := range 3 { // every change of the database
			for _, next := range []int{1, 2} {
				s.source.home = (home + next) % 3
				s.draw(5)
			}
		}
	})
	run("steps are kept in memory", func(t *testing.T, table string) {
		w := newWorld(t)
		s := w.open(1, d.urls, table+`,"step":10`)
		s.awaitUp(3)
		s.wants(2, 5, 8)
		if st := s.Stats(); st.Buffered != 7 || st.Issued != 3 || st.Step != 10 {
			t.Errorf("%+v", st)
		}
	})
	run("setval", func(t *testing.T, table string) {
		w := newWorld(t)
		a, b := w.open(0, d.urls, table), w.open(1, d.urls, table)
		a.awaitUp(3)
		b.awaitUp(3)
		a.wants(1, 4)
		if err := a.Raise(t.Context(), 1000, true); err != nil {
			t.Fatal(err)
		}
		if id := a.draw(1)[0]; id <= 1000 {
			t.Errorf("%d after setval 1000", id)
		}
		if id := b.draw(1)[0]; id <= 1000 {
			t.Errorf("%d on the other server", id)
		}
		if err := a.Raise(t.Context(), 10, true); err != nil { // 10 is below
			t.Fatal(err)
		}
		a.draw(1)
	})
	run("a series of other numbers is refused", func(t *testing.T, table string) {
		db := openSQL(t, d.urls[1])
		if _, err := db.Exec(`CREATE SEQUENCE tickets6 INCREMENT BY 1`); err != nil {
			t.Fatal(err)
		}
		s := newWorld(t).open(1, d.urls, table)
		s.awaitUp(3)
		_, err := s.Next(t.Context(), 3)
		if !errors.Is(err, generator.ErrRegressed) || !strings.Contains(err.Error(), "not one of its numbers") {
			t.Errorf("%v, want ErrRegressed", err)
		}
	})
	run("a new store does not repeat what the databases gave", func(t *testing.T, table string) {
		w := newWorld(t)
		for range 3 {
			w.store = memory.New(memory.Config{})
			s := w.open(0, d.urls, table)
			s.awaitUp(3)
			s.draw(5)
			s.Close(t.Context())
		}
	})
	// An application sends Flickr's own statements to the same table.
	run("the table is shared with others", func(t *testing.T, table string) {
		db := openSQL(t, d.urls[0])
		for _, text := range []string{
			"CREATE TABLE tickets8 (id bigint(20) unsigned NOT NULL auto_increment, stub char(1) NOT NULL default '', PRIMARY KEY (id), UNIQUE KEY stub (stub)) ENGINE=InnoDB",
			"SET SESSION auto_increment_increment = 2", "SET SESSION auto_increment_offset = 1",
			"REPLACE INTO tickets8 (id, stub) VALUES (72157623227190423, 'a')",
		} {
			if _, err := db.Exec(text); err != nil {
				t.Fatal(err)
			}
		}
		w := newWorld(t)
		s := w.open(0, d.urls[:1], table+`,"increment":2`)
		var wg sync.WaitGroup
		wg.Go(func() {
			for range 200 {
				r, err := db.Exec("REPLACE INTO tickets8 (stub) VALUES ('a')")
				if err != nil {
					if strings.Contains(err.Error(), "Deadlock") {
						continue
					}
					t.Error(err)
					return
				}
				id, _ := r.LastInsertId()
				w.log.Add(history.Event{Name: "photos", Client: 1, Range: generator.Range{First: id, Step: 1, Count: 1}})
			}
		})
		wg.Go(func() {
			for range 60 {
				if ids := s.draw(5); ids[0] <= 72157623227190423 || ids[0]%2 != 1 {
					t.Errorf("%v", ids)
				}
			}
		})
		wg.Wait()
	})
}

func openSQL(t *testing.T, url string) *sql.DB {
	t.Helper()
	l, err := ParseLocation(url)
	if err != nil {
		t.Fatal(err)
	}
	db, err := l.OpenSQL(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// One database after the other goes down and comes back, with all its writes or
// without the newest ones. Draws go on, and nothing repeats.
func TestOneDatabaseMayBeDown(t *testing.T) {
	t.Parallel()
	d := start(t)
	w := newWorld(t)
	s, other := w.open(0, d.urls, ""), w.open(1, d.urls, "")
	s.awaitUp(3)
	other.awaitUp(3)
	s.draw(10)
	other.draw(10)
	for i, db := range d.servers {
		db.Kill()
		s.source.home, other.source.home = i, i
		s.draw(5)
		other.draw(5)
		db.Start()
		s.awaitUp(3)
		other.awaitUp(3)
		if ids := s.draw(1); (ids[0]-1)%3 != int64(i) {
			t.Errorf("%d is not of database %d, which is back", ids[0], i)
		}
		other.draw(1)
	}
	for _, db := range d.servers {
		db.Kill()
	}
	_, err := s.Next(t.Context(), 1)
	if !errors.Is(err, generator.ErrNotNow) || !strings.Contains(err.Error(), "no database of generator \"photos\" answers") {
		t.Errorf("%v, want ErrNotNow", err)
	}
	d.servers[2].Start()
	s.awaitUp(1)
	s.draw(2)
}

// A database that hangs is left after a timeout, and used again when it answers.
func TestADatabaseThatHangs(t *testing.T) {
	t.Parallel()
	pg, re := dbtest.Postgres(t), dbtest.Redis(t)
	w := newWorld(t)
	s := w.open(0, []string{pg.PostgresURL("postgres"), re.URL}, `,"deadline":"10s"`)
	s.awaitUp(2)
	s.draw(3)
	pg.Freeze()
	for s.up() == 2 {
		s.draw(1) // within the deadline
	}
	begin := time.Now()
	s.draw(3)
	if took := time.Since(begin); took >= nodeTimeout {
		t.Errorf("the second draw took %v: it asked the database that hangs", took)
	}
	pg.Thaw()
	s.awaitUp(2)
	if ids := s.draw(1); ids[0]%2 != 1 {
		t.Errorf("%d is not of the first database", ids[0])
	}
}

// A database that forgets its numbers is raised to the ceiling in the store.
func TestADatabaseThatForgets(t *testing.T) {
	t.Parallel()
	re := dbtest.Redis(t, "appendonly", "no")
	w := newWorld(t)
	s := w.open(0, []string{re.URL}, "")
	s.draw(500)
	other := w.open(0, []string{re.URL}, "")
	other.draw(500)
	re.Kill() // loses everything in memory
	re.Start()
	s.drawAgain(500)
	other.drawAgain(500)
}

// A database that is emptied while servers are connected is raised in the same way.
func TestADatabaseThatIsEmptied(t *testing.T) {
	t.Parallel()
	re := dbtest.Redis(t)
	w := newWorld(t)
	s, other := w.open(0, []string{re.URL}, ""), w.open(0, []string{re.URL}, "")
	s.draw(500)
	other.draw(500)
	flush(t, re)
	s.drawAgain(600)
	other.drawAgain(500)
}

// The same holds for a server that has drawn from another database so far.
func TestADatabaseThatIsEmptiedBeforeItsFirstUse(t *testing.T) {
	t.Parallel()
	first, second := dbtest.Redis(t), dbtest.Redis(t)
	w := newWorld(t)
	urls := []string{first.URL, second.URL}
	s, other := w.open(0, urls, ""), w.open(1, urls, "")
	s.awaitUp(2)
	other.awaitUp(2)
	other.draw(1)
	s.draw(500)
	flush(t, first)
	second.Kill()
	other.drawAgain(500)
	s.drawAgain(500)
}

// A server that closes lowers the ceiling, but not below what another one has given.
func TestCloseKeepsTheCeilingAboveOtherServers(t *testing.T) {
	t.Parallel()
	re := dbtest.Redis(t)
	w := newWorld(t)
	a := w.open(0, []string{re.URL}, "")
	a.draw(1)
	b := w.open(0, []string{re.URL}, "")
	b.draw(1)
	a.draw(500) // below the end of b's part of the ceiling
	a.Close(t.Context())
	b.Close(t.Context())
	flush(t, re)
	w.open(0, []string{re.URL}, "").drawAgain(600)
}

// flush empties a Redis.
func flush(t *testing.T, re *dbtest.Server) {
	t.Helper()
	l, err := ParseLocation(re.URL)
	if err != nil {
		t.Fatal(err)
	}
	c, err := l.OpenRedis(nil, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
}

// drawAgain draws n numbers once a database is back.
func (s *server) drawAgain(n int64) {
	s.w.t.Helper()
	dbtest.Await(s.w.t, "a number", func() bool {
		r, err := s.Next(s.w.t.Context(), 1)
		if err == nil {
			s.w.log.Add(history.Event{Name: "photos", Client: s.n, Range: r})
		}
		return err == nil
	})
	s.draw(n - 1)
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]string{
		`{}`: "databases must name 1 to 64",
		`{"databases":["postgres://h/d"],"increment":0}`:             "", // the number of databases
		`{"databases":["postgres://h/d","redis://h"],"increment":1}`: "increment must be between the number of databases (2)",
		`{"databases":["mysql://u:p@h/d"]}`:                          "holds a password",
		`{"databases":["ftp://h/d"]}`:                                `database 1: the URL begins with none of postgres://`,
		`{"databases":["redis://h","redis://h"]}`:                    "is named twice",
		`{"databases":["mysql://h/d"],"table":"a b"}`:                "table:",
		`{"databases":["mysql://h/d"],"step":0}`:                     "step must be between",
		`{"databases":["mysql://h/d"],"start":0}`:                    "start must be between",
		`{"databases":["mysql://h/d"],"deadline":"1ns"}`:             "deadline must be between",
		`{"databases":"mysql://h/d"}`:                                "option databases must be",
	} {
		_, err := Kind(Config{}).Normalize(json.RawMessage(options))
		if (err == nil) != (want == "") || err != nil && (!errors.Is(err, generator.ErrOption) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", options, err, want)
		}
	}
	stored, err := Kind(Config{}).Normalize(json.RawMessage(`{"databases":["mysql://a/d"],"increment":2}`))
	if err != nil {
		t.Fatal(err)
	}
	for change, ok := range map[string]bool{
		`{"databases":["mysql://b/d"]}`: true, `{"databases":["mysql://a/d","redis://b"]}`: true, `{"databases":[]}`: false,
		`{"databases":["mysql://a/d","redis://b","redis://c"]}`: false, `{"increment":3}`: false, `{"table":"x"}`: false, `{"step":5}`: true,
	} {
		if _, err := Kind(Config{}).Alter(stored, json.RawMessage(change)); (err == nil) != ok {
			t.Errorf("alter %s: %v", change, err)
		}
	}
}

func TestSeries(t *testing.T) {
	t.Parallel()
	s := series{offset: 2, increment: 5}
	for v, want := range map[int64]int64{-1: 2, 0: 2, 1: 2, 2: 7, 3: 7, 6: 7, 7: 12} {
		if got := s.above(v); got != want || !s.holds(got) {
			t.Errorf("above %d: %d, want %d", v, got, want)
		}
	}
	if s.holds(-3) || s.holds(3) {
		t.Error("numbers that are not of the series")
	}
}

// TestNothingIsAboveTheGreatestNumber: the number after the greatest int64 would
// overflow, and setval would move the databases back to their start.
func TestNothingIsAboveTheGreatestNumber(t *testing.T) {
	s := &source{name: "tickets", options: Options{Increment: 2, Start: 1}, cfg: Config{Store: memory.New(memory.Config{})}}
	if err := s.raise(t.Context(), math.MaxInt64); !errors.Is(err, generator.ErrExhausted) || s.last != 0 {
		t.Errorf("%v, last %d", err, s.last)
	}
}

// Each database of a generator has its own series.
func TestPlaceInTheSeriesOfADatabase(t *testing.T) {
	g := &Generator{source: &source{options: Options{Increment: 3, Start: 10}}}
	g.source.ceiling.Store(20)
	for id, want := range map[int64]generator.Place{
		10: {Start: 10, Increment: 3, Offset: 1, Number: 1, Reserved: true},
		17: {Start: 11, Increment: 3, Offset: 2, Number: 3, Reserved: true},
		21: {Start: 12, Increment: 3, Offset: 0, Number: 4},
		8:  {Start: 11, Increment: 3, Offset: 2},
	} {
		if p := g.Place(id); p != want {
			t.Errorf("%d is %+v, want %+v", id, p, want)
		}
	}
}

// gaps is a node that others draw from, too.
type gaps struct{ node }

func (gaps) draw(context.Context, int64) (runs []generator.Range, err error) {
	for first := int64(1); first < 20; first += 2 {
		runs = append(runs, generator.Range{First: first, Step: 1, Count: 1})
	}
	return runs, nil
}

// setval passes numbers that were drawn ahead, also those behind a gap.
func TestRaisePassesNumbersInHand(t *testing.T) {
	s := &source{
		name: "photos", options: Options{Start: 1, Increment: 1, Step: 10}, changed: make(chan struct{}),
		cfg:       Config{Store: memory.New(memory.Config{}), Runtime: generator.SystemClock{}},
		databases: []*database{{series: series{0, 1}, node: gaps{}, health: health{up: true}}},
	}
	g := &Generator{Queue: counter.NewQueue(s.name, s, generator.SystemClock{}, time.Second, false), source: s}
	if r, err := g.Next(t.Context(), 1); err != nil || r.First != 1 {
		t.Fatal(r, err)
	}
	if err := g.Raise(t.Context(), 10, true); err != nil {
		t.Fatal(err)
	}
	if r, err := g.Next(t.Context(), 1); err != nil || r.First != 11 {
		t.Errorf("%v after setval 10, %v", r, err)
	}
}
