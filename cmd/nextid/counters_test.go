package main

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"nextid/dbtest"
)

func answerTo(t *testing.T, s *process, query string) string {
	t.Helper()
	var answer string
	if err := s.connect().QueryRow(t.Context(), query).Scan(&answer); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return answer
}

// TestTakeoverFromLeafAndFlickr takes a tag of Leaf over, and draws from Flickr's
// table, with a password from the file.
func TestTakeoverFromLeafAndFlickr(t *testing.T) {
	t.Parallel()
	my := dbtest.MariaDB(t)
	db, err := sql.Open("mysql", "root@tcp("+my.Addr+")/test")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{
		"CREATE TABLE leaf_alloc (biz_tag varchar(128) PRIMARY KEY, max_id bigint NOT NULL, step int NOT NULL, description varchar(256))",
		"INSERT INTO leaf_alloc VALUES ('orders', 2001, 2000, 'all orders')",
		"CREATE TABLE Tickets64 (id bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY, stub char(1) NOT NULL DEFAULT '', UNIQUE KEY stub (stub)) ENGINE=InnoDB",
		"INSERT INTO Tickets64 (id, stub) VALUES (1000, 'a')",
		"CREATE USER ids@'127.0.0.1' IDENTIFIED BY 'secret'", "GRANT ALL ON test.* TO ids@'127.0.0.1'",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	passwords := filepath.Join(t.TempDir(), "passwords")
	if err := os.WriteFile(passwords, []byte("127.0.0.1:*:test:ids:secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServer(t, []string{"NEXTID_DATABASE_PASSWORDS=" + passwords})
	url := my.MySQLURL("ids", "test")
	for range 2 {
		if got := answerTo(t, s, "SELECT import_generator('orders', 'leaf', '"+url+"')"); !strings.Contains(got, "goes on at 2001; fenced: ") {
			t.Error(got)
		}
	}
	if id := draw(t, s.connect(), "orders"); id != 2001 {
		t.Errorf("%d is the first id after Leaf's 2000", id)
	}
	if got := answerTo(t, s, "SELECT import_generator('orders', 'leaf', '"+url+"')"); !strings.Contains(got, "goes on at 2002; fenced: ") {
		t.Errorf("after a draw: %s", got)
	}
	refusals(t, s, db, url)
	answerTo(t, s, `SELECT create_generator('photos', 'ticket', '{"databases": ["`+url+`"], "table": "Tickets64"}')`)
	if id := draw(t, s.connect(), "photos"); id != 1001 {
		t.Errorf("%d is the first id after Flickr's 1000", id)
	}
	if _, err := s.connect().Exec(t.Context(), "SELECT import_generator('orders', 'oracle', '"+url+"')"); err == nil || !strings.Contains(err.Error(), "22023") {
		t.Errorf("an unknown system: %v", err)
	}
	if id := draw(t, s.connect(), "flakes"); id < 1<<40 {
		t.Fatal("not a snowflake")
	}
	if _, err := s.connect().Exec(t.Context(), "SELECT import_generator('flakes', 'leaf', '"+url+"')"); err == nil || !strings.Contains(err.Error(), "0A000") {
		t.Errorf("into a snowflake: %v", err)
	}
}

// refusals tries imports that are refused: names under which greater numbers were
// reserved, and a name that shares its numbers with other databases. The other
// system goes on undisturbed.
func refusals(t *testing.T, s *process, db *sql.DB, url string) {
	for _, statement := range []string{
		"CREATE TABLE tiny_id_info (biz_type varchar(63) PRIMARY KEY, max_id bigint, step int, delta int, remainder int)",
		"INSERT INTO tiny_id_info VALUES ('odd', 5000, 100, 2, 1), ('bills', 5000, 100, 1, 0), ('gone', 5000, 100, 1, 0)",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	for _, statement := range []string{
		"SELECT create_generator('odd', 'segment')",
		`SELECT create_generator('bills', 'segment', '{"start": 7000}')`, "SELECT next_id('bills')",
		`SELECT create_generator('gone', 'counter', '{"start": 8000}')`, "SELECT next_id('gone')", "SELECT drop_generator('gone')",
	} {
		answerTo(t, s, statement)
	}
	for name, want := range map[string]string{
		"odd": "only 5001, 5003, … is", "bills": "the other system goes on at 5001", "gone": "the other system goes on at 5001",
	} {
		_, err := s.connect().Exec(t.Context(), "SELECT import_generator('"+name+"', 'tinyid', '"+url+"')")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "55000") {
			t.Errorf("%s: %v", name, err)
		}
	}
	var left int
	if err := db.QueryRow("SELECT COUNT(*) FROM tiny_id_info WHERE biz_type IN ('odd', 'bills', 'gone')").Scan(&left); err != nil || left != 3 {
		t.Errorf("%d of 3 rows are without a fence, %v", left, err)
	}
}

// TestAnImportBesideOtherServers: a server that has reserved numbers of the name
// gives them up when it reads the store, and the answer says so. Its next
// reservation is above.
func TestAnImportBesideOtherServers(t *testing.T) {
	t.Parallel()
	place := prepared(t, "mysql")
	db, err := sql.Open("mysql", "root@tcp("+strings.TrimSuffix(strings.TrimPrefix(place.url, "mysql://root@"), "/test")+")/test")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{
		"CREATE TABLE leaf_alloc (biz_tag varchar(128) PRIMARY KEY, max_id bigint NOT NULL, step int NOT NULL, description varchar(256))",
		"INSERT INTO leaf_alloc VALUES ('orders', 2001, 2000, ''), ('fresh', 2001, 2000, '')",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	one, other := startServer(t, nil, "--store", place.url), startServer(t, nil, "--store", place.url)
	answerTo(t, one, "SELECT create_generator('orders', 'segment', step => 100)")
	if id := draw(t, other.connect(), "orders"); id != 1 {
		t.Fatalf("the first id is %d", id)
	}
	const told = "numbers below 101 were reserved under this name before: another server that holds some gives them up within 5s"
	if got := answerTo(t, one, "SELECT import_generator('orders', 'leaf', '"+place.url+"')"); !strings.Contains(got, "goes on at 2001") || !strings.Contains(got, told) {
		t.Error(got)
	}
	for _, statement := range []string{
		"SELECT import_generator('orders', 'leaf', '" + place.url + "')", // a second time
		"SELECT import_generator('fresh', 'leaf', '" + place.url + "')",
	} {
		if got := answerTo(t, one, statement); !strings.Contains(got, "goes on at 2001") || strings.Contains(got, "reserved") {
			t.Error(got)
		}
	}
	seen := map[int64]bool{1: true, draw(t, one.connect(), "orders"): true}
	conn := other.connect()
	above := 0
	for end := time.Now().Add(30 * time.Second); above < 100; {
		id := draw(t, conn, "orders")
		if seen[id] || id > 50 && id <= 2001 || time.Now().After(end) {
			t.Fatalf("the other server gave %d", id)
		}
		seen[id] = true
		if id > 2001 {
			above++
		} else {
			time.Sleep(200 * time.Millisecond) // the server reads the store every 5 s; 30 numbers until then
		}
	}
}

// TestCounterHasNoGaps draws over several connections, with a clean restart in
// between, and then a kill -9, which may lose what was being drawn.
func TestCounterHasNoGaps(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	var mu sync.Mutex
	var all []int64
	run := func(s *process, clients int) {
		var wg sync.WaitGroup
		for range clients {
			conn := s.connect()
			wg.Go(func() {
				for range 100 {
					id, err := drawOnce(context.Background(), conn, "bills")
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					all = append(all, id)
					mu.Unlock()
				}
			})
		}
		wg.Wait()
	}
	s := startServer(t, nil, "--data", data)
	answerTo(t, s, "SELECT create_generator('bills', 'counter')")
	run(s, 4)
	s.signal(syscall.SIGTERM)
	s.wait()
	s = startServer(t, nil, "--data", data)
	run(s, 4)
	s.kill9() // no draw is running
	s = startServer(t, nil, "--data", data)
	run(s, 1)
	slices.Sort(all)
	for i, id := range all {
		if id != int64(i+1) {
			t.Fatalf("number %d is %d", i+1, id)
		}
	}
}
