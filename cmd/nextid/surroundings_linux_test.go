package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// TestTimeZoneOfTheServerDoesNotMatter restarts a server in other time zones:
// ids go on growing, and their times are those of the clock.
func TestTimeZoneOfTheServerDoesNotMatter(t *testing.T) {
	data := t.TempDir()
	var last int64
	for _, zone := range []string{"Pacific/Kiritimati", "America/Los_Angeles", "Pacific/Pago_Pago", "UTC"} {
		s := startServer(t, []string{"TZ=" + zone}, "--data", data)
		conn := s.connect()
		id := draw(t, conn, "orders")
		if id <= last {
			t.Errorf("%s: %d after %d", zone, id, last)
		}
		last = id
		var apart time.Duration
		if err := conn.QueryRow(t.Context(), "SELECT now() - id_time($1::bigint)", id).Scan(&apart); err != nil || apart.Abs() > 10*time.Second {
			t.Errorf("%s: the time of an id is %v away: %v", zone, apart, err)
		}
		s.signal(syscall.SIGTERM)
		s.wait()
	}
}

// TestFewDescriptors gives a server few descriptors. When they run out, the server
// uses no processor time, open connections go on, and new ones wait for a free
// descriptor.
func TestFewDescriptors(t *testing.T) {
	prlimit, err := exec.LookPath("prlimit")
	if err != nil {
		t.Skip("needs prlimit(1), of the Debian package util-linux")
	}
	s := launch(t, exec.Command(prlimit, append([]string{"--nofile=40"}, serveCommand().Args...)...), nil)
	conn := s.connect()
	draw(t, conn, "orders")
	var held []net.Conn
	for range 100 {
		c, err := net.Dial("tcp", s.address)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
	}
	before := processorTime(t, s.cmd.Process.Pid)
	for began := time.Now(); time.Since(began) < 2*time.Second; {
		draw(t, conn, "orders")
		time.Sleep(50 * time.Millisecond) //nolint:forbidigo // the server shall be idle
	}
	if used := processorTime(t, s.cmd.Process.Pid) - before; used > time.Second {
		t.Errorf("the server used the processor for %v of 2 s", used)
	}
	for _, c := range held {
		_ = c.Close()
	}
	draw(t, s.connect(), "orders")
}

// processorTime returns the processor time that a process has used.
func processorTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text)[strings.LastIndex(string(text), ")")+1:])
	var user, system int64
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		t.Fatal(err)
	}
	return time.Duration(user+system) * time.Second / 100 // USER_HZ
}

// hostileText would forge a log line, or send control codes to a terminal.
const hostileText = "x\nlevel=ERROR msg=forged\r\x1b[2J\x1b]0;title\a"

// TestLinesOfTheLogStayLines sends hostileText in every place from which the log
// has texts.
func TestLinesOfTheLogStayLines(t *testing.T) {
	users := writeUsers(t, "pencil")
	for _, format := range []string{"json", "text"} {
		s := spawn(t, serveCommand("--log-format", format, "--log-level", "debug", "--users", users), nil)
		line := s.waitLine("nextid ready:")
		if format == "json" {
			line = jsonMessage(t, line)
		}
		s.isReady(line)
		for _, name := range []string{"user", "database", "application_name"} {
			cfg, err := pgx.ParseConfig("postgres://alice:pencil@" + s.address + "/nextid?sslmode=disable")
			if err != nil {
				t.Fatal(err)
			}
			switch name {
			case "user":
				cfg.User = hostileText
			case "database":
				cfg.Database = hostileText
			default:
				cfg.RuntimeParams[name] = hostileText
			}
			if conn, err := pgx.ConnectConfig(t.Context(), cfg); err == nil {
				_, _ = conn.Exec(t.Context(), "SELECT next_id($1)", hostileText)
				_, _ = conn.Exec(t.Context(), "SELECT create_generator($1, $2)", hostileText, hostileText)
				_ = conn.Close(t.Context())
			}
		}
		s.signal(syscall.SIGTERM)
		s.wait()
		forged := 0
		for _, line := range s.lines {
			if strings.ContainsAny(line, "\x1b\a\r") || strings.HasPrefix(line, "level=ERROR") {
				t.Errorf("%q", line)
			}
			if format == "json" {
				jsonMessage(t, line)
			}
			forged += strings.Count(line, "msg=forged")
		}
		if forged == 0 {
			t.Errorf("%s: the log has nothing of what was sent: the test proves nothing", format)
		}
	}
}

// jsonMessage returns the message of a line of the log.
func jsonMessage(t *testing.T, line string) string {
	t.Helper()
	var parsed struct{ Msg string }
	if err := json.Unmarshal([]byte(line), &parsed); err != nil {
		t.Errorf("%q: %v", line, err)
	}
	return parsed.Msg
}

// TestSecretsAreNotPrinted uses the password of a user and that of a store, and
// looks for them in all output of the server.
func TestSecretsAreNotPrinted(t *testing.T) {
	const secret = "canary-8c1f0d"
	users := writeUsers(t, secret)
	s := startServer(t, nil, "--http", "127.0.0.1:0", "--log-level", "debug", "--users", users)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, "postgres://alice:"+secret+"@"+s.address+"/nextid?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }() // the server has ended
	_, err = pgx.Connect(ctx, "postgres://alice:"+secret+"wrong@"+s.address+"/nextid?sslmode=disable")
	if err == nil {
		t.Error("a wrong password gets in")
	}
	var told []string
	for _, sql := range []string{"SHOW ALL", "SELECT name, setting FROM pg_settings", "SELECT * FROM pg_authid", "SELECT * FROM pg_stat_activity"} {
		result := conn.PgConn().ExecParams(ctx, sql, nil, nil, nil, nil).Read()
		for _, row := range result.Rows {
			for _, v := range row {
				told = append(told, sql+": "+string(v))
			}
		}
	}
	for _, path := range []string{"/metrics", "/readyz", "/healthz"} {
		if _, body, err := askHTTP(ctx, "http://"+s.http+path); err == nil {
			told = append(told, path+": "+body)
		}
	}
	for _, file := range []string{"cmdline", "environ"} {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/%s", s.cmd.Process.Pid, file))
		told = append(told, file+": "+string(text))
	}
	told = append(told, startedWith(ctx, "postgres://somebody:"+secret+"@127.0.0.1:1/x"))
	s.signal(syscall.SIGTERM)
	s.wait()
	for _, text := range append(told, s.lines...) {
		if strings.Contains(text, secret) {
			t.Errorf("%.300s", text)
		}
	}
}

// startedWith returns the output of a server that cannot reach its store.
func startedWith(ctx context.Context, store string) string {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	out, _ := exec.CommandContext(ctx, binary, "serve", "--pg", "127.0.0.1:0", "--mysql", "off", "--http", "off", "--store", store).CombinedOutput()
	return string(out)
}
