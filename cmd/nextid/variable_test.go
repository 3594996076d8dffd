package main

import (
	"database/sql"
	"net"
	"testing"
	"time"
)

// TestVariablesSayWhatIsConfigured: SHOW VARIABLES is true of the server.
func TestVariablesSayWhatIsConfigured(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil, "--mysql", "127.0.0.1:0")
	db, err := sql.Open("mysql", "anybody@tcp("+s.mysql+")/nextid")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, port, err := net.SplitHostPort(s.mysql)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"port": port, "bind_address": "127.0.0.1", "skip_networking": "OFF", "max_connections": "5000", "wait_timeout": "31536000",
		"have_ssl": "DISABLED", "have_openssl": "DISABLED", "have_compress": "NO", "have_geometry": "NO", "local_infile": "OFF",
		"log_bin": "OFF", "event_scheduler": "OFF", "performance_schema": "OFF", "require_secure_transport": "OFF",
		"default_storage_engine": "nextid", "query_cache_size": "0",
	} {
		var got string
		if err := db.QueryRowContext(t.Context(), "SHOW GLOBAL VARIABLES LIKE '"+name+"'").Scan(new(string), &got); err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", name, got, err, want)
		}
	}
}

// TestParametersSayWhatIsConfigured: so are SHOW and pg_settings.
func TestParametersSayWhatIsConfigured(t *testing.T) {
	t.Parallel()
	s := startServer(t, []string{"NEXTID_LIMITS_CONNECTIONS=77", "NEXTID_LIMITS_LOGIN_TIMEOUT=2m", "NEXTID_LIMITS_IDLE_TIMEOUT=90s"})
	_, port, err := net.SplitHostPort(s.address)
	if err != nil {
		t.Fatal(err)
	}
	conn := s.connect()
	for name, want := range map[string][2]string{
		"port": {port, port}, "max_connections": {"77", "77"}, "ssl": {"off", "off"}, "authentication_timeout": {"2min", "120"},
		"idle_session_timeout": {"90s", "90000"}, "superuser_reserved_connections": {"0", "0"}, "statement_timeout": {"30s", "30000"},
	} {
		var shown, plain string
		if err := conn.QueryRow(t.Context(), "SHOW "+name).Scan(&shown); err != nil || shown != want[0] {
			t.Errorf("SHOW %s: %q %v, want %q", name, shown, err, want[0])
		}
		if err := conn.QueryRow(t.Context(), "SELECT setting FROM pg_settings WHERE name = $1", name).Scan(&plain); err != nil || plain != want[1] {
			t.Errorf("pg_settings of %s: %q %v, want %q", name, plain, err, want[1])
		}
	}
}

// TestStatusCounts: the counters that monitoring of MySQL servers reads grow.
func TestStatusCounts(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil, "--mysql", "127.0.0.1:0")
	db, err := sql.Open("mysql", "anybody@tcp("+s.mysql+")/nextid")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	read := func() map[string]int64 {
		rows, err := db.QueryContext(t.Context(), "SHOW GLOBAL STATUS WHERE Variable_name IN ('Bytes_received', 'Bytes_sent', 'Connections', 'Questions')")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		got := map[string]int64{}
		for rows.Next() {
			var name string
			var n int64
			if err := rows.Scan(&name, &n); err != nil {
				t.Fatal(err)
			}
			got[name] = n
		}
		if rows.Err() != nil || len(got) != 4 || got["Connections"] == 0 {
			t.Fatalf("%v, %v", got, rows.Err())
		}
		return got
	}
	before := read()
	<-time.After(100 * time.Millisecond) // the server sums them up again
	for _, name := range []string{"Bytes_received", "Bytes_sent", "Questions"} {
		if after := read(); after[name] <= before[name] {
			t.Errorf("%s: %d after %d", name, after[name], before[name])
		}
	}
}
