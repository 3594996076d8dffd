// Package dbtest runs the databases that a shared store can be on, each in a
// process and a directory of its own, for tests that stop, kill, freeze and
// restore them. The programs are those of Debian's packages; a test that
// needs one that is missing is skipped and names the package.
//
// An Opener is what the tests of the engines of shared.Store have in common:
// opening one on a URL, the conformance suite, and the faults that happen to
// all of them.
package dbtest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds how long a database may take to start or stop.
const patience = 60 * time.Second

// Server is one running database.
type Server struct {
	Addr string // HOST:PORT
	Dir  string // everything that it keeps

	t     testing.TB
	name  string
	argv  func() []string
	cred  *syscall.Credential
	ready func() error
	quit  os.Signal // ends it in order

	cmd    *exec.Cmd
	exited chan struct{}
	frozen []int // children that Freeze has stopped
}

// program finds an executable, or skips the test.
func program(t testing.TB, pkg string, names ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("starts " + pkg)
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
		if found, _ := filepath.Glob(name); len(found) > 0 {
			return found[len(found)-1]
		}
	}
	t.Skipf("needs the Debian package %s", pkg)
	return ""
}

// directory makes a directory that the user name may use, if we are root.
func directory(t testing.TB, name string) (dir string, cred *syscall.Credential) {
	t.Helper()
	// Not t.TempDir: its path is too long for a Unix socket, and its parent
	// belongs to us.
	dir, err := os.MkdirTemp("", "db")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if os.Getuid() != 0 || name == "" {
		return dir, nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	if err := os.Chown(dir, uid, gid); err != nil {
		t.Fatal(err)
	}
	return dir, &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// FreeAddr returns a loopback address that nobody listens on. Its port, and the
// one 10,000 above for the bus of a Redis Cluster, are below those that the
// kernel gives to connections and to port 0: one of these can be taken while a
// server is killed and starts again.
func FreeAddr(t testing.TB) string {
	t.Helper()
	const first, last = 10_000, 19_999 // ip_local_port_range begins at 32768
	for range 1000 {
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(first+rand.IntN(last-first+1)))
		if _, given := addrs.LoadOrStore(addr, true); given {
			continue
		}
		if l, err := net.Listen("tcp4", addr); err == nil {
			l.Close()
			return addr
		}
	}
	t.Fatal("dbtest: no port is free")
	return ""
}

// addrs are the addresses that FreeAddr has returned in this process.
var addrs sync.Map

func port(addr string) string {
	_, p, _ := net.SplitHostPort(addr)
	return p
}

// environ is ours, with a home that the database's user may read: libpq looks
// for certificates there.
func (s *Server) environ() []string { return append(os.Environ(), "HOME="+s.Dir) }

// run runs a program of the database to its end.
func (s *Server) run(argv ...string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = s.Dir, s.environ()
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.cred}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", argv[0], err, out)
	}
	return nil
}

// begin starts a new server for the first time and sees to its end.
func (s *Server) begin() *Server {
	s.t.Helper()
	s.t.Cleanup(func() {
		s.Kill()
		if s.t.Failed() {
			text, _ := os.ReadFile(filepath.Join(s.Dir, "log"))
			if len(text) > 4000 {
				text = text[len(text)-4000:]
			}
			s.t.Logf("the end of the log of %s at %s:\n%s", s.name, s.Addr, bytes.TrimSpace(text))
		}
	})
	s.Start()
	return s
}

// Start starts the server, which does not run, and waits until it answers.
func (s *Server) Start() {
	s.t.Helper()
	// What was killed may hold its port or memory for a moment longer.
	for try := 1; ; try++ {
		s.launch()
		err := s.await()
		if err == nil {
			return
		}
		if s.Running() || try == 5 {
			s.t.Fatalf("dbtest: %s: %v", s.name, err)
		}
		time.Sleep(time.Duration(try) * 200 * time.Millisecond)
	}
}

func (s *Server) launch() {
	s.t.Helper()
	log, err := os.OpenFile(filepath.Join(s.Dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	argv := s.argv()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = s.Dir, s.environ()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.cred, Setpgid: true}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.cmd, s.exited = cmd, make(chan struct{})
	go func(done chan struct{}) {
		_ = cmd.Wait() // how it ended does not matter
		close(done)
	}(s.exited)
}

// await waits until the server answers.
func (s *Server) await() error {
	var last error
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if last = s.ready(); last == nil {
			return nil
		}
		select {
		case <-s.exited:
			text, _ := os.ReadFile(filepath.Join(s.Dir, "log"))
			return fmt.Errorf("ended at once: %s", text)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return errors.Join(errors.New("does not answer"), last)
}

// Running reports whether the server was started and has not ended.
func (s *Server) Running() bool {
	if s.cmd == nil {
		return false
	}
	select {
	case <-s.exited:
		return false
	default:
		return true
	}
}

// Stop ends the server in order.
func (s *Server) Stop() { s.end(s.quit) }

// Kill ends the server and all its processes at once, as kill -9 does.
func (s *Server) Kill() { s.end(syscall.SIGKILL) }

func (s *Server) end(sig os.Signal) {
	s.t.Helper()
	if s.cmd == nil {
		return
	}
	if s.Running() {
		if sig == syscall.SIGKILL {
			_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
		} else {
			_ = s.cmd.Process.Signal(sig)
		}
	}
	s.thawChildren() // which end with the server
	select {
	case <-s.exited:
	case <-time.After(patience):
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
		s.t.Errorf("dbtest: %s did not end", s.name)
		<-s.exited
	}
	s.cmd = nil
}

// Freeze stops all processes of the server without ending them: those of its
// group, and PostgreSQL's backends, each of which has a session of its own.
func (s *Server) Freeze() {
	s.t.Helper()
	s.signal(syscall.SIGSTOP)
	AwaitStopped(s.t, s.cmd.Process.Pid)
	s.frozen = s.children() // none is added any more
	for _, child := range s.frozen {
		_ = syscall.Kill(child, syscall.SIGSTOP) // it may have ended
		AwaitStopped(s.t, child)
	}
}

// children are the processes that the server has started.
func (s *Server) children() (pids []int) {
	s.t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, file := range all {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		var pid, parent int
		var state string
		_, rest, _ := strings.Cut(string(stat), ") ") // after the name
		if _, err := fmt.Sscan(rest, &state, &parent); err != nil || parent != s.cmd.Process.Pid {
			continue
		}
		if _, err := fmt.Sscan(string(stat), &pid); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// AwaitStopped waits until SIGSTOP has stopped all threads of a process: the
// signal is sent before that.
func AwaitStopped(t testing.TB, pid int) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		if err != nil || len(threads) == 0 {
			return // no /proc here, or it has ended
		}
		stopped := 0
		for _, thread := range threads {
			stat, err := os.ReadFile(thread)
			text := string(stat)
			if err != nil || strings.Contains(text, ") T ") || strings.Contains(text, ") Z ") { // or it has ended
				stopped++
			}
		}
		if stopped == len(threads) {
			return
		}
	}
	t.Fatalf("process %d does not stop", pid)
}

// Thaw lets a frozen server go on.
func (s *Server) Thaw() {
	s.t.Helper()
	s.thawChildren()
	s.signal(syscall.SIGCONT)
}

func (s *Server) thawChildren() {
	for _, child := range s.frozen {
		_ = syscall.Kill(child, syscall.SIGCONT) // it may have ended
	}
	s.frozen = nil
}

func (s *Server) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := syscall.Kill(-s.cmd.Process.Pid, sig); err != nil {
		s.t.Fatal(err)
	}
}

// listens reports whether something accepts connections at addr.
func listens(addr string) error {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return err
	}
	return c.Close()
}

// ask sends a line to a server and reads the beginning of what it says.
func ask(addr, line string) (string, error) {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(2 * time.Second)); err != nil {
		return "", err
	}
	if _, err := c.Write([]byte(line)); err != nil {
		return "", err
	}
	answer := make([]byte, 4096)
	n, err := c.Read(answer)
	return string(answer[:n]), err
}
