package clienttest

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"nextid/dbtest"
	"nextid/generator"
	"nextid/generator/history"
)

// pooled connects through a pooler, by default with unnamed statements only:
// PgBouncer before 1.21 does not support prepared statements.
func pooled(t *testing.T, address, parameters string) *pgx.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	config, err := pgx.ParseConfig("postgres://anybody@" + address + "/pool?sslmode=disable" + parameters)
	if err != nil {
		t.Fatal(err)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) }) // the test is over
	return conn
}

func one[T any](t *testing.T, conn interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}, sql string, args ...any,
) (value T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := conn.QueryRow(ctx, sql, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return value
}

func bouncer(t *testing.T, mode, port string, settings ...string) string {
	t.Helper()
	return dbtest.PgBouncer{Mode: mode, Server: "127.0.0.1:" + port, Database: "nextid", User: "app", Settings: settings}.Start(t)
}

// TestPgBouncer draws ids with many clients over two connections to the
// server, in each mode that PgBouncer has.
func TestPgBouncer(t *testing.T) {
	port := startServer(t)
	for _, mode := range []string{"session", "transaction", "statement"} {
		t.Run(mode, func(t *testing.T) {
			address := bouncer(t, mode, port, "server_check_delay = 0", "server_check_query = select 1", "server_reset_query = DISCARD ALL")
			clients := 12
			if mode == "session" {
				clients = 2 // each has a connection of its own while it is there
			}
			var log history.Log
			var wg sync.WaitGroup
			for range 2 { // the second time on connections that were reset
				for client := range clients {
					conn := pooled(t, address, "")
					wg.Go(func() {
						for range 20 {
							var id int64
							if err := conn.QueryRow(t.Context(), "SELECT next_id($1)", "pooled").Scan(&id); err != nil {
								t.Error(err)
								return
							}
							log.Add(history.Event{Name: "pooled", Client: client, Range: generator.Range{First: id, Count: 1, Step: 1}})
						}
						if mode != "statement" {
							if err := inTransaction(t.Context(), conn); err != nil {
								t.Error(err)
							}
						}
						_ = conn.Close(t.Context())
					})
				}
				wg.Wait()
			}
			if err := log.Check(); err != nil {
				t.Error(err)
			}
			if want := int64(2 * clients * 20); log.Len() != want {
				t.Errorf("%d ids, not %d", log.Len(), want)
			}
		})
	}
}

func inTransaction(ctx context.Context, conn *pgx.Conn) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	var first, second int64
	err1 := tx.QueryRow(ctx, "SELECT next_id('pooled_tx')").Scan(&first)
	err2 := tx.QueryRow(ctx, "SELECT next_id('pooled_tx')").Scan(&second)
	if second <= first {
		return fmt.Errorf("%d, then %d: %w", first, second, errors.Join(err1, err2))
	}
	return tx.Commit(ctx)
}

// After DISCARD ALL the next client gets no state of the last one.
func TestPgBouncerResetsSessions(t *testing.T) {
	address := bouncer(t, "session", startServer(t), "default_pool_size = 1", "server_reset_query = DISCARD ALL")
	ctx := t.Context()
	first := pooled(t, address, "")
	pid := one[int](t, first, "SELECT pg_backend_pid()")
	fresh := map[string]string{"TimeZone": "", "search_path": ""}
	for setting := range fresh {
		fresh[setting] = one[string](t, first, "SHOW "+setting)
	}
	for _, sql := range []string{
		"SET TimeZone = 'Europe/Paris'", "SET search_path = elsewhere", "PREPARE p AS SELECT 1",
		"DECLARE c CURSOR WITH HOLD FOR SELECT generate_series(1, 10)", "SELECT next_id('reset')",
	} {
		if _, err := first.Exec(ctx, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	if _, err := first.Prepare(ctx, "named", "SELECT next_id($1)"); err != nil { // the client keeps its connection
		t.Fatal(err)
	}
	one[int64](t, first, "named", "reset")
	_ = first.Close(ctx)

	second := pooled(t, address, "")
	if again := one[int](t, second, "SELECT pg_backend_pid()"); again != pid {
		t.Fatalf("the server's connection is another: %d, not %d", again, pid)
	}
	for setting, want := range fresh {
		if got := one[string](t, second, "SHOW "+setting); got != want {
			t.Errorf("%s is %q, not %q", setting, got, want)
		}
	}
	for sql, code := range map[string]string{"EXECUTE p": "26000", "FETCH c": "34000", "SELECT currval('reset')": "55000"} {
		_, err := second.Exec(ctx, sql)
		if pg, ok := errors.AsType[*pgconn.PgError](err); !ok || pg.Code != code {
			t.Errorf("%s: %v, not SQLSTATE %s", sql, err, code)
		}
	}
	if _, err := second.Prepare(ctx, "named", "SELECT 1"); err != nil {
		t.Error(err)
	}
}

// In transaction mode PgBouncer carries a client's settings from one server
// connection to another, if the server reports them with ParameterStatus.
func TestPgBouncerFollowsSettings(t *testing.T) {
	address := bouncer(t, "transaction", startServer(t), "default_pool_size = 1",
		"ignore_startup_parameters = extra_float_digits,options")
	paris := pooled(t, address, "&application_name=shop&timezone=Europe/Paris&datestyle=ISO,%20DMY&extra_float_digits=3&options=-c%20geqo%3Doff")
	// A client without an application_name would inherit that of the client before:
	// PgBouncer sends no empty values. In front of PostgreSQL it does the same.
	plain := pooled(t, address, "&application_name=plain")
	for range 3 {
		for _, c := range []struct {
			conn *pgx.Conn
			want map[string]string
		}{
			{paris, map[string]string{"TimeZone": "Europe/Paris", "application_name": "shop", "DateStyle": "ISO, DMY"}},
			{plain, map[string]string{"TimeZone": "UTC", "application_name": "plain", "DateStyle": "ISO, MDY"}},
		} {
			for setting, want := range c.want {
				if got := one[string](t, c.conn, "SHOW "+setting); got != want {
					t.Errorf("%s is %q, not %q", setting, got, want)
				}
			}
		}
	}
	// A SET works, too: PgBouncer gets the server's ParameterStatus.
	if _, err := plain.Exec(t.Context(), "SET TimeZone = 'Asia/Tokyo'"); err != nil {
		t.Fatal(err)
	}
	if got := one[string](t, paris, "SHOW TimeZone"); got != "Europe/Paris" {
		t.Errorf("another client's TimeZone is %q", got)
	}
	if got := one[string](t, plain, "SHOW TimeZone"); got != "Asia/Tokyo" {
		t.Errorf("TimeZone is %q after SET", got)
	}
}

// A CancelRequest reaches the server's connection that works for the client.
func TestPgBouncerCancels(t *testing.T) {
	port := startServer(t)
	for _, mode := range []string{"session", "transaction"} {
		conn := pooled(t, bouncer(t, mode, port), "")
		cancel := time.AfterFunc(300*time.Millisecond, func() {
			_ = conn.PgConn().CancelRequest(context.Background()) // the statement's end shows it
		})
		t.Cleanup(func() { cancel.Stop() })
		start := time.Now()
		_, err := conn.Exec(t.Context(), "SELECT pg_sleep(60)")
		if pg, ok := errors.AsType[*pgconn.PgError](err); !ok || pg.Code != "57014" || time.Since(start) > 30*time.Second {
			t.Errorf("%s: %v after %v", mode, err, time.Since(start))
		}
		one[int64](t, conn, "SELECT next_id('cancelled')")
	}
}

// Since 1.21 PgBouncer prepares a client's named statements on each server
// connection that it uses for the client.
func TestPgBouncerPreparedStatements(t *testing.T) {
	port := startServer(t)
	output, _ := exec.Command(dbtest.Program(t, "pgbouncer", "pgbouncer", "/usr/sbin/pgbouncer"), "--version").Output() // no output fails below
	var minor int
	if _, err := fmt.Sscanf(string(output), "PgBouncer 1.%d", &minor); err != nil {
		t.Fatal(err)
	} else if minor < 21 {
		t.Skipf("needs the Debian package pgbouncer 1.21 or newer, not 1.%d", minor)
	}
	// PgBouncer keeps two statements on a connection, and closes the least recently
	// used one.
	address := bouncer(t, "transaction", port, "max_prepared_statements = 2")
	statements := []string{"SELECT next_id($1)", "SELECT nextval($1)", "SELECT id FROM ids WHERE name = $1", "SELECT * FROM next_ids($1, 1)"}
	var log history.Log
	var wg sync.WaitGroup
	for client := range 6 {
		conn := pooled(t, address, "")
		for i, sql := range statements {
			if _, err := conn.Prepare(t.Context(), fmt.Sprintf("draw%d", i), sql); err != nil {
				t.Fatal(err)
			}
		}
		wg.Go(func() {
			for n := range 80 {
				var id int64
				if err := conn.QueryRow(t.Context(), fmt.Sprintf("draw%d", n%len(statements)), "prepared").Scan(&id); err != nil {
					t.Error(err)
					return
				}
				log.Add(history.Event{Name: "prepared", Client: client, Range: generator.Range{First: id, Count: 1, Step: 1}})
			}
		})
	}
	wg.Wait()
	if err := log.Check(); err != nil {
		t.Error(err)
	}
	if log.Len() != 6*80 {
		t.Errorf("%d ids", log.Len())
	}
}

// Clients keep their connections while the server is started again.
func TestPgBouncerOutlivesTheServer(t *testing.T) {
	s := newServer(t)
	address := bouncer(t, "transaction", s.port)
	conn := pooled(t, address, "")
	before := one[int64](t, conn, "SELECT next_id('restarted')")
	s.stop()
	s.start()
	var after int64
	for deadline := time.Now().Add(20 * time.Second); ; {
		err := conn.QueryRow(t.Context(), "SELECT next_id('restarted')").Scan(&after)
		if err == nil {
			break
		}
		if time.Now().After(deadline) || strings.Contains(err.Error(), "conn closed") {
			t.Fatal(err)
		}
	}
	if after <= before {
		t.Errorf("%d, then %d", before, after)
	}
}

// pgpool runs a Pgpool-II in front of a server (HOST:PORT) until the test ends, and
// returns its address. The Pgpool-II pools connections and caches results.
func pgpool(t *testing.T, before string) (address string) {
	t.Helper()
	program := dbtest.Program(t, "pgpool2", "pgpool", "/usr/sbin/pgpool")
	host, behind, _ := strings.Cut(before, ":")
	_, control, _ := strings.Cut(dbtest.FreeAddr(t), ":")
	s := dbtest.Run(t, "Pgpool-II", "postgres", syscall.SIGINT, func(s *dbtest.Server) []string { // pgpool refuses to run as root
		_, port, _ := strings.Cut(s.Addr, ":")
		conf := fmt.Sprintf(`
backend_clustering_mode = 'raw'
listen_addresses = '127.0.0.1'
port = %s
pcp_listen_addresses = '127.0.0.1'
pcp_port = %s
socket_dir = '%[3]s'
pcp_socket_dir = '%[3]s'
backend_hostname0 = '%[4]s'
backend_port0 = %[5]s
backend_weight0 = 1
num_init_children = 4
max_pool = 2
pid_file_name = '%[3]s/pgpool.pid'
logdir = '%[3]s'
work_dir = '%[3]s'
pool_passwd = ''
sr_check_period = 0
health_check_period = 0
memory_cache_enabled = on
memqcache_method = 'shmem'
memqcache_total_size = 2097152
memqcache_maxcache = 65536
memqcache_max_num_cache = 1000
memqcache_cache_block_size = 65536
memqcache_oiddir = '%[3]s'
`, port, control, s.Dir, host, behind)
		return []string{program, "-n", "-f", s.Write("pgpool.conf", conf), "-a", s.Write("pool_hba.conf", ""), "-F", s.Write("pcp.conf", "")}
	})
	t.Cleanup(s.Stop) // a killed pgpool leaves its shared memory
	return s.Addr
}

// Pgpool-II caches the results of queries, unless by the catalogs a function is
// volatile or a table is a view. It must not cache ids.
func TestPgpool(t *testing.T) {
	address := pgpool(t, "127.0.0.1:"+startServer(t))
	seen := make(map[int64]bool)
	for range 3 {
		conn := pooled(t, address, "")
		for _, sql := range []string{
			"SELECT next_id('pool')", "SELECT id FROM ids WHERE name = 'pool'", "SELECT * FROM next_ids('pool', 1)", "SELECT id FROM pool_id",
			"SELECT nextval('pool')", "SELECT id FROM id_batch WHERE name = 'pool' AND n = 1", "SELECT first FROM id_ranges WHERE name = 'pool' AND n = 1",
			"SELECT first FROM next_range('pool', 1)",
		} {
			for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeSimpleProtocol, pgx.QueryExecModeExec, pgx.QueryExecModeDescribeExec} {
				id := one[int64](t, conn, sql, mode)
				if seen[id] {
					t.Errorf("%s: id %d came twice", sql, id)
				}
				seen[id] = true
			}
		}
		if err := inTransaction(t.Context(), conn); err != nil {
			t.Error(err)
		}
		_ = conn.Close(t.Context())
	}
}
