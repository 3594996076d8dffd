package clienttest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// clients says what each script needs to be there, and how to get it.
var clients = []struct {
	name   string
	needs  []string // commands that must succeed
	debian string
}{
	{"psql", []string{"psql --version", "python3 --version"}, "postgresql-client"},
	{"pgbench", []string{"pgbench --version"}, "postgresql"},
	{"libpq", []string{"gcc --version", "test -f /usr/include/postgresql/libpq-fe.h"}, "gcc libpq-dev"},
	{"pgx", []string{"go version"}, "golang"},
	{"lib-pq", []string{"go version"}, "golang"},
	{"psycopg2", []string{"/usr/bin/python3 -c 'import psycopg2'"}, "python3-psycopg2"},
	{"psycopg3", []string{"/usr/bin/python3 -c 'import psycopg, psycopg_pool'"}, "python3-psycopg python3-psycopg-pool"},
}

var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "nextid-clienttest")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "nextid")
	if out, err := exec.Command("go", "build", "-o", binary, "nextid/cmd/nextid").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build nextid: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// startServer starts nextid on a free port and returns the port. The ready
// line names it.
func startServer(t *testing.T) string {
	t.Helper()
	cmd := exec.Command(binary, "serve", "--data", t.TempDir(), "--pg", "127.0.0.1:0", "--mysql", "off", "--http", "off")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server did not stop cleanly: %v", err)
		}
	})
	ready := regexp.MustCompile(`nextid ready: PostgreSQL on 127\.0\.0\.1:(\d+)`)
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if m := ready.FindStringSubmatch(lines.Text()); m != nil {
			go func() { _, _ = io.Copy(io.Discard, stderr) }() // ends with the process
			return m[1]
		}
	}
	t.Fatal("the server ended before it was ready")
	return ""
}

func TestClientsPassTheirCoreChecks(t *testing.T) {
	port := startServer(t)
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			for _, need := range c.needs {
				if err := exec.Command("sh", "-c", need).Run(); err != nil {
					t.Skipf("needs the Debian package(s) %s", c.debian)
				}
			}
			ok, failed, output := runScript(t, c.name, port)
			if len(failed) > 0 || ok == 0 {
				t.Fatalf("%d checks passed, failed:\n%s\n\noutput:\n%s", ok, strings.Join(failed, "\n"), output)
			}
			t.Logf("%d checks passed", ok)
		})
	}
}

// runScript runs one client's script and reads its verdicts.
func runScript(t *testing.T, name, port string) (ok int, failed []string, output string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	script, err := filepath.Abs(filepath.Join("scripts", name, "run"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, script)
	cmd.Env = append(os.Environ(), "HOST=127.0.0.1", "PORT="+port, "USER=postgres", "PASSWORD=nextid", "DB=nextid",
		"CHECKS=core", "CLIENTS_BIN="+t.TempDir())
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(bytes.TrimSpace(out))) {
		switch {
		case strings.HasPrefix(line, "ok "):
			ok++
		case strings.HasPrefix(line, "FAIL "):
			failed = append(failed, strings.TrimSpace(line))
		}
	}
	if err != nil && len(failed) == 0 {
		failed = append(failed, "exit status: "+err.Error())
	}
	return ok, failed, string(out)
}
