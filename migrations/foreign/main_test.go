package foreign_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"nextid/dbtest"
	"nextid/generator"
	"nextid/generator/history"
	"nextid/migrations/foreign"
)

// binary is the path of the nextid that the tests start.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "nextid-foreign")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "nextid")
	if err := dbtest.Build(dir, "nextid/cmd/nextid"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	dbtest.StopShared()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// patience bounds every wait.
const patience = 30 * time.Second

// server is a nextid serve that can be killed and started again at the same address.
type server struct {
	t       *testing.T
	data    string
	address string // of PostgreSQL's protocol
	mysql   string
	environ []string
	cmd     *exec.Cmd
}

func startServer(t *testing.T, environ ...string) *server {
	t.Helper()
	s := &server{t: t, data: t.TempDir(), address: dbtest.FreeAddr(t), mysql: dbtest.FreeAddr(t), environ: environ}
	s.start()
	t.Cleanup(func() { s.kill() })
	return s
}

var readyPattern = regexp.MustCompile(`nextid ready: PostgreSQL on (127\.0\.0\.1:\d+), MySQL on (127\.0\.0\.1:\d+)`)

func (s *server) start() {
	s.t.Helper()
	s.cmd = dbtest.Supervised(binary, "serve", "--data", s.data, "--pg", s.address, "--mysql", s.mysql, "--http", "off")
	s.cmd.Env = append(os.Environ(), s.environ...)
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	var all strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		fmt.Fprintln(&all, lines.Text())
		if m := readyPattern.FindStringSubmatch(lines.Text()); m != nil {
			s.address, s.mysql = m[1], m[2]
			go func() { _, _ = io.Copy(io.Discard, stderr) }() // ends with the process
			return
		}
	}
	s.t.Fatalf("nextid ended before it was ready:\n%s", all.String())
}

// kill ends the server as a crash does.
func (s *server) kill() {
	_ = s.cmd.Process.Kill() // it may have ended
	s.wait()
}

func (s *server) stop() {
	s.t.Helper()
	s.signal(syscall.SIGTERM)
	s.wait()
}

func (s *server) wait() {
	_ = s.cmd.Wait() // a kill is an error here
	dbtest.Ended(s.cmd.Process.Pid)
}

// freeze stops the process without closing its connections.
func (s *server) freeze() {
	s.t.Helper()
	s.signal(syscall.SIGSTOP)
	dbtest.AwaitStopped(s.t, s.cmd.Process.Pid)
}

func (s *server) thaw() { s.signal(syscall.SIGCONT) }

func (s *server) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

func (s *server) url() string { return "postgres://app@" + s.address + "/nextid" }

// connect opens a connection to the server itself.
func (s *server) connect() *session { return connect(s.t, s.url()+"?sslmode=disable", nil) }

// cluster is a PostgreSQL that holds the databases of the tests.
type cluster struct{ dsn string }

// startCluster starts a cluster for a test that makes roles, or needs settings.
func startCluster(t *testing.T, settings ...string) cluster {
	t.Helper()
	return cluster{dbtest.QuickPostgres(t, settings...)}
}

// sharedCluster returns a cluster for all tests that only make databases.
func sharedCluster(t *testing.T) cluster {
	t.Helper()
	return cluster{dbtest.SharedPostgres(t)}
}

var databases atomic.Int64

// database creates an empty database and returns its URL.
func (c cluster) database(t *testing.T) string {
	t.Helper()
	name := fmt.Sprintf("app%d", databases.Add(1))
	s := connect(t, c.dsn, nil)
	s.exec("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)") // go test -count=2
	s.exec("CREATE DATABASE " + name)
	return strings.Replace(c.dsn, "/postgres?", "/"+name+"?", 1)
}

// install runs up in a new database, with grants to PUBLIC.
func (c cluster) install(t *testing.T, s *server) (dsn string) {
	t.Helper()
	dsn = c.database(t)
	up(t, dsn, foreign.Config{Server: parseServer(t, s.url()), Grant: []string{"PUBLIC"}})
	return dsn
}

func parseServer(t *testing.T, url string) foreign.Server {
	t.Helper()
	server, err := foreign.ParseServer(url)
	if err != nil {
		t.Fatal(err)
	}
	return server
}

func open(t *testing.T, dsn string) *foreign.Database {
	t.Helper()
	db, err := foreign.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func up(t *testing.T, dsn string, c foreign.Config) {
	t.Helper()
	if err := open(t, dsn).Up(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

func status(t *testing.T, dsn string) foreign.Status {
	t.Helper()
	s, err := open(t, dsn).Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// session is one connection to an application's database. It records the ids that it
// draws in a history, under its own client number.
type session struct {
	*pgx.Conn
	t      *testing.T
	log    *history.Log
	client int
}

func connect(t *testing.T, dsn string, log *history.Log) *session {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	// The simple protocol sends a statement in one message, as psql does.
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) }) // the test's context has ended
	return &session{Conn: conn, t: t, log: log, client: int(conn.PgConn().PID())}
}

func (s *session) exec(sql string) {
	s.t.Helper()
	if err := s.try(sql); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
}

func (s *session) try(sql string) error {
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	_, err := s.Conn.Exec(ctx, sql)
	return err
}

// fails checks the SQLSTATE of a statement that must fail.
func (s *session) fails(code, sql string) *pgconn.PgError {
	s.t.Helper()
	err := s.try(sql)
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || pg.Code != code {
		s.t.Fatalf("%s: %v, not SQLSTATE %s", sql, err, code)
	}
	return pg
}

// version returns PostgreSQL's server_version_num.
func (s *session) version() int64 {
	s.t.Helper()
	return s.numbers("SELECT current_setting('server_version_num')::bigint")[0]
}

// numbers returns the rows of a query with one bigint column.
func (s *session) numbers(sql string) []int64 {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	rows, err := s.Conn.Query(ctx, sql)
	if err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	return all
}

// unordered records each id under a client number of its own: for draws of one
// session whose ids need not rise.
func (s *session) unordered(name string, ids []int64) {
	for _, id := range ids {
		s.log.Add(history.Event{Name: name, Client: -int(others.Add(1)), Range: generator.Range{First: id, Count: 1, Step: 1}})
	}
}

var others atomic.Int64

// draws records the ids that a query returns, which must be n.
func (s *session) draws(n int, name, sql string) []int64 {
	s.t.Helper()
	ids := s.numbers(sql)
	if len(ids) != n {
		s.t.Fatalf("%s: %d ids, not %d", sql, len(ids), n)
	}
	s.record(name, ids)
	return ids
}

func (s *session) record(name string, ids []int64) {
	for _, id := range ids {
		s.log.Add(history.Event{Name: name, Client: s.client, Range: generator.Range{First: id, Count: 1, Step: 1}})
	}
}

// text returns a query's only value.
func (s *session) text(sql string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	var value string
	if err := s.Conn.QueryRow(ctx, sql).Scan(&value); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	return value
}

func check(t *testing.T, log *history.Log) {
	t.Helper()
	if err := log.Check(); err != nil {
		t.Error(err)
	}
}
