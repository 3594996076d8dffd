package main

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
)

// rewrite replaces the content of a file, and makes the server reload.
func (s *process) rewrite(file, content string) {
	s.t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.signal(syscall.SIGHUP)
}

// A quota of the file limits SQL over both protocols and HTTP alike, and SIGHUP
// changes it.
func TestQuotasOfTheFile(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "nextid.yaml", "quotas:\n  - {user: app, ids: 3, per: 1h}\n  - {generator: inv_*, ids: 1, per: 1h, burst: 2}\n")
	s := startServer(t, nil, "--config", file, "--mysql", "127.0.0.1:0", "--http", "127.0.0.1:0")
	conn := connect(t, "postgres://app@"+s.address+"/nextid?sslmode=disable")
	for range 3 {
		draw(t, conn, "orders")
	}
	_, err := conn.Exec(t.Context(), "SELECT next_id('orders')")
	if e, ok := errors.AsType[*pgconn.PgError](err); !ok || e.Code != "53400" || e.Message != `quota of user "app" exceeded: 3 ids in 1h` || !strings.Contains(e.Hint, "Try again in ") {
		t.Errorf("PostgreSQL: %#v", err)
	}
	db, err := sql.Open("mysql", "app@tcp("+s.mysql+")/nextid")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, err = db.ExecContext(t.Context(), "SELECT next_id('orders')")
	if e, ok := errors.AsType[*mysql.MySQLError](err); !ok || e.Number != 1226 {
		t.Errorf("MySQL: %v", err)
	}
	for i, want := range []int{http.StatusOK, http.StatusOK, http.StatusTooManyRequests} {
		answer, err := http.Post("http://"+s.http+"/api/v1/generators/inv_1/ids", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if after := answer.Header.Get("Retry-After"); answer.StatusCode != want || (want != http.StatusOK) != (after > "3500") {
			t.Errorf("request %d: %s, Retry-After %s", i, answer.Status, after)
		}
	}

	s.rewrite(file, "quotas:\n  - {user: app, ids: 3, per: 1h}\n")
	s.waitLine(`msg="reload: the configuration was read" in_force=quotas`)
	if answer, err := http.Post("http://"+s.http+"/api/v1/generators/inv_1/ids", "", nil); err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("a quota that is gone: %v %v", answer, err)
	}
	_, err = conn.Exec(t.Context(), "SELECT next_id('orders')")
	if sqlState(t, err) != "53400" {
		t.Errorf("a quota that stayed began anew: %v", err)
	}
	s.rewrite(file, "")
	s.waitLine("in_force=quotas")
	draw(t, conn, "orders")
	if _, body := s.ask("/metrics"); !strings.Contains(body, "nextid_errors_total{protocol=\"pg\",sqlstate=\"53400\"} 2") {
		t.Error("the refusals are not counted")
	}
}

// SIGHUP applies the settings that can change while the server runs, and names
// those that need a restart. A wrong file changes nothing.
func TestReloadOfTheConfiguration(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "nextid.yaml", "log_level: warn\n")
	s := startServer(t, nil, "--config", file)
	s.rewrite(file, "log_level: debug\nlayout: baidu\nstore_password: x\ngenerators: {orders: {kind: segment}}\n")
	if line := s.waitLine("need a restart"); !strings.Contains(line, `keys="store_password layout generators"`) {
		t.Error(line)
	}
	s.waitLine(`in_force=log_level`)
	admin := s.connect()
	for key, want := range map[string]string{
		"log_level": "debug|info|" + file + ":1|false", "layout": "twitter|twitter|default|true", "store_password": "||default|true",
		"http": "off|127.0.0.1:8433|--http|true", "limits.portals": "64|64|default|true", "quotas": "||default|false",
	} {
		var value, standard, source string
		var restart bool
		row := admin.QueryRow(t.Context(), "SELECT value, default_value, source, needs_restart FROM nextid.settings WHERE name = $1", key)
		if err := row.Scan(&value, &standard, &source, &restart); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%s|%s|%s|%v", value, standard, source, restart); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
	s.rewrite(file, "loglevel: info\n")
	if line := s.waitLine("the configuration stays as it was"); !strings.Contains(line, "loglevel: unknown key; did you mean") {
		t.Error(line)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	s.signal(syscall.SIGHUP)
	if line := s.waitLine("the configuration stays as it was"); !strings.Contains(line, filepath.Base(file)) {
		t.Error(line)
	}
	draw(t, s.connect(), "orders")
}
