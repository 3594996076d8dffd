package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"nextid/dbtest"
)

// binary is the program as users get it, built once for all tests.
var binary string

func TestMain(m *testing.M) {
	if name, ok := os.LookupEnv(libraryVariable); ok {
		issueWith(name, os.Args[1])
		return
	}
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "nextid-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "nextid")
	if err := dbtest.Build(dir, "nextid/cmd/nextid"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// Exit codes of the program.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// patience bounds every wait of these tests. It is long, because a loaded machine
// is not a failure.
const patience = 30 * time.Second

// result is a run of the program that ended.
type result struct {
	code           int
	stdout, stderr string
}

// runProgram runs the program to its end in an empty directory, with only
// the given variables beside PATH.
func runProgram(t *testing.T, environ []string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = t.TempDir()
	// Another test may use the default addresses. A server would warn of that.
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "NEXTID_HTTP=off", "NEXTID_MYSQL=off"}, environ...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if ctx.Err() != nil {
		t.Fatalf("nextid %s did not end; standard error:\n%s", strings.Join(args, " "), stderr.String())
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// process is a running nextid serve.
type process struct {
	t       *testing.T
	cmd     *exec.Cmd
	address string // from the ready line
	mysql   string // likewise, "" when it is off
	http    string // likewise
	ready   string // the ready line
	stderr  chan string
	exited  chan struct{}
	lines   []string // what was read from stderr so far
}

var readyPattern = regexp.MustCompile(`^nextid ready: PostgreSQL on ([^ ,]+)(?:, MySQL on ([^ ,]+))?(?:, HTTP on (\S+))? \(store (.+), worker id (.+)\)$`)

// startServer starts the server and waits for its ready line. args follow a free
// port and a data directory, and can replace both.
func startServer(t *testing.T, environ []string, args ...string) *process {
	t.Helper()
	return launch(t, serveCommand(args...), environ)
}

// serveCommand is nextid serve on a free port.
func serveCommand(args ...string) *exec.Cmd {
	return exec.Command(binary, append([]string{"serve", "--pg", "127.0.0.1:0", "--mysql", "off", "--http", "off"}, args...)...)
}

// launch starts a command that runs a server, directly or under another program,
// and waits for its ready line.
func launch(t *testing.T, cmd *exec.Cmd, environ []string) *process {
	t.Helper()
	s := spawn(t, cmd, environ)
	s.isReady(s.waitLine("nextid ready:"))
	return s
}

// isReady takes the address from the ready line.
func (s *process) isReady(line string) {
	s.t.Helper()
	match := readyPattern.FindStringSubmatch(line)
	if match == nil {
		s.t.Fatalf("ready line %q", line)
	}
	s.ready, s.address, s.mysql, s.http = line, match[1], match[2], match[3]
}

// spawn starts a command and collects what it writes to standard error. The command
// ends with this process.
func spawn(t *testing.T, cmd *exec.Cmd, environ []string) *process {
	t.Helper()
	s := &process{t: t, cmd: dbtest.Supervised(cmd.Args...), stderr: make(chan string, 1000), exited: make(chan struct{})}
	s.cmd.Dir = t.TempDir()
	s.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, environ...)
	pipe, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		for lines := bufio.NewScanner(pipe); lines.Scan(); {
			s.stderr <- lines.Text()
		}
		close(s.stderr)
		_ = s.cmd.Wait() // the code is read from ProcessState
		dbtest.Ended(s.cmd.Process.Pid)
		close(s.exited)
	}()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill() // it may have ended already
		s.drainOutput()
	})
	return s
}

// waitLine waits for a line of standard error that contains part.
func (s *process) waitLine(part string) string {
	s.t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case line, ok := <-s.stderr:
			if !ok {
				s.t.Fatalf("nextid ended before it wrote %q:\n%s", part, strings.Join(s.lines, "\n"))
			}
			s.lines = append(s.lines, line)
			if strings.Contains(line, part) {
				return line
			}
		case <-deadline:
			s.t.Fatalf("nextid did not write %q:\n%s", part, strings.Join(s.lines, "\n"))
		}
	}
}

func (s *process) drainOutput() {
	for line := range s.stderr {
		s.lines = append(s.lines, line)
	}
	<-s.exited
}

func (s *process) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// wait waits for the end of the process and returns its exit code, -1 when a
// signal ended it.
func (s *process) wait() int {
	s.t.Helper()
	ended := make(chan struct{})
	go func() { s.drainOutput(); close(ended) }()
	select {
	case <-ended:
		return s.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		_ = s.cmd.Process.Kill() // the test fails anyway
		<-ended
		s.t.Fatalf("nextid did not end:\n%s", strings.Join(s.lines, "\n"))
		return 0
	}
}

// kill9 ends the server as a crash does.
func (s *process) kill9() {
	s.t.Helper()
	s.signal(syscall.SIGKILL)
	s.wait()
}

// connect opens a connection that is closed with the test.
func (s *process) connect() *pgx.Conn {
	s.t.Helper()
	return connect(s.t, "postgres://anybody@"+s.address+"/nextid?sslmode=disable")
}

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) }) // the server may be gone
	return conn
}

// draw returns the result of SELECT next_id(name).
func draw(t *testing.T, conn *pgx.Conn, name string) int64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var id int64
	if err := conn.QueryRow(ctx, "SELECT next_id($1)", name).Scan(&id); err != nil {
		t.Fatal(err)
	}
	return id
}

func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
