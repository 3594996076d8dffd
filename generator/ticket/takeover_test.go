package ticket

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	"nextid/dbtest"
	"nextid/generator"
	"nextid/migrations/shards"
)

func location(t *testing.T, url string) Location {
	t.Helper()
	l, err := ParseLocation(url)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func open(t *testing.T, url string, statements ...string) *sql.DB {
	t.Helper()
	db, err := location(t, url).OpenSQL(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(8)
	t.Cleanup(func() { db.Close() })
	for _, text := range statements {
		if _, err := db.Exec(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	return db
}

// takes takes a system over twice, and checks position and options.
func takes(t *testing.T, r TakeoverRequest, next int64, want string) {
	t.Helper()
	for range 2 {
		got, err := TakeOver(t.Context(), r, nil)
		if err != nil || got.Next != next || string(got.Options) != want {
			t.Fatalf("%+v: next %d, %s, %v, want %d, %s", r, got.Next, got.Options, err, next, want)
		}
	}
}

func refuses(t *testing.T, r TakeoverRequest, kind error, text string) {
	t.Helper()
	got, err := TakeOver(t.Context(), r, nil)
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), text) {
		t.Errorf("%+v: %+v, %v, want %q", r, got, err, text)
	}
}

// leafFetch reserves a block like a Leaf server: [max - step, max).
func leafFetch(db *sql.DB, tag string) (lo, hi int64, err error) {
	tx, err := db.Begin()
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err = tx.Exec("UPDATE leaf_alloc SET max_id = max_id + step WHERE biz_tag = ?", tag); err != nil {
		return 0, 0, err
	}
	var step int64
	if err = tx.QueryRow("SELECT max_id, step FROM leaf_alloc WHERE biz_tag = ?", tag).Scan(&hi, &step); err != nil {
		return 0, 0, err
	}
	return hi - step, hi, tx.Commit()
}

const leafTable = `CREATE TABLE leaf_alloc (biz_tag varchar(128) NOT NULL DEFAULT '', max_id bigint(20) NOT NULL DEFAULT '1', step int(11) NOT NULL,
description varchar(256) DEFAULT NULL, update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, PRIMARY KEY (biz_tag)) ENGINE=InnoDB`

const tinyidTable = `CREATE TABLE tiny_id_info (id bigint(20) unsigned NOT NULL AUTO_INCREMENT, biz_type varchar(63) NOT NULL DEFAULT '',
begin_id bigint(20) NOT NULL DEFAULT '0', max_id bigint(20) NOT NULL DEFAULT '0', step int(11) DEFAULT '0', delta int(11) NOT NULL DEFAULT '1',
remainder int(11) NOT NULL DEFAULT '0', create_time timestamp NOT NULL DEFAULT '2010-01-01 00:00:00', update_time timestamp NOT NULL DEFAULT '2010-01-01 00:00:00',
version bigint(20) NOT NULL DEFAULT '0', PRIMARY KEY (id), UNIQUE KEY uniq_biz_type (biz_type))`

func TestFromMySQL(t *testing.T) {
	t.Parallel()
	my := dbtest.MariaDB(t)
	url := my.MySQLURL("root", "test")
	db := open(t, url, leafTable, tinyidTable,
		"INSERT INTO leaf_alloc (biz_tag, max_id, step, description) VALUES ('leaf-segment-test', 1, 2000, 'Test leaf Segment\nGet Id')",
		"CREATE DATABASE second", "CREATE TABLE second.tiny_id_info LIKE tiny_id_info",
		"CREATE TABLE orders (order_id bigint AUTO_INCREMENT PRIMARY KEY, note text)",
		"INSERT INTO orders (note) VALUES ('a'), ('b'), ('c')", "DELETE FROM orders WHERE order_id = 3", "CREATE TABLE plain (id int)",
	)

	t.Run("Leaf", func(t *testing.T) {
		if lo, hi, err := leafFetch(db, "leaf-segment-test"); lo != 1 || hi != 2001 || err != nil {
			t.Fatal(lo, hi, err)
		}
		takes(t, TakeoverRequest{Name: "bills", System: "leaf", DSN: url, Options: json.RawMessage(`{"key":"leaf-segment-test"}`)}, 2001,
			`{"description":"Test leaf Segment Get Id","start":2001,"step":2000}`)
		if lo, hi, err := leafFetch(db, "leaf-segment-test"); !errors.Is(err, sql.ErrNoRows) {
			t.Errorf("Leaf got [%d, %d), %v through the fence", lo, hi, err)
		}
		refuses(t, TakeoverRequest{Name: "nobody", System: "leaf", DSN: url}, generator.ErrOption, "has no row \"nobody\"")
	})
	t.Run("a row that the other system makes again", func(t *testing.T) {
		for _, again := range []struct{ max, next int64 }{{1, 2001}, {7001, 9001}} {
			if _, err := db.Exec("INSERT INTO leaf_alloc (biz_tag, max_id, step, description) VALUES ('leaf-segment-test', ?, 2000, 'Test leaf Segment Get Id')", again.max); err != nil {
				t.Fatal(err)
			}
			if _, _, err := leafFetch(db, "leaf-segment-test"); err != nil {
				t.Fatal(err)
			}
			again.next = max(again.next, again.max+2000)
			takes(t, TakeoverRequest{Name: "bills", System: "leaf", DSN: url, Options: json.RawMessage(`{"key":"leaf-segment-test"}`)}, again.next,
				fmt.Sprintf(`{"description":"Test leaf Segment Get Id","start":%d,"step":2000}`, again.next))
			if lo, hi, err := leafFetch(db, "leaf-segment-test"); !errors.Is(err, sql.ErrNoRows) {
				t.Errorf("Leaf got [%d, %d), %v through the fence", lo, hi, err)
			}
		}
	})
	t.Run("Leaf under load", func(t *testing.T) { leafUnderLoad(t, url, db) })
	t.Run("Tinyid", func(t *testing.T) { tinyids(t, my, db) })
	t.Run("AUTO_INCREMENT", func(t *testing.T) {
		takes(t, TakeoverRequest{Name: "orders", System: "auto_increment", DSN: url}, 4, `{"start":4}`)
		if _, err := db.Exec("INSERT INTO orders (note) VALUES ('d')"); err == nil || !strings.Contains(err.Error(), "come from nextid now") {
			t.Errorf("%v: the table gives ids through the fence", err)
		}
		if _, err := db.Exec("INSERT INTO orders (order_id, note) VALUES (4, 'd')"); err != nil {
			t.Errorf("an id of nextid: %v", err)
		}
		refuses(t, TakeoverRequest{Name: "plain", System: "auto_increment", DSN: url}, generator.ErrOption, "has no AUTO_INCREMENT column")
	})
	t.Run("a fence waits in turns", func(t *testing.T) { fenceWaitsInTurns(t, url) })
	t.Run("two masters", func(t *testing.T) {
		open(t, url, "SET GLOBAL auto_increment_increment = 2", "SET GLOBAL auto_increment_offset = 2")
		second := open(t, url, "CREATE TABLE even (id bigint AUTO_INCREMENT PRIMARY KEY, n int)", "INSERT INTO even (n) VALUES (1), (2), (3)")
		takes(t, TakeoverRequest{Name: "even", System: "auto_increment", DSN: url}, 8, `{"increment":2,"start":8}`)
		if _, err := second.Exec("SET GLOBAL auto_increment_increment = 1"); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("a shard", func(t *testing.T) {
		my := dbtest.MariaDB(t) // its sessions all began after the change
		url, shard := my.MySQLURL("root", "mysql"), my.MySQLURL("root", "shard")
		_ = open(t, url, "CREATE DATABASE shard", "CREATE TABLE shard.odd (id bigint AUTO_INCREMENT PRIMARY KEY, n int)").Close()
		if err := shards.Up(t.Context(), []string{shard}, shards.Options{Increment: 16, Out: io.Discard}); err != nil {
			t.Fatal(err)
		}
		open(t, shard, "INSERT INTO odd (n) VALUES (1), (2), (3)")
		takes(t, TakeoverRequest{Name: "odd", System: "auto_increment", DSN: shard}, 49, `{"increment":16,"start":49}`)
		takes(t, TakeoverRequest{Name: "odd", System: "auto_increment", DSN: url, Options: json.RawMessage(`{"key":"shard.odd"}`)}, 49, `{"increment":16,"start":49}`)
	})
	t.Run("without a fence", func(t *testing.T) {
		open(t, url, "INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('free', 5001, 1000)")
		r, err := TakeOver(t.Context(), TakeoverRequest{Name: "free", System: "leaf", DSN: url, Options: json.RawMessage(`{"fence":false,"kind":"counter"}`)}, nil)
		if err != nil || r.Next != 5001 || r.Kind != "counter" || string(r.Options) != `{"start":5001}` || !strings.Contains(r.Report, "NOT fenced") {
			t.Errorf("%+v, %v", r, err)
		}
		if lo, _, err := leafFetch(db, "free"); lo != 5001 || err != nil {
			t.Errorf("%d, %v", lo, err)
		}
	})
	refuses(t, TakeoverRequest{Name: "x", System: "leaf", DSN: "mysql://nobody@" + my.Addr + "/nextid"}, generator.ErrNotNow, "mysql://nobody@")
}

// tinyids takes over databases of Tinyid whose series differ by delta and
// remainder. A database that is not taken over keeps its series.
func tinyids(t *testing.T, my *dbtest.Server, db *sql.DB) {
	url, second := my.MySQLURL("root", "test"), my.MySQLURL("root", "second")
	row := func(table, biz string, max, delta, remainder int) {
		t.Helper()
		if _, err := db.Exec("INSERT INTO "+table+" (biz_type, begin_id, max_id, step, delta, remainder) VALUES (?, 1, ?, 1000, ?, ?)", biz, max, delta, remainder); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		biz, dsn   string
		a, b       [3]int // max_id, delta and remainder
		next       int64
		want, part string
	}{
		{"one", url, [3]int{100001, 2, 1}, [3]int{300001, 2, 0}, 100003, `{"increment":2,"start":100003,"step":1000}`, "only every 2. number"},
		{"other", second, [3]int{100001, 2, 1}, [3]int{300001, 2, 0}, 300002, `{"increment":2,"start":300002,"step":1000}`, "only every 2. number"},
		{"both", url + " " + second, [3]int{100001, 2, 1}, [3]int{300001, 2, 0}, 300002, `{"start":300002,"step":1000}`, ""},
		{"halves", url + " " + second, [3]int{5000, 4, 1}, [3]int{5000, 4, 3}, 5001, `{"increment":2,"start":5001,"step":1000}`, "only every 2. number"},
		{"neighbors", url + " " + second, [3]int{5000, 4, 1}, [3]int{5000, 4, 2}, 5001, `{"increment":4,"start":5001,"step":1000}`, "only every 4. number"},
	} {
		row("tiny_id_info", tc.biz, tc.a[0], tc.a[1], tc.a[2])
		row("second.tiny_id_info", tc.biz, tc.b[0], tc.b[1], tc.b[2])
		r := TakeoverRequest{Name: tc.biz, System: "tinyid", DSN: tc.dsn}
		takes(t, r, tc.next, tc.want)
		if got, err := TakeOver(t.Context(), r, nil); err != nil || !strings.Contains(got.Report, tc.part) {
			t.Errorf("%s: %q, %v", tc.biz, got.Report, err)
		}
	}
	r, err := db.Exec("UPDATE tiny_id_info SET max_id = 101001, version = 1 WHERE id = 1 AND max_id = 100001 AND version = 0 AND biz_type = 'one'")
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := r.RowsAffected(); n != 0 {
		t.Error("Tinyid got a block through the fence")
	}

	// An error of any database or of the caller leaves all of them unchanged.
	row("tiny_id_info", "half", 1000, 2, 1)
	refuses(t, TakeoverRequest{Name: "half", System: "tinyid", DSN: url + " " + second}, generator.ErrOption, "has no row")
	row("second.tiny_id_info", "half", 1000, 3, 1)
	refuses(t, TakeoverRequest{Name: "half", System: "tinyid", DSN: url + " " + second}, generator.ErrOption, "in steps of 2 and of 3")
	declined := errors.New("declined")
	_, err = TakeOver(t.Context(), TakeoverRequest{Name: "half", System: "tinyid", DSN: url, Agree: func(r Takeover) error {
		if r.Next != 1001 || r.Increment != 2 || r.Fenced {
			t.Errorf("agree is asked about %+v", r)
		}
		return declined
	}}, nil)
	var left int
	if scan := db.QueryRow("SELECT COUNT(*) FROM tiny_id_info WHERE biz_type = 'half'").Scan(&left); !errors.Is(err, declined) || scan != nil || left != 1 {
		t.Errorf("%v, %v: %d rows without a fence", err, scan, left)
	}
}

// A long transaction uses the table. Others get the lock while the fence waits, and
// the fence is made when the transaction ends.
func fenceWaitsInTurns(t *testing.T, url string) {
	db := open(t, url, "CREATE TABLE used (id bigint AUTO_INCREMENT PRIMARY KEY, n int)", "INSERT INTO used (n) VALUES (1)")
	long, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := long.Exec("SELECT n FROM used"); err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() {
		_, err := TakeOver(context.Background(), TakeoverRequest{Name: "used", System: "auto_increment", DSN: url}, nil)
		read <- err
	}()
	// Two INSERTs come while the fence waits, and get the lock.
	late, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for turns := 0; turns < 2; <-time.After(10 * time.Millisecond) {
		begun := time.Now()
		if _, err := db.ExecContext(late, "INSERT INTO used (n) VALUES (2)"); err != nil {
			t.Fatalf("%d turns, then %v", turns, err)
		}
		if time.Since(begun) > lockWait/2 {
			turns++
		}
	}
	if err := long.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-read; err != nil {
		t.Error(err)
	}
	if _, err := db.Exec("INSERT INTO used (n) VALUES (3)"); err == nil {
		t.Error("there is no fence")
	}
}

// Hints fit the error.
func TestHints(t *testing.T) {
	t.Parallel()
	l := location(t, "mysql://ids@h/d")
	for _, tc := range []struct {
		err  error
		hint string
	}{
		{&mysql.MySQLError{Number: 1045}, "database_passwords"},
		{&mysql.MySQLError{Number: 1419}, "log_bin_trust_function_creators"},
		{&mysql.MySQLError{Number: 1205}, "nothing was changed"},
		{&mysql.MySQLError{Number: 1142}, "needs the right"},
		{&mysql.MySQLError{Number: 1146}, "key => "},
		{&pgconn.PgError{Code: "42501"}, "needs the right"},
		{&pgconn.PgError{Code: "28P01"}, "database_passwords"},
		{errors.New("connection refused"), "Is the database up"},
	} {
		var e *generator.Error
		if !errors.As(explain(l, systems[0], tc.err), &e) || !strings.Contains(e.Hint, tc.hint) {
			t.Errorf("%v: %+v, want %q", tc.err, e, tc.hint)
		}
	}
}

// Leaf servers reserve blocks during the takeover: their numbers are below the
// position.
func leafUnderLoad(t *testing.T, url string, db *sql.DB) {
	open(t, url, "INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('busy', 1, 10)")
	var newest, fetches atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				_, hi, err := leafFetch(db, "busy")
				if err != nil {
					return
				}
				fetches.Add(1)
				for seen := newest.Load(); hi > seen && !newest.CompareAndSwap(seen, hi); seen = newest.Load() {
				}
			}
		})
	}
	for end := time.Now().Add(20 * time.Second); fetches.Load() < 20 && time.Now().Before(end); {
		<-time.After(5 * time.Millisecond)
	}
	r, err := TakeOver(t.Context(), TakeoverRequest{Name: "busy", System: "leaf", DSN: url}, nil)
	wg.Wait()
	if err != nil || r.Next != newest.Load() {
		t.Errorf("goes on at %d, %v; Leaf came to %d", r.Next, err, newest.Load())
	}
}

func TestFromPostgres(t *testing.T) {
	t.Parallel()
	pg := dbtest.Postgres(t)
	url := pg.PostgresURL("postgres")
	db := open(t, url,
		"CREATE SEQUENCE used", "SELECT nextval('used') FROM generate_series(1, 41)",
		"CREATE SEQUENCE fresh", "CREATE SEQUENCE shard INCREMENT BY 3 START WITH 2", "SELECT nextval('shard') FROM generate_series(1, 4)",
		"CREATE SEQUENCE down INCREMENT BY -1", "CREATE TABLE t (id serial PRIMARY KEY, n int)", "INSERT INTO t (n) VALUES (1), (2)",
		"CREATE TABLE cosid (name varchar(100) PRIMARY KEY, last_max_id bigint, last_fetch_time bigint)", "INSERT INTO cosid VALUES ('a.b', 500, 1)",
		"CREATE SEQUENCE busy CACHE 5", "CREATE SEQUENCE full_one MAXVALUE 3", "SELECT nextval('full_one') FROM generate_series(1, 3)",
	)
	for _, tc := range []struct {
		key     string
		next    int64
		options string
	}{
		{"used", 42, `{"start":42}`},
		{"fresh", 3, `{"start":3}`}, // a fenced sequence passes at least two numbers
		{"shard", 14, `{"increment":3,"start":14}`},
		{"t_id_seq", 3, `{"start":3}`},
		{"full_one", 4, `{"start":4}`},
	} {
		takes(t, TakeoverRequest{Name: "x", System: "sequence", DSN: url, Options: json.RawMessage(`{"key":"` + tc.key + `"}`)}, tc.next, tc.options)
		var id int64
		if err := db.QueryRow("SELECT nextval('" + tc.key + "')").Scan(&id); err == nil || !strings.Contains(err.Error(), "reached maximum value") {
			t.Errorf("%s gave %d, %v through the fence", tc.key, id, err)
		}
	}
	takes(t, TakeoverRequest{Name: "a.b", System: "cosid", DSN: url}, 501, `{"start":501}`)
	refuses(t, TakeoverRequest{Name: "down", System: "sequence", DSN: url}, generator.ErrOption, "descends")
	refuses(t, TakeoverRequest{Name: "t", System: "sequence", DSN: url}, generator.ErrOption, "is not a sequence")
	refuses(t, TakeoverRequest{Name: "missing", System: "sequence", DSN: url}, generator.ErrNotNow, "does not exist")
	t.Run("under load", func(t *testing.T) {
		var newest, drawn atomic.Int64
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for {
					var id int64
					if db.QueryRow("SELECT nextval('busy')").Scan(&id) != nil {
						return
					}
					drawn.Add(1)
					for seen := newest.Load(); id > seen && !newest.CompareAndSwap(seen, id); seen = newest.Load() {
					}
				}
			})
		}
		for end := time.Now().Add(20 * time.Second); drawn.Load() < 50 && time.Now().Before(end); {
			<-time.After(5 * time.Millisecond)
		}
		r, err := TakeOver(t.Context(), TakeoverRequest{Name: "busy", System: "sequence", DSN: url}, nil)
		wg.Wait()
		if err != nil || newest.Load() >= r.Next {
			t.Errorf("goes on at %d, %v; the sequence came to %d", r.Next, err, newest.Load())
		}
	})
}

func TestFromRedis(t *testing.T) {
	t.Parallel()
	re := dbtest.Redis(t)
	url := re.URL
	c, err := location(t, url).OpenRedis(nil, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, command := range [][]any{{"INCRBY", "order:20261121", 40}, {"SET", "text", "abc"}} {
		if err := c.Do(t.Context(), command...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	takes(t, TakeoverRequest{Name: "bills", System: "redis", DSN: url, Options: json.RawMessage(`{"key":"order:20261121"}`)}, 41, `{"start":41}`)
	if n, err := c.Incr(t.Context(), "order:20261121").Result(); err == nil {
		t.Errorf("INCR gave %d through the fence", n)
	}
	refuses(t, TakeoverRequest{Name: "text", System: "redis", DSN: url}, generator.ErrOption, "holds no number")
	refuses(t, TakeoverRequest{Name: "nobody", System: "redis", DSN: url}, generator.ErrOption, "there is no key")
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		system, dsn, options, want string
	}{
		{"oracle", "mysql://h/d", "", "unknown id system"},
		{"leaf", "", "", "dsn is empty"},
		{"leaf", "redis://h", "", "leaf is not found on redis://h"},
		{"sequence", "mysql://h/d", "", "sequence is not found on"},
		{"leaf", "nonsense", "", "dsn: the URL begins with"},
		{"leaf", "mysql://h/d", `{"kind":"snowflake"}`, "kind must be segment or counter"},
		{"leaf", "mysql://h/d", `{"what":1}`, "unknown option"},
	} {
		r := TakeoverRequest{Name: "x", System: tc.system, DSN: tc.dsn, Options: json.RawMessage(tc.options)}
		if _, err := TakeOver(t.Context(), r, nil); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: %v, want %q", tc, err, tc.want)
		}
	}
}
