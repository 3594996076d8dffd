package load

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"nextid/dbtest"
	"nextid/migrations/appdb"
)

func dial(t *testing.T, dsn string) *Link {
	t.Helper()
	l, err := Dial(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

func exec1(t *testing.T, l *Link, sql string) []ID {
	t.Helper()
	ids, err := l.Exec(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// loads measures draws from a sequence in all ways of a protocol. It checks that
// each answer was counted once, by the sequence's position.
func loads(t *testing.T, dsn, next string) {
	setup := dial(t, dsn)
	for _, way := range []struct {
		name  string
		depth int
		bytes func(l *Link) []byte
		rate  float64
	}{
		{"simple", 1, func(l *Link) []byte { return l.Query(nil, next) }, 0},
		{"pipelined", 16, func(l *Link) []byte { return l.Query(nil, next) }, 0},
		{"fixed rate", 1, func(l *Link) []byte { return l.Query(nil, next) }, 500},
		{"prepared", 1, func(l *Link) []byte {
			if err := l.Prepare(t.Context(), next); err != nil {
				t.Fatal(err)
			}
			return l.Execute(nil)
		}, 0},
	} {
		t.Run(way.name, func(t *testing.T) {
			before := exec1(t, setup, next)[0].Lo
			log := &logWork{t: t}
			c := Config{Length: 300 * time.Millisecond, Rate: way.rate}
			for range 4 {
				l := dial(t, dsn)
				c.Clients = append(c.Clients, Client{[]*Link{l}, &loggedWork{log, Step{0, slices.Repeat(way.bytes(l), way.depth), way.depth}}})
			}
			r, err := Run(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			slices.SortFunc(log.ids, ID.Compare)
			if n := len(slices.Compact(log.ids)); n != r.Ended*way.depth || r.Operations == 0 || r.Operations > r.Ended {
				t.Errorf("%d operations of %d, %d of them in time, brought %d ids", r.Ended, way.depth, r.Operations, n)
			}
			if log.ids[0].Lo <= before {
				t.Errorf("id %d is not above %d", log.ids[0].Lo, before)
			}
			if q := r.Latency.Quantile(0.5); q <= 0 || q > time.Second || r.Traffic == 0 {
				t.Errorf("median %s, %d bytes", q, r.Traffic)
			}
			if way.rate > 0 && (r.PerSecond() > way.rate*1.1 || r.PerSecond() < way.rate/4) {
				t.Errorf("%.0f operations a second, want %.0f", r.PerSecond(), way.rate)
			}
		})
	}
	if _, err := setup.Exec(t.Context(), "SELECT nonsense"); err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("a wrong statement: %v", err)
	}
	if ids, err := setup.Exec(t.Context(), next); err != nil || len(ids) != 1 {
		t.Errorf("after a wrong statement: %v, %v", ids, err)
	}
	wrong := Repeat{{0, setup.Query(nil, "SELECT nonsense"), 1}}
	if _, err := Run(t.Context(), Config{Clients: []Client{{[]*Link{setup}, wrong}}, Length: time.Minute}); err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("wrong statements under load: %v", err)
	}
}

type logWork struct {
	t   *testing.T
	ids []ID
}

type loggedWork struct {
	log  *logWork
	step Step
}

func (w *loggedWork) Begin() Step { return w.step }

func (w *loggedWork) Then(ids []ID) (Step, bool) {
	if len(ids) != w.step.Answers {
		w.log.t.Errorf("%d answers brought %d ids", w.step.Answers, len(ids))
	}
	w.log.ids = append(w.log.ids, ids...)
	return Step{}, false
}

func TestPostgreSQL(t *testing.T) {
	t.Parallel()
	dsn := dbtest.QuickPostgres(t)
	l := dial(t, dsn)
	exec1(t, l, "CREATE SEQUENCE s")
	loads(t, dsn, "SELECT nextval('s')")
	// A request larger than the socket's buffer, and a row larger than the Link's.
	long := strings.Repeat("x", 3<<20)
	if ids := exec1(t, dial(t, dsn), "SELECT length('"+long+"')"); len(ids) != 1 || ids[0].Lo != 3<<20 {
		t.Errorf("a long statement returned %v", ids)
	}
	if ids := exec1(t, dial(t, dsn), "SELECT repeat('x', 1000000) UNION ALL SELECT '5'"); len(ids) != 1 || ids[0].Lo != 5 {
		t.Errorf("a long row returned %v", ids)
	}
	if ids := exec1(t, dial(t, dsn), "SELECT '00000000-0000-0001-0000-000000000002'::uuid"); len(ids) != 1 || ids[0] != (ID{1, 2}) {
		t.Errorf("a UUID returned %v", ids)
	}
	// The same in the event loop, which must continue to send once the socket
	// accepts more.
	work := Repeat{{0, dial(t, dsn).Query(nil, "SELECT length('"+long+"')"), 1}}
	r, err := Run(t.Context(), Config{Clients: []Client{{[]*Link{dial(t, dsn)}, work}}, Length: time.Second})
	if err != nil || r.Operations == 0 {
		t.Errorf("%d long statements, %v", r.Operations, err)
	}
	// A measurement continues until the first answer.
	work = Repeat{{0, dial(t, dsn).Query(nil, "SELECT 1 FROM pg_sleep(0.2)"), 1}}
	for _, rate := range []float64{0, 50} {
		r, err = Run(t.Context(), Config{Clients: []Client{{[]*Link{dial(t, dsn)}, work}}, Length: time.Millisecond, Rate: rate})
		if err != nil || r.Operations != 1 || r.Elapsed < 100*time.Millisecond {
			t.Errorf("%d slow statements in %v at a rate of %g, %v", r.Operations, r.Elapsed, rate, err)
		}
	}
}

func TestMySQL(t *testing.T) {
	t.Parallel()
	addr, socket := dbtest.QuickMariaDB(t)
	if _, err := Dial(t.Context(), "mysql://root@"+addr+"/missing"); appdb.Code(err) != "1049" {
		t.Errorf("a login to a database that does not exist: %v", err)
	}
	l := dial(t, "mysql://root@"+addr+"/test")
	exec1(t, l, "CREATE SEQUENCE s")
	loads(t, "mysql://root@"+addr+"/test", "SELECT NEXT VALUE FOR s")
	unix := dial(t, "mysql://root@/test?socket="+socket)
	exec1(t, unix, "CREATE TABLE t (id bigint AUTO_INCREMENT PRIMARY KEY, note text)")
	exec1(t, unix, "INSERT INTO t (note) VALUES ('a')")
	if ids := exec1(t, unix, "INSERT INTO t (note) VALUES ('b')"); len(ids) != 1 || ids[0].Lo != 2 {
		t.Errorf("INSERT gave %v", ids)
	}
}

func TestRedis(t *testing.T) {
	t.Parallel()
	dsn := dbtest.Redis(t).URL
	l := dial(t, dsn)
	if ids := exec1(t, l, "INCRBY orders 41"); len(ids) != 1 || ids[0].Lo != 41 {
		t.Errorf("INCRBY gave %v", ids)
	}
	work := Repeat{{0, slices.Repeat(l.Query(nil, "INCR orders"), 8), 8}}
	r, err := Run(t.Context(), Config{Clients: []Client{{[]*Link{dial(t, dsn)}, work}}, Length: 200 * time.Millisecond})
	if err != nil || r.Operations == 0 {
		t.Errorf("%d operations, %v", r.Operations, err)
	}
}

// TestAStopShowsAtAFixedRate: at a fixed rate, a server that stops for a while shows
// in the quantiles.
func TestAStopShowsAtAFixedRate(t *testing.T) {
	t.Parallel()
	dsn := dbtest.QuickPostgres(t)
	l := dial(t, dsn)
	slow := &pause{normal: l.Query(nil, "SELECT 1"), pause: l.Query(nil, "SELECT 1 FROM pg_sleep(0.4)"), at: 100}
	r, err := Run(t.Context(), Config{Clients: []Client{{[]*Link{l}, slow}}, Length: 2 * time.Second, Rate: 200})
	if err != nil {
		t.Fatal(err)
	}
	if q := r.Latency.Quantile(0.9); q < 50*time.Millisecond {
		t.Errorf("a stop of 0.4 s in 2 s left 90 %% below %s: only one operation has paid for it", q)
	}
}

// TestReadingUsageCountsForNoOperation: a client sends nothing while it reads the CPU
// times of many processes, and no operation pays for that.
func TestReadingUsageCountsForNoOperation(t *testing.T) {
	t.Parallel()
	l := dial(t, dbtest.QuickPostgres(t))
	servers, pause := []*dbtest.Server{{PID: os.Getpid()}}, time.Duration(0)
	for pause < 500*time.Millisecond {
		servers = slices.Concat(servers, servers)
		began := time.Now()
		CPU(servers...)
		pause = time.Since(began)
	}
	work := Repeat{{0, l.Query(nil, "SELECT 1"), 1}}
	var r Result
	for try := 1; ; try++ { // other programs may stop this one for as long, but not each time
		var err error
		if r, err = Run(t.Context(), Config{Clients: []Client{{[]*Link{l}, work}}, Warm: 100 * time.Millisecond, Length: time.Second, Rate: 100, Servers: servers}); err != nil {
			t.Fatal(err)
		}
		q := r.Latency.Quantile(0.9)
		if q <= pause/2 && r.Operations >= 50 && r.Operations <= 110 {
			break
		}
		if try == 3 {
			t.Fatalf("%d operations in a second, want 100; 90 %% below %s, after a pause of %s", r.Operations, q, pause)
		}
	}
	// Nor does an answer that comes meanwhile count as one that took no time.
	work = Repeat{{0, l.Query(nil, "SELECT 1 FROM pg_sleep(0.4)"), 1}}
	r, err := Run(t.Context(), Config{Clients: []Client{{[]*Link{l}, work}}, Warm: 100 * time.Millisecond, Length: 700 * time.Millisecond, Servers: servers})
	if err != nil {
		t.Fatal(err)
	}
	if r.Ended != r.Operations+1 || slices.Min(r.Latency) < 400*time.Millisecond {
		t.Errorf("%d operations of 0.4 s in 0.7 s, %d with the last, latency %v", r.Operations, r.Ended, r.Latency)
	}
}

type pause struct {
	normal, pause []byte
	n, at         int
}

func (p *pause) Begin() Step {
	p.n++
	if p.n == p.at {
		return Step{0, p.pause, 1}
	}
	return Step{0, p.normal, 1}
}

func (p *pause) Then([]ID) (Step, bool) { return Step{}, false }

func TestQuantiles(t *testing.T) {
	t.Parallel()
	var l Latency
	random := rand.New(rand.NewPCG(1, 2))
	for range 100000 {
		l = append(l, time.Duration(math.Exp(random.NormFloat64()*2+11)))
	}
	all := slices.Sorted(slices.Values(l))
	for _, q := range []float64{0, 0.5, 0.99, 0.999, 1} {
		want := all[min(int(q*float64(len(all))), len(all)-1)]
		if got := l.Quantile(q); got != want {
			t.Errorf("quantile %g is %s, want %s", q, got, want)
		}
	}
}
