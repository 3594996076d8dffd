package feed_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"nextid/dbtest"
	"nextid/migrations/appdb"
	"nextid/migrations/feed"
)

// TestFeedThroughPgBouncer: a database whose URL is PgBouncer's is fed. PgBouncer
// refuses most settings in the start-up packet.
func TestFeedThroughPgBouncer(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 0, 1000, engines[0].table)
	database := strings.TrimSuffix(f.dsns[0][strings.LastIndex(f.dsns[0], "/")+1:], "?sslmode=disable")
	pool := dbtest.PgBouncer{Mode: "session", Server: f.address, Database: database, User: "postgres"}.Start(t)
	f.dsns[0] = "postgres://postgres@" + pool + "/pool?sslmode=disable"
	f.up()
	f.sound()
}

// TestUpOnceDown: each database gets a block above all drawn ids. It moves when half
// of the block is used. After down, the sequence has no bounds.
func TestUpOnceDown(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, f *fleet) {
		if r := f.status(); len(r.Problems) != 2 {
			t.Errorf("before up: %q", r.Problems)
		}
		f.up()
		f.sound()
		before := f.status().Feeds
		a, b := f.insert(0, 10), f.insert(1, 10)
		if a[0] != before[0].State.First || b[0] != before[1].State.First || a[0] <= 5 || b[0] <= a[0]+900 {
			t.Errorf("drawn %v and %v", a, b)
		}
		once := func() {
			t.Helper()
			if err := feed.Once(t.Context(), f.options()); err != nil {
				t.Fatal(err)
			}
		}
		once()
		if now := f.status().Feeds; now[0].State.First != before[0].State.First {
			t.Errorf("moved with %d of its numbers left", before[0].State.Left())
		}
		f.insert(0, 600)
		once()
		now := f.status().Feeds
		if now[0].State.First <= before[1].State.Last || now[1].State.First != before[1].State.First {
			t.Errorf("after half of a block: %d to %d, and %d to %d", now[0].State.First, now[0].State.Last, now[1].State.First, now[1].State.Last)
		}
		if got := f.insert(0, 1)[0]; got != now[0].State.First {
			t.Errorf("drawn %d after the move to %d", got, now[0].State.First)
		}
		if err := feed.Down(t.Context(), f.options()); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(f.out.String(), "a plain sequence again") {
			t.Errorf("down says %s", &f.out)
		}
		s := f.status().Feeds[0].State
		if s.First != 1 || s.Last < 1<<31-1 || s.Note.Generator != "" || f.insert(0, 1)[0] <= now[0].State.First {
			t.Errorf("after down: %+v", s)
		}
	})
}

// TestUpOfABusySequence: some transaction has always drawn from the sequence. The
// command waits for its lock, while inserts queue behind it.
func TestUpOfABusySequence(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, f *fleet) {
		ended := make(chan struct{})
		var clients sync.WaitGroup
		for range 4 {
			clients.Go(func() {
				for {
					select {
					case <-ended:
						return
					default:
					}
					tx, err := f.dbs[0].BeginTx(t.Context(), nil)
					if err == nil {
						_, err = tx.ExecContext(t.Context(), "INSERT INTO orders (note) VALUES ('busy')")
						time.Sleep(40 * time.Millisecond) //nolint:forbidigo // in the transaction
						err = errors.Join(err, tx.Commit())
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		f.up()
		close(ended)
		clients.Wait()
		f.sound()
	})
}

// TestBlockEnds: at the end of its block, a sequence fails with the database's own
// error.
func TestBlockEnds(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, f *fleet) {
		f.up()
		f.insert(0, 980)
		if _, err := f.draw(t.Context(), 0, 100); err == nil || !strings.Contains(err.Error(), "reached maximum value") && !strings.Contains(err.Error(), "has run out") {
			t.Errorf("drawing beyond the block: %v", err)
		}
	})
}

// TestUpWithOneMoreDatabase: a new database has more rows than the others. All
// blocks are above its rows.
func TestUpWithOneMoreDatabase(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, f *fleet) {
		f.up()
		i := f.add(map[bool]string{false: "CREATE TABLE orders (id serial PRIMARY KEY, note text)", true: engines[1].table}[f.mysql])
		f.exec(i, "INSERT INTO orders VALUES (5000000, 'by hand')")
		f.up()
		f.sound()
		for i := range f.dbs {
			if id := f.insert(i, 1)[0]; id <= 5000000 {
				t.Errorf("database %d draws %d", i, id)
			}
		}
	})
}

// TestUpAfterALoss: the store is lost, and the newest rows are deleted. Each new block
// is above the blocks that the sequences hold, also while one of them cannot move.
func TestUpAfterALoss(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, f *fleet) {
		f.up()
		before := f.status().Feeds
		f.insert(0, 10)
		f.exec(0, "DELETE FROM orders")
		f.replaceServer()
		tx, err := f.dbs[1].BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.ExecContext(t.Context(), "INSERT INTO orders (note) VALUES ('open')"); err != nil {
			t.Fatal(err)
		}
		if err := feed.Up(t.Context(), f.options()); err == nil || !strings.Contains(err.Error(), "still open") {
			t.Errorf("up beside an open transaction: %v", err)
		}
		if now := f.status().Feeds; now[0].State.First <= before[1].State.Last || now[1].State.First != before[1].State.First {
			t.Errorf("%d to %d, while the other database draws to %d", now[0].State.First, now[0].State.Last, now[1].State.Last)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestVanishedFeeder: a feeder is cut off in the middle of a move. The database ends
// its session, and with that the locks.
func TestVanishedFeeder(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, f *fleet) {
		f.up()
		proxy := dbtest.Cut(t, f.address)
		cut := make(chan bool, 1)
		one := f.feed(strings.Replace(f.dsns[0], f.address, proxy.Addr, 1), func(ctx context.Context, name string, above, n int64) (int64, error) {
			proxy.Set(dbtest.HoldAll)
			cut <- true
			return f.server.Draw(ctx, name, above, n)
		})
		ctx, stop := context.WithCancel(t.Context())
		var work sync.WaitGroup
		work.Go(func() { _, _, _ = one.Step(ctx, true) }) // its end does not matter
		defer work.Wait()
		defer stop()
		<-cut
		other, moved, err := f.feeds(f.server.Draw)[0], false, error(nil)
		for deadline := time.Now().Add(time.Minute); !moved && time.Now().Before(deadline); {
			_, moved, err = other.Step(t.Context(), true)
		}
		if !moved {
			t.Errorf("another feeder waits for the one that has vanished: %v", err)
		}
	})
}

// TestStatusSeesChanges: status reports a sequence that was changed, and up repairs
// it. The next block is above the numbers that it has drawn meanwhile.
func TestStatusSeesChanges(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, f *fleet) {
		f.up()
		sequence := map[bool]string{false: "orders_id_seq", true: "orders_seq"}[f.mysql]
		first := f.status().Feeds[1].State
		f.exec(0, "ALTER SEQUENCE "+sequence+fmt.Sprintf(" MAXVALUE 2000000000 RESTART WITH %d", first.Last+5000))
		beyond := f.insert(0, 1)[0]
		r := f.status()
		if len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "its sequence was changed") {
			t.Errorf("after ALTER SEQUENCE: %q", r.Problems)
		}
		if err := feed.Once(t.Context(), f.options()); err != nil {
			t.Fatal(err)
		}
		f.sound()
		if id := f.insert(0, 1)[0]; id <= beyond {
			t.Errorf("after %d it draws %d", beyond, id)
		}
		// The state in a copy of the other database.
		copied := first.Note.String()
		f.exec(0, "ALTER SEQUENCE "+sequence+fmt.Sprintf(" MINVALUE %d MAXVALUE %d START WITH %d RESTART %d", first.First, first.Last, first.First, first.First))
		f.exec(0, map[bool]string{false: "COMMENT ON SEQUENCE " + sequence + " IS '" + copied + "'", true: "ALTER TABLE " + sequence + " COMMENT = '" + copied + "'"}[f.mysql])
		if r := f.status(); len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "both draw orders.id from") {
			t.Errorf("with a copy: %q", r.Problems)
		}
		f.up()
		f.sound()
	})
}

// TestOpenTransaction: while a transaction that has drawn is open, the sequence does
// not move, and inserts do not wait long. The next attempt uses the same block.
func TestOpenTransaction(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, f *fleet) {
		f.up()
		var draws atomic.Int64
		one := f.feeds(func(ctx context.Context, name string, above, n int64) (int64, error) {
			draws.Add(1)
			return f.server.Draw(ctx, name, above, n)
		})[0]
		tx, err := f.dbs[0].BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.ExecContext(t.Context(), "INSERT INTO orders (note) VALUES ('open')"); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			_, _, err := one.Step(t.Context(), true)
			ended <- err
		}()
		var waits []time.Duration
		for running := true; running; {
			select {
			case err = <-ended:
				running = false
			default:
				began := time.Now()
				f.insert(0, 1)
				waits = append(waits, time.Since(began))
				time.Sleep(10 * time.Millisecond) //nolint:forbidigo // the load has a bound
			}
		}
		if err == nil || !strings.Contains(err.Error(), "still open") {
			t.Errorf("a step beside an open transaction: %v", err)
		}
		slices.Sort(waits)
		t.Logf("%d inserts while the move was tried: median %v, p99 %v, longest %v", len(waits), waits[len(waits)/2], waits[len(waits)*99/100], waits[len(waits)-1])
		if median := waits[len(waits)/2]; median > time.Second {
			t.Errorf("inserts waited %v", median)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if _, moved, err := one.Step(t.Context(), true); err != nil || !moved || draws.Load() != 1 {
			t.Errorf("after the transaction: moved %v, %v, blocks drawn %d", moved, err, draws.Load())
		}
	})
}

// TestCutAnywhere cuts connections of feeders within answers, while other feeders
// work. No id is drawn twice, and each sequence is always in a block.
func TestCutAnywhere(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, f *fleet) {
		f.block = 1_000_000
		f.up()
		stop := f.load(0, 1)
		cut := dbtest.Cut(t, f.address)
		var feeds []*feed.Feed // a Feed keeps its block between attempts
		for _, dsn := range f.dsns {
			feeds = append(feeds, f.feed(strings.Replace(dsn, f.address, cut.Addr, 1), f.server.Draw))
		}
		failed := 0
		for n := range int64(200) {
			cut.After(1 + 17*n)
			if _, _, err := feeds[n%2].Step(t.Context(), true); err != nil {
				failed++
			}
		}
		cut.After(0)
		if n := stop(); n > 0 {
			t.Errorf("%d inserts failed", n)
		}
		if failed < 20 {
			t.Errorf("only %d of 200 moves were cut", failed)
		}
		f.unique(500)
		for _, one := range f.feeds(f.server.Draw) {
			if s, err := one.Read(t.Context()); err != nil || s.First == 1 || s.Last > 1<<40 {
				t.Errorf("bounds %d to %d, %v", s.First, s.Last, err)
			}
		}
	})
}

// TestFeedersTogether: several feeders move the same sequences under load.
func TestFeedersTogether(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, f *fleet) {
		f.block = 1_000_000
		f.up()
		stop := f.load(0, 1)
		var work sync.WaitGroup
		var moves atomic.Int64
		for range 3 {
			feeds := f.feeds(f.server.Draw)
			work.Go(func() {
				for n := range 20 {
					_, moved, err := feeds[n%2].Step(t.Context(), rand.N(2) == 0)
					if moved {
						moves.Add(1)
					}
					if e, ok := errors.AsType[*feed.Error](err); err != nil && (!ok || !strings.Contains(e.What, "still open")) {
						t.Error(err)
					}
				}
			})
		}
		work.Wait()
		if n := stop(); n > 0 {
			t.Errorf("%d inserts failed", n)
		}
		if moves.Load() < 10 {
			t.Errorf("only %d moves", moves.Load())
		}
		f.unique(500)
	})
}

// TestColumnsThatCannotBeFed get an error with a hint. Nothing is changed.
func TestColumnsThatCannotBeFed(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, f *fleet) {
		script := `CREATE TABLE bare (id int); CREATE TABLE words (id varchar(9) PRIMARY KEY); CREATE SEQUENCE falls INCREMENT -1; CREATE SEQUENCE turns MAXVALUE 99 CYCLE;`
		type refusal struct {
			column string
			block  int64
			want   string
		}
		refusals := []refusal{
			{"bare.id", 0, "the column has no sequence"},
			{"words.id", 0, "not an integer"},
			{"falls", 0, "its sequence goes down"},
			{"turns", 0, "has CYCLE"},
			{"none.id", 0, "there is no such column"},
			{"none", 0, "there is no sequence of this name"},
			{"a.b.c.d", 0, "not a column"},
			{"tiny.id", 20000, "blocks of 20000 do not fit"},
			{"ended.id", 0, "do not fit"},
		}
		if f.mysql {
			script += `CREATE SEQUENCE tiny_seq NOCACHE; CREATE TABLE tiny (id smallint PRIMARY KEY DEFAULT nextval(tiny_seq)); CREATE TABLE counts (id int AUTO_INCREMENT PRIMARY KEY);
				CREATE TABLE ended (id smallint PRIMARY KEY DEFAULT nextval(tiny_seq)); INSERT INTO ended VALUES (32760)`
			refusals = append(refusals, refusal{"counts.id", 0, "AUTO_INCREMENT"})
		} else {
			script += `CREATE TABLE tiny (id smallserial); CREATE TABLE ended (id smallserial); INSERT INTO ended VALUES (32760)`
		}
		i := f.add(script)
		for _, r := range refusals {
			o := f.options()
			o.DSNs, o.Block, o.Columns = f.dsns[i:], r.block, []feed.Column{{Column: r.column, Generator: "refused"}}
			err := feed.Up(t.Context(), o)
			if err == nil || !strings.Contains(err.Error(), r.want) {
				t.Errorf("%s: %v, want %q", r.column, err, r.want)
			}
		}
		if strings.Contains(f.out.String(), "draws") {
			t.Errorf("something was fed:\n%s", &f.out)
		}
	})
}

// TestPostgresColumns feeds columns with unusual names, in other schemas, of
// partitions, with identities, with Hibernate's increments, and near the end of
// their type.
func TestPostgresColumns(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, f *fleet) {
		if f.mysql {
			return
		}
		i := f.add(`CREATE SCHEMA "Sales"; CREATE TABLE "Sales"."It""em" ("Id" bigint GENERATED ALWAYS AS IDENTITY, note text);
			CREATE TABLE parts (id bigserial, day date) PARTITION BY RANGE (id); CREATE TABLE parts_1 PARTITION OF parts DEFAULT;
			CREATE SEQUENCE shared; CREATE TABLE uses (id bigserial); ALTER TABLE uses ALTER id SET DEFAULT nextval('shared');
			CREATE SEQUENCE hibernate_seq INCREMENT 50;
			COMMENT ON SEQUENCE shared IS 'of the shop';
			CREATE TABLE tiny (id smallserial); SELECT setval('tiny_id_seq', 20000)`)
		o := f.options()
		o.DSNs, o.Block = f.dsns[i:], 0
		o.Columns = nil
		for n, column := range []string{"\"Sales\".`It\"em`.\"Id\"", "PARTS.id", "uses.id", "hibernate_seq", "tiny.id"} {
			o.Columns = append(o.Columns, feed.Column{Column: column, Generator: fmt.Sprintf("g%d", n)})
		}
		if err := feed.Up(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		r, err := feed.Status(t.Context(), o)
		if err != nil || len(r.Problems) > 0 {
			t.Fatalf("%v %q", err, r.Problems)
		}
		steps := r.Feeds[3].State
		var hibernate, tiny, shared int64
		if err := f.dbs[i].QueryRowContext(t.Context(), "INSERT INTO uses DEFAULT VALUES RETURNING id").Scan(&shared); err != nil || shared != r.Feeds[2].State.First {
			t.Errorf("the column draws %d, and its sequence is at %d, %v", shared, r.Feeds[2].State.First, err)
		}
		if err := f.dbs[i].QueryRowContext(t.Context(), "SELECT nextval('hibernate_seq'), nextval('tiny_id_seq')").Scan(&hibernate, &tiny); err != nil {
			t.Fatal(err)
		}
		if hibernate != steps.First || (steps.Last-steps.First)/50 < 1000 || tiny <= 20000 || tiny > 32767 {
			t.Errorf("drawn %d of %d to %d, and %d", hibernate, steps.First, steps.Last, tiny)
		}
		f.exec(i, `INSERT INTO "Sales"."It""em" (note) VALUES ('x'); INSERT INTO parts (day) VALUES (now())`)
		if err := feed.Down(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		var comment string
		if err := f.dbs[i].QueryRowContext(t.Context(), "SELECT obj_description('shared'::regclass, 'pg_class')").Scan(&comment); err != nil || comment != "of the shop" {
			t.Errorf("the comment is %q, %v", comment, err)
		}
	})
}

// TestMariaDBColumns feeds a column with unusual names, and keeps the comment of its
// sequence.
func TestMariaDBColumns(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, 1000, engines[1].table)
	i := f.add("CREATE SEQUENCE `it``s` COMMENT = 'C:\\\\shop'; CREATE TABLE `It's` (`Id` bigint PRIMARY KEY DEFAULT nextval(`it``s`), note text)")
	o := f.options()
	o.DSNs, o.Columns = f.dsns[i:], []feed.Column{{Column: "\"It's\".id", Generator: "its"}}
	if err := feed.Up(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if r, err := feed.Status(t.Context(), o); err != nil || len(r.Problems) > 0 {
		t.Errorf("%v %q", err, r.Problems)
	}
	if err := feed.Down(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	var comment string
	if err := f.dbs[i].QueryRowContext(t.Context(), "SELECT table_comment FROM information_schema.tables WHERE table_name = 'it`s'").Scan(&comment); err != nil || comment != `C:\shop` {
		t.Errorf("the comment is %q, %v", comment, err)
	}
}

// TestServersLeaveItAfterDown: the servers do not move a sequence again after down, even
// before they have read the list of sequences again, and if down and up named it with
// other words.
func TestServersLeaveItAfterDown(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, f *fleet) {
		o := f.options()
		o.Cron = false
		other := o
		other.DSNs = nil
		for _, dsn := range o.DSNs {
			other.DSNs = append(other.DSNs, map[bool]string{false: dsn + "&connect_timeout=9", true: dsn + "?timeout=9s"}[f.mysql])
		}
		other.Columns = []feed.Column{{Column: map[bool]string{false: "public.orders.id", true: "orders_seq"}[f.mysql], Generator: "orders"}}
		if err := errors.Join(feed.Up(t.Context(), o), feed.Down(t.Context(), other)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(11 * time.Second) //nolint:forbidigo // each server looks every 10 s
		for _, l := range f.status().Feeds {
			if l.State.First != 1 || l.State.Note.Generator != "" {
				t.Errorf("a server has moved it to %d to %d", l.State.First, l.State.Last)
			}
		}
	})
}

// TestOneColumnIsGone: the servers feed a column although another one of its database
// is gone. Later its table is replaced by one with another sequence, which they feed.
func TestOneColumnIsGone(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, f *fleet) {
		f.exec(0, map[bool]string{false: "CREATE TABLE gone (id serial)", true: "CREATE SEQUENCE gone_seq; CREATE TABLE gone (id bigint DEFAULT nextval(gone_seq))"}[f.mysql])
		o := f.options()
		o.DSNs, o.Cron = f.dsns[:1], false
		gone := o
		gone.Columns = []feed.Column{{Column: "gone.id", Generator: "gone"}}
		if err := errors.Join(feed.Up(t.Context(), gone), feed.Up(t.Context(), o)); err != nil {
			t.Fatal(err)
		}
		f.exec(0, "DROP TABLE gone")
		o.Ahead = time.Hour // the feeder connects again
		if err := feed.Up(t.Context(), o); err != nil {
			t.Error(err)
		}
		db, err := appdb.OpenPostgres(f.nextid)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var orders, other string
		for deadline := time.Now().Add(time.Minute); other == "" && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) { //nolint:forbidigo // a poll
			if err := db.QueryRowContext(t.Context(), `SELECT coalesce(max(CASE name WHEN 'orders' THEN last_error END), ''), coalesce(max(CASE name WHEN 'gone' THEN last_error END), '')
				FROM nextid.feeds`).Scan(&orders, &other); err != nil {
				t.Fatal(err)
			}
		}
		if orders != "" || !strings.Contains(other, "there is no such column") {
			t.Errorf("orders: %q; gone: %q", orders, other)
		}
		f.exec(0, map[bool]string{
			false: "ALTER TABLE orders RENAME TO old; CREATE TABLE orders (id serial PRIMARY KEY, note text)",
			true:  "RENAME TABLE orders TO old; CREATE SEQUENCE new_seq; CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT nextval(new_seq), note text)",
		}[f.mysql])
		for deadline := time.Now().Add(time.Minute); len(f.status().Problems) > 1 && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) { //nolint:forbidigo // a poll
		}
		if r := f.status(); len(r.Problems) > 1 { // the second database is not fed
			t.Errorf("with a new table: %q", r.Problems)
		}
	})
}

// TestSeveralHosts: of a database with several hosts, only cron feeds the sequences.
func TestSeveralHosts(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 0, 1000, engines[0].table)
	before := f.status().Feeds[0].State
	f.dsns[0] = strings.Replace(f.dsns[0], f.address, "127.0.0.1:1,"+f.address, 1)
	o := f.options()
	o.Cron = false
	if err := feed.Up(t.Context(), o); err == nil || !strings.Contains(err.Error(), "the URL names several") {
		t.Errorf("for servers: %v", err)
	}
	if now := f.status().Feeds[0].State; now.Last != before.Last {
		t.Errorf("changed: %+v", now)
	}
	f.up()
	f.sound()
}

// TestPrint: a dry run prints the statements, and changes nothing.
func TestPrint(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, f *fleet) {
		before := f.status().Feeds
		o := f.options()
		o.Dry, o.Server = true, nil
		if err := feed.Up(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if strings.Count(f.out.String(), "RESTART WITH") != 2 {
			t.Errorf("printed:\n%s", &f.out)
		}
		if now := f.status().Feeds; now[0].State.Last != before[0].State.Last || now[0].State.Next != before[0].State.Next {
			t.Errorf("changed: %+v", now[0].State)
		}
	})
}

// TestSizeFollowsTheRate: after a block that is used fast, the next one is longer.
// It stays within the column's type.
func TestSizeFollowsTheRate(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, f *fleet) {
		f.up()
		f.insert(0, 900)
		if err := feed.Once(t.Context(), f.options()); err != nil {
			t.Fatal(err)
		}
		s := f.status().Feeds[0].State
		size := s.Last - s.First + 1
		if f.mysql && size < 100_000 {
			t.Errorf("the next block of a bigint column has %d numbers after 900 in a few seconds", size)
		}
		if !f.mysql && size != 4000 {
			t.Errorf("the next block of an integer column has %d numbers, and the one before it 1000", size)
		}
	})
}
