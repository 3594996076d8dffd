package feed_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"nextid/dbtest"
	"nextid/migrations/appdb"
	"nextid/migrations/feed"
)

// sequence is the name of the sequence of orders.id.
func (f *fleet) sequence() string {
	return map[bool]string{false: "orders_id_seq", true: "orders_seq"}[f.mysql]
}

// restore replaces the server by one whose store was restored from a backup: its
// generator goes on at a number.
func (f *fleet) restore(start int64) {
	f.t.Helper()
	f.replaceServer()
	db, err := appdb.OpenPostgres(f.nextid)
	if err != nil {
		f.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(f.t.Context(), "SELECT create_generator('orders', 'segment', $1)", fmt.Sprintf(`{"start": %d}`, start)); err != nil {
		f.t.Fatal(err)
	}
}

// TestOnceAfterARestore: the generator has gone back. once moves a sequence above the
// blocks of all databases.
func TestOnceAfterARestore(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, f *fleet) {
		f.up()
		before := f.status().Feeds
		f.insert(0, 600)
		f.restore(before[0].State.Last + 1)
		if err := feed.Once(t.Context(), f.options()); err != nil {
			t.Fatal(err)
		}
		if now := f.status().Feeds; now[0].State.First <= before[1].State.Last {
			t.Errorf("moved to %d to %d, and the other database draws %d to %d", now[0].State.First, now[0].State.Last, before[1].State.First, before[1].State.Last)
		}
		f.replaceServer()
		f.insert(1, 600)
		if err := feed.Once(t.Context(), f.options()); err == nil || !strings.Contains(err.Error(), "it has no generator orders") {
			t.Errorf("without the generator: %v", err)
		}
		f.up()
	})
}

// TestOnceWithoutOneDatabase: once moves what it reaches, and fails at the end.
func TestOnceWithoutOneDatabase(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, f *fleet) {
		f.up()
		before := f.status().Feeds
		f.insert(1, 600)
		o := f.options()
		o.DSNs = []string{strings.Replace(f.dsns[0], f.address, "127.0.0.1:1", 1), f.dsns[1]}
		if err := feed.Once(t.Context(), o); err == nil || !strings.Contains(err.Error(), "no connection") {
			t.Errorf("once: %v", err)
		}
		if now := f.status().Feeds; now[1].State.First == before[1].State.First {
			t.Error("the other database was not moved")
		}
	})
}

// TestOnceBesideAnOpenTransaction: cron runs once again and again while a transaction
// keeps the sequence. No run draws a block.
func TestOnceBesideAnOpenTransaction(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, f *fleet) {
		f.up()
		f.insert(0, 600)
		tx, err := f.dbs[0].BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tx.Rollback() }()
		if _, err := tx.ExecContext(t.Context(), "INSERT INTO orders (note) VALUES ('open')"); err != nil {
			t.Fatal(err)
		}
		position := func() int64 {
			n, err := f.server.Draw(t.Context(), "orders", 0, 1)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		before := position()
		for range 2 {
			if err := feed.Once(t.Context(), f.options()); err == nil || !strings.Contains(err.Error(), "still open") {
				t.Errorf("once: %v", err)
			}
		}
		if drawn := position() - before - 1; drawn != 0 {
			t.Errorf("%d numbers were drawn", drawn)
		}
	})
}

// TestStatusSeesOtherChanges: changes after which ids come back, or leave the block.
func TestStatusSeesOtherChanges(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, f *fleet) {
		for _, c := range []struct{ change, want, back string }{
			{"INCREMENT BY -1", "goes down", "INCREMENT BY 1"},
			{"INCREMENT BY 50", "was changed", "INCREMENT BY 1"},
			{"CYCLE", "has CYCLE", map[bool]string{false: "NO CYCLE", true: "NOCYCLE"}[f.mysql]},
			{"RESTART", "ids that were drawn come again", "INCREMENT BY 1"},
		} {
			f.up()
			f.insert(0, 60)
			f.exec(0, "ALTER SEQUENCE "+f.sequence()+" "+c.change)
			if r := f.status(); len(r.Problems) != 1 || !strings.Contains(r.Problems[0], c.want) {
				t.Errorf("after %s: %q", c.change, r.Problems)
			}
			f.exec(0, "ALTER SEQUENCE "+f.sequence()+" "+c.back)
		}
	})
}

// TestRefusedMovesKeepTheBlock: a database that refuses moves, as one that is
// read-only, costs one block.
func TestRefusedMovesKeepTheBlock(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, f *fleet) {
		f.up()
		name := "reader" + f.dsns[0][strings.LastIndex(f.dsns[0], "/")+1:][4:5]
		database := strings.TrimSuffix(f.dsns[0][strings.LastIndex(f.dsns[0], "/")+1:], "?sslmode=disable")
		if f.mysql {
			f.exec(0, "CREATE USER "+name+"@localhost; GRANT SELECT, LOCK TABLES ON "+database+".* TO "+name+"@localhost")
			defer f.exec(0, "DROP USER "+name+"@localhost")
		} else {
			f.exec(0, "CREATE ROLE "+name+" LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO "+name+"; GRANT SELECT ON ALL SEQUENCES IN SCHEMA public TO "+name)
			defer f.exec(0, "DROP OWNED BY "+name+"; DROP ROLE "+name)
		}
		var draws atomic.Int64
		one := f.feed(strings.NewReplacer("root@", name+"@", "postgres@", name+"@").Replace(f.dsns[0]), func(ctx context.Context, generator string, above, n int64) (int64, error) {
			draws.Add(1)
			return f.server.Draw(ctx, generator, above, n)
		})
		for range 5 {
			if _, _, err := one.Step(t.Context(), true); err == nil {
				t.Error("moved")
			}
		}
		if n := draws.Load(); n != 1 {
			t.Errorf("%d blocks were drawn", n)
		}
	})
}

// TestAnswersThatNeverCome: the network to the database is lost after the move. The
// step ends with its context.
func TestAnswersThatNeverCome(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, f *fleet) {
		f.up()
		proxy := dbtest.Cut(t, f.address)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		one := f.feed(strings.Replace(f.dsns[0], f.address, proxy.Addr, 1), func(ctx context.Context, generator string, above, n int64) (int64, error) {
			proxy.Set(dbtest.HoldAll)
			<-ctx.Done()
			return 0, ctx.Err()
		})
		began := time.Now()
		ended := make(chan error, 1)
		go func() {
			_, _, err := one.Step(ctx, true)
			ended <- err
		}()
		select {
		case err := <-ended:
			if err == nil {
				t.Error("moved")
			}
		case <-time.After(20 * time.Second):
			t.Errorf("the step goes on after %v", time.Since(began))
			proxy.Set(dbtest.Open)
			<-ended
		}
	})
}

// TestALockedSequence: somebody holds a sequence for long, as an open TRUNCATE does.
// A read of it ends with an error.
func TestALockedSequence(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, f *fleet) {
		f.up()
		conn, err := f.dbs[0].Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.ExecContext(t.Context(), map[bool]string{false: "BEGIN; TRUNCATE orders RESTART IDENTITY", true: "LOCK TABLES orders_seq WRITE"}[f.mysql]); err != nil {
			t.Fatal(err)
		}
		one := f.feeds(f.server.Draw)[0]
		began := time.Now()
		_, _, err = one.Step(t.Context(), true)
		if took := time.Since(began); err == nil || took > 15*time.Second {
			t.Errorf("a step took %v: %v", took, err)
		} else {
			t.Log(took, err)
		}
		if _, err := conn.ExecContext(t.Context(), map[bool]string{false: "ROLLBACK", true: "UNLOCK TABLES"}[f.mysql]); err != nil {
			t.Fatal(err)
		}
	})
}

// TestOneSequenceWithTwoNames is refused. Nothing is changed.
func TestOneSequenceWithTwoNames(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, f *fleet) {
		o := f.options()
		o.Columns = append(o.Columns, feed.Column{Column: f.sequence(), Generator: "others"})
		if err := feed.Up(t.Context(), o); err == nil || !strings.Contains(err.Error(), "by orders and others") {
			t.Errorf("up: %v", err)
		}
		if r := f.status(); r.Feeds[0].State.Note.Generator != "" || r.Feeds[0].State.Last < 1<<31-1 {
			t.Errorf("changed: %+v", r.Feeds[0].State)
		}
	})
}

// fedByServers registers the columns with the servers. They feed from a generator that
// begins at a number.
func (f *fleet) fedByServers(start int64, dsns ...string) {
	f.t.Helper()
	f.replaceServer()
	var feeds []string
	for _, dsn := range dsns {
		feeds = append(feeds, fmt.Sprintf(`"%s orders.id": {"ahead": "1h", "block": 1000}`, dsn))
	}
	db, err := appdb.OpenPostgres(f.nextid)
	if err != nil {
		f.t.Fatal(err)
	}
	defer db.Close()
	var rows int
	_, err = db.ExecContext(f.t.Context(), "SELECT create_generator('orders', 'segment', $1)", fmt.Sprintf(`{"start": %d, "feeds": {%s}}`, start, strings.Join(feeds, ", ")))
	if err = errors.Join(err, db.QueryRowContext(f.t.Context(), "SELECT count(*) FROM nextid.feeds").Scan(&rows)); err != nil { // has the servers read the list
		f.t.Fatal(err)
	}
}

// await waits until a sequence is in a block.
func (f *fleet) await(i int) {
	f.t.Helper()
	s := f.status().Feeds[i].State
	for deadline := time.Now().Add(time.Minute); !s.FedBy("orders"); time.Sleep(50 * time.Millisecond) { //nolint:forbidigo // a poll
		if s = f.status().Feeds[i].State; time.Now().After(deadline) {
			f.t.Fatalf("database %d is not fed: %+v", i, s)
		}
	}
}

// TestDownOfOneDatabase: down names the databases that the servers go on feeding, such as
// one that up knew under another host name.
func TestDownOfOneDatabase(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, f *fleet) {
		f.fedByServers(1, f.dsns...)
		f.await(1)
		o := f.options()
		o.DSNs = f.dsns[:1]
		if err := feed.Down(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if out := f.out.String(); strings.Count(out, "go on feeding") != 1 || !strings.Contains(out, f.dsns[1]) {
			t.Errorf("down says %s", out)
		}
	})
}

// TestServersFollowTheName: the name of a database moves to another server, as after a
// failover, and the old one goes on to answer. The servers feed the new one.
func TestServersFollowTheName(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, f *fleet) {
		proxy := dbtest.Cut(t, f.address)
		there := map[bool]func(testing.TB) string{false: func(t testing.TB) string {
			return strings.TrimPrefix(strings.Split(dbtest.QuickPostgres(t), "/postgres?")[0], "postgres://postgres@")
		}, true: func(t testing.TB) string {
			address, _ := dbtest.QuickMariaDB(t)
			return address
		}}[f.mysql](t)
		f.fedByServers(1, strings.Replace(f.dsns[0], f.address, proxy.Addr, 1))
		f.await(0)
		other := &fleet{t: t, mysql: f.mysql, address: there}
		name := strings.TrimSuffix(f.dsns[0][strings.LastIndex(f.dsns[0], "/")+1:], "?sslmode=disable")
		all := other.open(other.url(map[bool]string{true: "mysql", false: "postgres"}[f.mysql]))
		if _, err := all.ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
			t.Fatal(err)
		}
		other.dsns, other.dbs = []string{other.url(name)}, []*sql.DB{other.open(other.url(name))}
		other.exec(0, engines[map[bool]int{true: 1}[f.mysql]].table)
		proxy.To(there)
		other.await(0)
	})
}

// TestServersFeedBesideALockedSequence: one sequence of a database is locked. The
// servers feed the others.
func TestServersFeedBesideALockedSequence(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, f *fleet) {
		conn, err := f.dbs[0].Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		var names []string
		for i := range 2 {
			names = append(names, fmt.Sprintf("held%d", i))
			f.exec(0, fmt.Sprintf(map[bool]string{false: "CREATE TABLE %s (id serial)", true: "CREATE SEQUENCE %[1]s_seq; CREATE TABLE %[1]s (id bigint DEFAULT nextval(%[1]s_seq))"}[f.mysql], names[i]))
		}
		lock := "BEGIN; TRUNCATE " + strings.Join(names, ", ") + " RESTART IDENTITY"
		if f.mysql {
			lock = "LOCK TABLES " + strings.Join(names, "_seq WRITE, ") + "_seq WRITE"
		}
		if _, err := conn.ExecContext(t.Context(), lock); err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, name := range names {
			keys = append(keys, f.dsns[0]+" "+name+`.id": {"ahead": "1h"}, "`+f.dsns[0])
		}
		f.fedByServers(1, keys...)
		began := time.Now()
		f.await(0)
		t.Log(time.Since(began))
	})
}

// TestServersAfterARestore: the store of the servers was restored from a backup, and
// the generator has gone back. The servers read the blocks of all sequences before they
// move one above them.
func TestServersAfterARestore(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, f *fleet) {
		f.up()
		before := f.status().Feeds
		f.insert(0, 600)
		f.fedByServers(before[0].State.Last+1, f.dsns...)
		now := before
		for deadline := time.Now().Add(time.Minute); now[0].State.First == before[0].State.First && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) { //nolint:forbidigo // a poll
			now = f.status().Feeds
		}
		if now[0].State.First <= before[1].State.Last {
			t.Errorf("moved to %d to %d, and the other database draws %d to %d", now[0].State.First, now[0].State.Last, before[1].State.First, before[1].State.Last)
		}
	})
}

// TestGoneBack: a sequence goes back within its block, or to an earlier one, as after a
// failover. Its feeder moves it.
func TestGoneBack(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, f *fleet) {
		f.up()
		one := f.feeds(f.server.Draw)[0]
		first := f.insert(0, 60)[0]
		if _, moved, err := one.Step(t.Context(), false); moved || err != nil {
			t.Fatal(moved, err)
		}
		f.exec(0, "ALTER SEQUENCE "+f.sequence()+" RESTART")
		if s, moved, err := one.Step(t.Context(), false); !moved || err != nil || s.First <= first+900 {
			t.Errorf("moved %v to %d, %v", moved, s.First, err)
		}
		before := f.status().Feeds[0].State
		if _, moved, err := one.Step(t.Context(), true); !moved || err != nil {
			t.Fatal(moved, err)
		}
		f.exec(0, fmt.Sprintf("ALTER SEQUENCE "+f.sequence()+" MINVALUE %d MAXVALUE %d START WITH %[1]d RESTART WITH %[1]d", before.First, before.Last))
		f.exec(0, fmt.Sprintf(map[bool]string{false: "COMMENT ON SEQUENCE %s IS '%s'", true: "ALTER TABLE %s COMMENT = '%s'"}[f.mysql], f.sequence(), before.Note))
		if s, moved, err := one.Step(t.Context(), false); !moved || err != nil || s.First <= before.Last+1000 {
			t.Errorf("from an earlier block: moved %v to %d, %v", moved, s.First, err)
		}
	})
}

// TestNoHost: of a database without a host, only cron feeds the sequences. Nothing is
// changed.
func TestNoHost(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 0, 1000, engines[0].table)
	plain := f.dsns[0]
	_, port, _ := strings.Cut(f.address, ":")
	for _, url := range []string{plain + "&port=" + port, strings.Replace(plain, f.address, "", 1) + "&host=" + strings.Replace(f.address, ":", "&port=", 1)} {
		f.dsns[0] = url
		o := f.options()
		o.Cron = false
		if err := feed.Up(t.Context(), o); err == nil || !strings.Contains(err.Error(), "under one host") {
			t.Errorf("for servers: %v", err)
		}
	}
	if s := f.status().Feeds[0].State; s.Last < 1<<31-1 {
		t.Errorf("changed: %+v", s)
	}
	f.up()
	f.sound()
}

// TestStatusOfDatabasesOfOneName: two databases differ only in parameters of their URLs.
func TestStatusOfDatabasesOfOneName(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 0, 1000, engines[0].table)
	f.up()
	s := f.status().Feeds[0].State
	f.exec(1, fmt.Sprintf("ALTER SEQUENCE orders_id_seq MINVALUE %d MAXVALUE %d START WITH %[1]d RESTART; COMMENT ON SEQUENCE orders_id_seq IS '%[3]s'", s.First, s.Last, s.Note))
	name := f.dsns[1][strings.LastIndex(f.dsns[1], "/")+1:]
	f.dsns[1] = f.dsns[0] + "&database=" + strings.TrimSuffix(name, "?sslmode=disable")
	if r := f.status(); len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "both draw") {
		t.Errorf("status of a copy: %q", r.Problems)
	}
}

// TestHugeBlocks are refused. Nothing is changed.
func TestHugeBlocks(t *testing.T) {
	t.Parallel()
	onAll(t, func(t *testing.T, f *fleet) {
		f.block = 5_000_000_000_000_000_000
		if err := feed.Up(t.Context(), f.options()); err == nil || !strings.Contains(err.Error(), "do not fit") {
			t.Errorf("up: %v", err)
		}
		if s := f.status().Feeds[0].State; s.Last < 1<<31-1 {
			t.Errorf("changed: %+v", s)
		}
	})
}
