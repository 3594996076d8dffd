package main

import (
	"bufio"
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

// start starts the contestants: floor, nextid, PostgreSQL, in this order.
func (b *bench) start() error {
	for _, f := range []func() (*server, error){b.startFloor, b.startNextid, b.startPostgres} {
		s, err := f()
		if err != nil {
			return err
		}
		b.servers = append(b.servers, s)
	}
	return nil
}

func (b *bench) stop() {
	for _, s := range b.servers {
		s.stop()
	}
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer func() { _ = l.Close() }()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port), nil
}

// waitFor returns when something listens on a port.
func waitFor(port string) error {
	for range 100 {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			return c.Close()
		}
		time.Sleep(50 * time.Millisecond)
	}
	return errors.New("nothing listens on port " + port)
}

// spawn starts a program and returns its server.
func (b *bench) spawn(name, port string, cmd *exec.Cmd) (*server, error) {
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	s := &server{name: name, port: port, pid: cmd.Process.Pid, sql: "SELECT next_id('orders')", stop: func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}}
	return s, nil
}

func (b *bench) startFloor() (*server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	s, err := b.spawn("floor", port, exec.Command(filepath.Join(b.dir, "floor"), port, "1"))
	if err != nil {
		return nil, err
	}
	return s, waitFor(port)
}

func (b *bench) startNextid() (*server, error) {
	cmd := exec.Command(filepath.Join(b.dir, "nextid"), "serve", "--data", filepath.Join(b.dir, "data"),
		"--pg", "127.0.0.1:0", "--mysql", "off", "--http", "off")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	s, err := b.spawn("nextid", "", cmd)
	if err != nil {
		return nil, err
	}
	ready := regexp.MustCompile(`nextid ready: PostgreSQL on 127\.0\.0\.1:(\d+)`)
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if m := ready.FindStringSubmatch(lines.Text()); m != nil {
			s.port = m[1]
			go func() { _, _ = io.Copy(io.Discard, stderr) }() // ends with the process
			return s, nil
		}
	}
	return nil, errors.New("nextid ended before it was ready")
}

// startPostgres starts the newest installed PostgreSQL with its default
// settings, durable, in a new cluster.
func (b *bench) startPostgres() (*server, error) {
	bins, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil || len(bins) == 0 {
		return nil, errors.New("PostgreSQL is not installed: apt-get install postgresql")
	}
	b.postgresBin = filepath.Dir(bins[len(bins)-1])
	home := filepath.Join(b.dir, "pg")
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
	initdb := exec.Command(filepath.Join(b.postgresBin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C")
	initdb.SysProcAttr, initdb.Dir = as, home
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	postgres := exec.Command(filepath.Join(b.postgresBin, "postgres"), "-D", data, "-p", port, "-k", home, "-c", "listen_addresses=127.0.0.1",
		"-c", "max_connections=200")
	postgres.SysProcAttr, postgres.Dir = as, home
	s, err := b.spawn("postgresql", port, postgres)
	if err != nil {
		return nil, err
	}
	if err := waitFor(port); err != nil {
		return nil, err
	}
	s.sql = "SELECT nextval('orders')"
	for range 50 { // it listens a little before it answers
		var out []byte
		out, err = exec.Command("psql", "-h", "127.0.0.1", "-p", port, "-U", "postgres", "-XAtc", "SHOW server_version").CombinedOutput()
		if err == nil {
			b.postgresVersion = "PostgreSQL " + strings.Fields(string(out))[0]
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err != nil {
		return nil, fmt.Errorf("ask PostgreSQL: %w", err)
	}
	out, err := exec.Command("psql", "-h", "127.0.0.1", "-p", port, "-U", "postgres", "-Xc", "CREATE SEQUENCE orders CACHE 1").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("create sequence: %w\n%s", err, out)
	}
	return s, nil
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
