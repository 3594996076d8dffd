package main

import (
	"encoding/json"
	"net"
	"net/http"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nextid/server"
)

// TestDemo: a demo draws from its generators, even if the default addresses are in
// use, and writes nothing to disk.
func TestDemo(t *testing.T) {
	t.Parallel()
	if l, err := net.Listen("tcp", server.DefaultConfig().HTTP.String()); err == nil {
		defer l.Close() // otherwise another process has the address
	}
	s := spawn(t, exec.Command(binary, "demo", "--no-page"), nil)
	s.isReady(s.waitLine("nextid ready:"))
	var counted struct {
		Generators []struct{ Name, Issued string }
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) { //nolint:forbidigo // a bounded look
		_, body := s.ask("/api/v1/generators")
		if err := json.Unmarshal([]byte(body), &counted); err != nil {
			t.Fatal(err, body)
		}
		drawn := 0
		for _, g := range counted.Generators {
			if n, err := strconv.Atoi(g.Issued); err == nil && n > 0 {
				drawn++
			}
		}
		if drawn == 3 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("not all of three generators are drawn from: %s", body)
		}
	}
	if code, page := s.ask("/"); code != http.StatusOK || !strings.Contains(page, "<title>nextid</title>") {
		t.Errorf("the page: %d %s", code, page)
	}
	s.signal(syscall.SIGINT)
	if code := s.wait(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	if left, err := exec.Command("ls", s.cmd.Dir).Output(); err != nil || len(left) > 0 {
		t.Errorf("left on the disk: %s %v", left, err)
	}
}

// TestCommandsToPaste: the commands below the ready line work as they are.
func TestCommandsToPaste(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil, "--mysql", "127.0.0.1:0", "--http", "127.0.0.1:0")
	for _, prefix := range []string{"  psql ", "  mysql "} {
		line := s.waitLine(prefix)
		if _, err := exec.LookPath(strings.Fields(line)[0]); err != nil {
			t.Skip("needs the Debian packages postgresql-client and mariadb-client")
		}
		out, err := exec.CommandContext(t.Context(), "sh", "-c", line).CombinedOutput()
		if err != nil || !regexp.MustCompile(`\d{18,19}`).Match(out) {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
	line := strings.TrimSpace(s.waitLine("  http://"))
	if code, _, err := askHTTP(t.Context(), line); code != http.StatusOK {
		t.Errorf("%s: %d %v", line, code, err)
	}
}

// TestCommandsToPasteForSockets: psql finds a socket by its directory, which must be
// absolute.
func TestCommandsToPasteForSockets(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("psql"); err != nil {
		t.Skip("needs the Debian package postgresql-client")
	}
	for address, want := range map[string]string{"./": "  psql ", "./my.sock": "  # psql finds only"} {
		s := startServer(t, nil, "--pg", address)
		line := s.waitLine("  ")
		if !strings.HasPrefix(line, want) {
			t.Errorf("%s: %s, want %s", address, line, want)
		}
		if strings.HasPrefix(want, "  psql") {
			if out, err := exec.CommandContext(t.Context(), "sh", "-c", line).CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", line, err, out)
			}
		}
	}
}

// TestReadyInJSON: with log_format json, every line is an object.
func TestReadyInJSON(t *testing.T) {
	t.Parallel()
	cmd := serveCommand("--http", "127.0.0.1:0", "--data", t.TempDir())
	s := spawn(t, cmd, []string{"NEXTID_LOG_FORMAT=json"})
	line := s.waitLine("nextid ready:")
	var entry struct{ Msg string }
	if err := json.Unmarshal([]byte(line), &entry); err != nil || !strings.HasPrefix(entry.Msg, "nextid ready: PostgreSQL on ") {
		t.Errorf("%s: %v", line, err)
	}
}
