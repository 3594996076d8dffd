// Package rig starts what the benchmarks compare: a nextid of this tree, and
// PostgreSQL and MariaDB from their Debian packages with their default
// settings, so durable.
package rig

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Dir makes a temporary directory that PostgreSQL, which runs as another
// user, can enter.
func Dir() (string, error) {
	dir, err := os.MkdirTemp("", "nextid-bench")
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o755)
}

// Process is a running program that listens on a port of loopback.
type Process struct {
	Port string
	PID  int
	Stop func() // and wait for its end
}

// Start starts a program.
func Start(cmd *exec.Cmd, port string) (*Process, error) {
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return &Process{Port: port, PID: cmd.Process.Pid, Stop: func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}}, nil
}

// FreePort returns a port that nobody listened on a moment ago.
func FreePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer func() { _ = l.Close() }()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port), nil
}

// WaitFor returns when something listens on a port.
func WaitFor(port string) error {
	for range 100 {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			return c.Close()
		}
		time.Sleep(50 * time.Millisecond)
	}
	return errors.New("nothing listens on port " + port)
}

// BuildNextid builds the program into dir and returns its path.
func BuildNextid(ctx context.Context, dir string) (string, error) {
	binary := filepath.Join(dir, "nextid")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/nextid")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build nextid (run from the project's root): %w\n%s", err, out)
	}
	return binary, nil
}

// Nextid is a running nextid. Port speaks the PostgreSQL protocol.
type Nextid struct {
	*Process
	MySQLPort string
}

// StartNextid starts a nextid with its data in dir.
func StartNextid(binary, dir string) (*Nextid, error) {
	cmd := exec.Command(binary, "serve", "--data", filepath.Join(dir, "data"),
		"--pg", "127.0.0.1:0", "--mysql", "127.0.0.1:0", "--http", "off")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	p, err := Start(cmd, "")
	if err != nil {
		return nil, err
	}
	ready := regexp.MustCompile(`nextid ready: PostgreSQL on 127\.0\.0\.1:(\d+), MySQL on 127\.0\.0\.1:(\d+)`)
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if m := ready.FindStringSubmatch(lines.Text()); m != nil {
			p.Port = m[1]
			go func() { _, _ = io.Copy(io.Discard, stderr) }() // ends with the process
			return &Nextid{p, m[2]}, nil
		}
	}
	return nil, errors.New("nextid ended before it was ready")
}

// PostgreSQL is a running PostgreSQL.
type PostgreSQL struct {
	*Process
	Bin     string // directory of its programs
	Version string
}

// StartPostgreSQL starts the newest installed PostgreSQL with a new cluster
// in dir. Its superuser is postgres, without a password.
func StartPostgreSQL(dir string) (*PostgreSQL, error) {
	bins, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil || len(bins) == 0 {
		return nil, errors.New("PostgreSQL is not installed: apt-get install postgresql")
	}
	bin := filepath.Dir(bins[len(bins)-1])
	home := filepath.Join(dir, "pg")
	if err := os.Mkdir(home, 0o700); err != nil {
		return nil, err
	}
	as := &syscall.SysProcAttr{}
	if os.Getuid() == 0 {
		if as.Credential, err = credential("postgres"); err != nil {
			return nil, err
		}
		if err := os.Chown(home, int(as.Credential.Uid), int(as.Credential.Gid)); err != nil {
			return nil, err
		}
	}
	data := filepath.Join(home, "data")
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C")
	initdb.SysProcAttr, initdb.Dir = as, home
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-p", port, "-k", home, "-c", "listen_addresses=127.0.0.1",
		"-c", "max_connections=200")
	cmd.SysProcAttr, cmd.Dir = as, home
	p, err := Start(cmd, port)
	if err != nil {
		return nil, err
	}
	version, err := answers(port)
	if err != nil {
		p.Stop()
		return nil, err
	}
	return &PostgreSQL{Process: p, Bin: bin, Version: "PostgreSQL " + version}, nil
}

// answers waits until PostgreSQL says its version: it listens a little before.
func answers(port string) (string, error) {
	if err := WaitFor(port); err != nil {
		return "", err
	}
	for deadline := time.Now().Add(10 * time.Second); ; {
		out, err := exec.Command("psql", "-h", "127.0.0.1", "-p", port, "-U", "postgres", "-XAtc", "SHOW server_version").CombinedOutput()
		if err == nil {
			return strings.Fields(string(out))[0], nil
		}
		if time.Now().After(deadline) {
			return "", fmt.Errorf("ask PostgreSQL: %w\n%s", err, out)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func credential(name string) (*syscall.Credential, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return nil, err
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(err1, err2)
}
