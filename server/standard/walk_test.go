package standard_test

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"nextid/dbtest"
	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/layout"
	"nextid/generator/store/memory"
	"nextid/generator/store/postgres"
	"nextid/generator/store/shared"
	"nextid/generator/store/sqlite"
	"nextid/generator/ticket"
	"nextid/generator/worker"
	"nextid/server"
	"nextid/server/standard"
	"nextid/sqlfuncs"
	"nextid/sqlfuncs/ids"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/sqltest"
	"nextid/sqlfuncs/syntax"
)

// walk takes random steps with generators of all kinds, as operators, clients and
// clocks do, on up to three servers of one store. Each walk has a bubble of virtual
// time. A model of each name (walk_model_test.go) checks the ids.
type walk struct {
	*testing.T
	*rand.Rand
	redis     string // URL; "": the walk makes no tickets
	databases string // of tickets: two arrays with | between them
	pg        string // URL of a PostgreSQL, ""
	dir       string // of the embedded store
	prefix    string // of what the walk makes in databases
	open      func(*generatortest.Clock) (generator.Store, error)
	servers   []*walkServer
	names     []*walkName
	leases    []*lease
	alone     bool // the store is an embedded one
	faults    int  // number of steps that let a store or a statement fail
	mu        sync.Mutex
	steps     []string
}

// walkServer is a server: what package server makes of a store, without the protocols.
type walkServer struct {
	*sqlfuncs.Server
	clock    *generatortest.Clock
	faulty   *generatortest.Faulty // the store
	started  int                   // step
	end      func(clean bool)      // else as kill -9
	sessions []*sqltest.Session
}

// midnight is about the time at which walks begin.
var midnight = time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)

// TestWalk repeats walks for 10 seconds, or for TEST_WALK_TIME. A walk that fails
// prints its seed for TEST_WALK.
func TestWalk(t *testing.T) {
	seed, err := strconv.ParseUint(os.Getenv("TEST_WALK"), 10, 64)
	repeat := err != nil
	if repeat {
		seed = rand.Uint64() >> 16
	}
	lasts, err := time.ParseDuration(os.Getenv("TEST_WALK_TIME"))
	if err != nil {
		lasts = 10 * time.Second
	}
	var rig dbtest.Rig
	defer rig.Close()
	var redis, pg string // "" if it is not installed
	_ = rig.Do(func(t testing.TB) { redis = dbtest.Redis(t).URL })
	_ = rig.Do(func(t testing.TB) { pg = dbtest.Postgres(t).URL })
	for end := time.Now().Add(lasts); ; seed++ {
		ok := t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &walk{T: t, Rand: rand.New(rand.NewPCG(seed, 0)), pg: pg, redis: redis, prefix: fmt.Sprintf("w%d_", seed)}
				w.databases = fmt.Sprintf(`["%[1]s/0","%[1]s/1"]|["%[1]s/0","%[1]s/2"]`, redis)
				defer func() {
					if w.Failed() {
						w.Logf("TEST_WALK=%d:\n%s", seed, strings.Join(w.steps, "\n"))
					}
				}()
				w.run()
			})
		})
		if !ok || !repeat || time.Now().After(end) {
			return
		}
	}
}

// run takes steps on an embedded store, which may be copied to a PostgreSQL, on a store
// in memory for several servers, or on a PostgreSQL.
func (w *walk) run() {
	store := memory.New(memory.Config{})
	w.open = func(*generatortest.Clock) (generator.Store, error) { return kept{store}, nil }
	servers := 1 + w.IntN(3)
	switch home := w.IntN(8); {
	case home < 3:
		w.dir = w.TempDir()
		servers, w.alone = 1, true
		w.open = func(c *generatortest.Clock) (generator.Store, error) {
			return sqlite.Open(w.Context(), sqlite.Config{Dir: w.dir, Clock: c})
		}
	case home == 3 && w.pg != "":
		w.postgres()
	}
	w.startAll(servers)
	defer func() {
		for _, s := range w.servers {
			s.end(true)
		}
	}()
	for i := range 5 {
		w.names = append(w.names, w.name(i))
	}
	for range 80 {
		if w.step(); w.Failed() {
			return
		}
	}
}

// startAll starts the servers of a store.
func (w *walk) startAll(servers int) {
	for range servers {
		w.servers = append(w.servers, w.start(generatortest.NewClock(midnight.Add(time.Duration(w.IntN(60000)-30000)*time.Millisecond))))
	}
}

// kept is a store that outlives the servers which close it.
type kept struct{ generator.Store }

func (kept) Close() error { return nil }

// postgres makes a store in a schema of its own, and returns its URL.
func (w *walk) postgres() string {
	db, err := sql.Open("pgx", w.pg)
	if err == nil {
		_, err = db.ExecContext(w.Context(), "CREATE SCHEMA "+w.prefix)
	}
	url := w.pg + "&search_path=" + w.prefix
	var schema shared.Schema
	if err == nil {
		schema, err = postgres.Driver().Schema(url)
	}
	if err == nil {
		err = errors.Join(schema.Up(w.Context()), schema.Close(), db.Close())
	}
	if err != nil {
		w.Fatal(err)
	}
	w.open = func(*generatortest.Clock) (generator.Store, error) {
		engine, err := postgres.Driver().Open(w.Context(), url, nil)
		if err != nil {
			return nil, err
		}
		return shared.New(w.Context(), engine, shared.Config{Failover: postgres.Driver().Failover, Logger: slog.New(slog.DiscardHandler)})
	}
	return url
}

// copy copies an embedded store to a PostgreSQL, and goes on there with more servers.
func (w *walk) copy() {
	w.say("the store is copied")
	w.servers[0].end(w.IntN(2) == 0)
	build := server.NewBuild(standard.Options()...)
	from, err := build.Flags().Load(nil)
	to := from
	if err == nil {
		from.Data = w.dir
		to.Store, err = build.StoreURL(w.postgres())
	}
	if err == nil {
		err = server.CopyStore(w.Context(), from, to, io.Discard)
	}
	if err != nil {
		w.Fatal(err)
	}
	w.servers, w.alone = nil, false
	w.startAll(1 + w.IntN(3))
}

// start starts a server.
func (w *walk) start(clock *generatortest.Clock) *walkServer {
	store, err := w.open(clock)
	if err != nil {
		w.Fatal(err)
	}
	s := &walkServer{clock: clock, faulty: generatortest.NewFaulty(store), started: len(w.steps)}
	keep, guard := generator.Store(s.faulty), (*generator.Guard)(nil)
	if !store.Exclusive() {
		guard = generator.NewGuard(s.faulty)
		keep = guard
	}
	log := slog.New(slog.DiscardHandler)
	grants, _ := store.(generator.TimeGranter)
	pools := worker.New(worker.Config{Store: keep, Grants: grants, Clock: clock, Seed: w.Uint64(), Logger: log})
	registry, err := generator.NewRegistry(generator.Config{
		Store: s.faulty, Guard: guard, AutoCreate: []string{"snowflake", "segment"}[w.IntN(2)],
		Kinds: server.NewBuild(standard.Options()...).Kinds(server.Parts{
			Store: s.faulty, Keep: keep, Pools: pools, Clock: clock, Owner: "test", Layout: layout.Default, Logger: log,
		}),
	})
	if err == nil {
		s.Server, err = sqlfuncs.NewServer(sqlfuncs.Config{Registry: registry, Version: "test", Clock: clock, IDs: ids.Config{Workers: pools}})
	}
	if err != nil {
		w.Fatal(err)
	}
	ctx, stop := context.WithCancel(w.Context())
	var watch sync.WaitGroup
	watch.Go(func() { registry.Watch(ctx) })
	s.end = func(clean bool) {
		s.faulty.Clear()
		if !clean { // nothing goes back
			s.faulty.Inject(generatortest.Reserve, generatortest.Always, generatortest.FailBefore(nil))
			s.faulty.Inject(generatortest.Release, generatortest.Always, generatortest.FailBefore(nil))
		}
		for _, session := range s.sessions {
			session.Close()
		}
		stop()
		watch.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := errors.Join(registry.Close(ctx), pools.Close(ctx)); err != nil && clean && w.faults == 0 {
			w.Error(err)
		}
		if err := store.Close(); err != nil {
			w.Error(err)
		}
	}
	for _, dialect := range []syntax.Dialect{syntax.PostgreSQL, syntax.PostgreSQL, syntax.MySQL} {
		session, err := s.NewSession(sqlfuncs.SessionOptions{Dialect: dialect, User: "tester", Database: "db", Admin: true})
		if err != nil {
			w.Fatal(err)
		}
		s.sessions = append(s.sessions, &sqltest.Session{Session: session})
	}
	return s
}

// client is how a client runs a statement.
type client struct {
	server   *walkServer
	session  int
	copies   int           // of the statement that it pipelines behind it
	most     int           // rows after which it leaves; 0: it stays
	patience time.Duration // 0: without end
}

func (w *walk) client() client {
	c := client{server: pick(w, w.servers...), session: w.IntN(3), copies: w.IntN(4)}
	switch w.IntN(12) {
	case 0:
		c.most = 1 + w.IntN(5)
	case 1:
		c.patience = time.Duration(1+w.IntN(5000)) * time.Microsecond
	}
	return c
}

// query runs statements and returns their rows, also those before an error.
func (w *walk) query(c client, sql string) (rows [][]string, err error) {
	ctx, cancel := context.WithTimeout(w.Context(), cmp.Or(c.patience, sqlfuncs.DefaultLimits.StatementTime))
	defer cancel()
	q := c.server.sessions[c.session]
	if _, drawn, ok := q.Fast.Query([]byte(sql), 1+c.copies); ok {
		for i := range drawn.Count {
			rows = append(rows, []string{strconv.FormatInt(drawn.First+i*drawn.Step, 10)})
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.say("server %d: fast path: %s: %v", slices.Index(w.servers, c.server)+1, sql, rows)
		return rows, nil
	}
	b, err := q.Simple([]byte(sql))
	for err == nil {
		var st *sqlfuncs.Statement
		if st, err = b.Next(); err != nil || st == nil {
			break
		}
		var r sqltest.Result
		p := q.Run(st)
		r, err = q.Pull(ctx, p, c.most)
		p.Close()
		rows = append(rows, r.Rows...)
	}
	if err != nil {
		q.Fail()
	}
	q.EndBatch()
	if err != nil {
		_, _ = q.QueryAll(w.Context(), "ROLLBACK")
	}
	q.Rest()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.say("server %d: %s: %.200s %v", slices.Index(w.servers, c.server)+1, sql, fmt.Sprint(rows[:min(len(rows), 9)]), err)
	if e, ok := errors.AsType[*sqlstate.Error](err); err != nil && (!ok || e.Code == sqlstate.Internal || e.Code == sqlstate.SystemError || e.Code == sqlstate.FailedTransaction) {
		w.Errorf("%s: %v: %+v", sql, err, e)
	}
	return rows, err
}

func (w *walk) say(format string, args ...any) {
	w.steps = append(w.steps, fmt.Sprintf("%d ", len(w.steps))+fmt.Sprintf(format, args...))
}

// draws returns statements that draw from a name.
func (w *walk) draws(n *walkName) string {
	name, many := "'"+n.name+"'", w.IntN(50)
	if w.IntN(20) == 0 {
		many = w.IntN(3000)
	}
	forms := []string{
		"SELECT next_id(%[1]s)", "SELECT next_ids(%[1]s, %[2]d)", "SELECT * FROM next_ids(%[1]s, %[2]d)", "SELECT * FROM next_range(%[1]s, %[2]d)",
		"SELECT next_id(%[1]s) FROM generate_series(1, %[2]d)", "SELECT id FROM ids WHERE name = %[1]s", "SELECT id FROM %[3]s_id",
		"SELECT id FROM id_batch WHERE name = %[1]s AND n = %[2]d", "SELECT parse_code(next_code(%[1]s), %[1]s)",
		"BEGIN; SELECT next_id(%[1]s); ROLLBACK",
	}
	if n.texts() {
		forms = []string{"SELECT next_code(%[1]s)", "SELECT * FROM next_codes(%[1]s, %[2]d)"}
	} else if n.kind == "snowflake" && w.IntN(8) == 0 {
		return "SELECT next_id_at(" + name + ", '2026-11-28 12:00:00')"
	} else if w.IntN(2) == 0 {
		forms = forms[:1] // from the second time on by the fast path
	}
	return fmt.Sprintf(pick(w, forms...), name, many, n.name)
}

// draw runs a statement that draws, and checks the ids.
func (w *walk) draw(c client, n *walkName, sql string, alone bool) {
	rows, _ := w.query(c, sql)
	var got []string
	for _, row := range rows {
		if len(row) < 3 {
			got = append(got, row...)
			continue
		}
		var r [3]int64 // first, last, step
		for i := range r {
			r[i], _ = strconv.ParseInt(row[i], 10, 64)
		}
		for i := range (r[1]-r[0])/r[2] + 1 {
			got = append(got, strconv.FormatInt(r[0]+i*r[2], 10))
		}
	}
	if c.most > 0 || c.patience > 0 {
		n.left = true
	}
	known := w.known(n.change, c.server)
	w.note(c.server, n, got, known && !strings.Contains(sql, "_at("), alone)
	if alone && known && len(got) > 0 && !w.Failed() {
		w.parse(c.server, n, pick(w, got...))
	}
}

// name returns a new name in place of the name i.
func (w *walk) name(i int) *walkName {
	return &walkName{name: fmt.Sprintf("%s%d_%d", w.prefix, i, len(w.steps)), ids: map[string]int{}}
}

// create makes a generator of a name that has none.
func (w *walk) create(c client, n *walkName) {
	again := n.last
	if w.IntN(2) == 0 {
		again = ""
	}
	kind, options := w.recipe(again, false)
	var first [][]string
	if w.IntN(4) > 0 {
		w.admin(c.server, n, "create_generator('%s', '%s', '%s')", kind, options)
	} else if _, err := w.query(client{server: c.server}, fmt.Sprintf("SELECT create_template('%s*', '%s', '%s')", n.name, kind, options)); err == nil {
		first, err = w.query(client{server: c.server}, "SELECT next_id('"+n.name+"')")
		w.learn(c.server, n, err)
	}
	n.newest, n.floors, n.left, n.held = map[any]string{}, nil, false, map[string]string{}
	for _, row := range first {
		w.note(c.server, n, row, false, true)
	}
	if n.kind == "" {
		return
	}
	if n.made++; n.made == 1 {
		n.change = moment{} // no server has another generator of the name
	}
}

// admin changes a name.
func (w *walk) admin(s *walkServer, n *walkName, call string, args ...any) error {
	_, err := w.query(client{server: s}, "SELECT "+fmt.Sprintf(call, slices.Concat([]any{n.name}, args)...))
	w.learn(s, n, err)
	return err
}

func (w *walk) step() {
	c := w.client()
	i := w.IntN(len(w.names))
	if w.names[i].kind == "" && w.IntN(3) == 0 {
		w.names[i] = w.name(i)
	}
	n := w.names[i]
	switch step := w.IntN(40); {
	case n.kind == "":
		w.create(c, n)
	default:
		w.draw(c, n, w.draws(n), true)
	case step == 0:
		_ = w.admin(c.server, n, "drop_generator('%s')")
	case step <= 3:
		_, options := w.recipe(n.kind, true)
		_ = w.admin(c.server, n, "alter_generator('%s', '%s')", options)
	case step <= 6 && !n.texts():
		w.setval(client{server: c.server}, n)
	case step == 7:
		d := time.Duration(w.Int64N(1 << w.IntN(42)))
		if w.IntN(2) == 0 {
			d = -d
		}
		w.say("server %d: clock %v", slices.Index(w.servers, c.server)+1, d)
		c.server.clock.Step(d)
	case step <= 9:
		d := time.Duration(w.Int64N(1 << w.IntN(38)))
		w.say("sleep %v", d)
		<-time.After(d)
	case step == 10:
		clean := w.IntN(2) == 0
		w.say("server %d: restart, clean %t", slices.Index(w.servers, c.server)+1, clean)
		c.server.end(clean)
		w.servers[slices.Index(w.servers, c.server)] = w.start(c.server.clock)
	case step == 11:
		w.faults++
		fault := pick(w, generatortest.FailBefore(nil), generatortest.FailAfter(nil), generatortest.HangAfter())
		op := pick(w, generatortest.Reserve, generatortest.Reserve, generatortest.Release, generatortest.Reserved, generatortest.Defined)
		w.say("server %d: %s fails", slices.Index(w.servers, c.server)+1, op)
		c.server.faulty.Inject(op, 1+w.IntN(3), fault)
	case step == 12:
		w.storm(n)
	case step <= 14 && n.is("counter"):
		w.hold(client{server: c.server}, n)
	case step == 15 && n.is("counter", "segment") && n.options["scatter"] == nil: // no server has reserved so much
		if w.admin(c.server, n, "recover_generator('%s', %d)", n.value(n.newest[nil])+n.order()<<33) == nil {
			n.held = map[string]string{}
		}
	case step == 16:
		w.lease(client{server: c.server})
	case step == 17 && w.alone && w.pg != "":
		w.copy()
	case step == 18 && n.is("ticket"):
		w.say("the databases of tickets are emptied")
		if err := w.empty(); err != nil {
			w.Fatal(err)
		}
	}
}

// empty restarts the databases of tickets without their numbers.
func (w *walk) empty() error {
	l, err := ticket.ParseLocation(w.redis)
	if err != nil {
		return err
	}
	c, err := l.OpenRedis(nil, time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	return errors.Join(c.FlushAll(w.Context()).Err(), c.ClientKillByFilter(w.Context(), "TYPE", "normal").Err())
}

// setval moves a name to a number, mostly above its newest one.
func (w *walk) setval(c client, n *walkName) {
	v := n.value(n.newest[nil]) + (w.Int64N(500)-50)*max(n.order(), 1)
	used := w.IntN(2) == 0
	_, err := w.query(c, fmt.Sprintf("SELECT setval('%s', %d, %t)", n.name, v, used))
	if err != nil || n.texts() {
		return
	}
	if v = n.value(strconv.FormatInt(v, 10)); !used {
		v -= n.order()
	}
	n.floors = append(n.floors, floor{v, w.moment(c.server)})
}

// storm draws on several sessions at once, while an administrator changes the name.
func (w *walk) storm(n *walkName) {
	var clients sync.WaitGroup
	for _, s := range w.servers {
		for session := range s.sessions {
			c, sql := client{server: s, session: session}, w.draws(n)
			clients.Go(func() {
				for range 3 {
					w.draw(c, n, sql, false)
				}
			})
		}
	}
	clients.Wait()
}

// hold holds a number, or confirms one. A number is of one holder for good.
func (w *walk) hold(c client, n *walkName) {
	for id, holder := range n.held {
		call := pick(w, "confirm_id('%s', %s, '%s')", "void_id('%s', %s, 'why', '%s')")
		if rows, _ := w.query(c, fmt.Sprintf("SELECT "+call, n.name, id, holder)); len(rows) > 0 {
			delete(n.held, id)
		}
	}
	holder := fmt.Sprint("holder ", len(w.steps))
	rows, err := w.query(c, fmt.Sprintf("SELECT hold_id('%s', '%d seconds', '%s')", n.name, 1+w.IntN(10), holder))
	w.learn(c.server, n, err) // the first one has changed the options
	for _, row := range rows {
		w.note(c.server, n, row, false, true)
		n.held[row[0]] = holder
	}
}

// lease leases a worker id to a library, or renews or releases a lease.
func (w *walk) lease(c client) {
	l := &lease{bits: pick(w, 4, 8, 10)}
	sql := fmt.Sprintf("lease_worker('%d', 'x')", l.bits)
	if len(w.leases) > 0 && w.IntN(2) == 0 {
		old := pick(w, w.leases...)
		l.bits = old.bits
		sql = fmt.Sprintf("renew_worker('%d', %d, '%s')", old.bits, old.worker, old.until.Format(time.RFC3339Nano))
		if used := old.from.Add(time.Duration(w.Int64N(int64(old.until.Sub(old.from))))); w.IntN(2) == 0 {
			sql = fmt.Sprintf("release_worker('%d', %d, '%s', '%s')", old.bits, old.worker, old.until.Format(time.RFC3339Nano), used.Format(time.RFC3339Nano))
			old.until = used
			l = &lease{bits: -1} // the rest is free
		}
	}
	rows, err := w.query(c, "SELECT worker, to_json(not_before), to_json(until) FROM "+sql)
	if err != nil || l.bits < 0 {
		return
	}
	l.worker, err = strconv.ParseInt(rows[0][0], 10, 64)
	if err := errors.Join(err, json.Unmarshal([]byte(rows[0][1]), &l.from), json.Unmarshal([]byte(rows[0][2]), &l.until)); err != nil {
		w.Fatal(err)
	}
	for _, other := range w.leases {
		if other.holds(l.bits, l.worker, l.from) || l.holds(other.bits, other.worker, other.from) {
			w.Errorf("%+v is leased, and so is %+v", *l, *other)
		}
	}
	w.leases = append(w.leases, l)
}
