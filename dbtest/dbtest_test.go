package dbtest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestAServerIsKilledAndStartsAgain(t *testing.T) {
	t.Parallel()
	s := Postgres(t, "fsync=off")
	s.Kill()
	if s.Running() || listens(s.Addr) == nil {
		t.Fatal("it still runs")
	}
	s.Start()
	s.Stop()
	if s.Running() {
		t.Fatal("it still runs")
	}
	if c := s.Copy().Begin(); c.Addr == s.Addr || c.URL == s.URL || listens(c.Addr) != nil {
		t.Errorf("a copy at %s, of the server at %s", c.Addr, s.Addr)
	}
}

// TestNothingListensAfterAKill kills a PostgreSQL while it forks backends. A new
// child holds the listening socket until it runs.
func TestNothingListensAfterAKill(t *testing.T) {
	t.Parallel()
	s := Postgres(t, "fsync=off")
	for range 5 {
		for range 20 {
			_ = listens(s.Addr) // the server forks a backend for each connection
		}
		if s.Kill(); listens(s.Addr) == nil {
			t.Fatal("a process of the server still listens")
		}
		s.Start()
	}
}

func TestTheSharedServerOutlivesTheTestThatStartedIt(t *testing.T) {
	t.Cleanup(StopShared)
	var dsn string
	t.Run("first", func(t *testing.T) { dsn = SharedPostgres(t) })
	if again := SharedPostgres(t); again != dsn {
		t.Errorf("a second server at %s, the first is at %s", again, dsn)
	}
	addr := strings.TrimSuffix(strings.TrimPrefix(dsn, "postgres://postgres@"), "/postgres?sslmode=disable")
	if err := listens(addr); err != nil {
		t.Error(err)
	}
	if StopShared(); listens(addr) == nil {
		t.Error("it still runs")
	}
}

// TestARigReportsWhatFails checks that a Rig returns an error where a test would be
// skipped.
func TestARigReportsWhatFails(t *testing.T) {
	t.Parallel()
	r := &Rig{}
	defer r.Close()
	err := r.Do(func(t testing.TB) { Program(t, "a-package", "no-such-program") })
	if err == nil || !strings.Contains(err.Error(), "no-such-program is not installed: needs the Debian package a-package") {
		t.Errorf("%v", err)
	}
}

const (
	interrupted = "DBTEST_INTERRUPTED" // variable: the file in which TestThatIsInterrupted lists its processes
	all         = "all"                // name of that file if a server of each kind is started
)

// TestThatIsInterrupted starts servers and blocks until it is killed.
func TestThatIsInterrupted(t *testing.T) {
	list := os.Getenv(interrupted)
	if list == "" {
		t.Skip("TestInterruptedTestsLeaveNothing runs it")
	}
	servers := []*Server{Postgres(t), Redis(t)}
	if strings.HasSuffix(list, all) {
		servers = slices.Concat(servers, []*Server{MariaDB(t)}, Etcd(t, 1), ZooKeeper(t, 1))
	}
	servers[0].Freeze()
	var started strings.Builder
	for _, s := range servers {
		for _, pid := range append(Descendants(s.PID), s.PID) {
			fmt.Fprintf(&started, "/proc/%d %s\n", pid, s.Dir)
		}
	}
	if err := errors.Join(os.WriteFile(list+".new", []byte(started.String()), 0o600), os.Rename(list+".new", list)); err != nil {
		t.Fatal(err)
	}
	select {}
}

// TestInterruptedTestsLeaveNothing ends a test program by the signals that a
// terminal and a CI system send. No process and no directory may be left.
func TestInterruptedTestsLeaveNothing(t *testing.T) {
	t.Parallel()
	Program(t, "etcd-server", "etcd")
	Program(t, "zookeeper", "/usr/share/java/zookeeper.jar")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// As the go command does, it starts a test and waits for it.
	goCommand := filepath.Join(t.TempDir(), "go")
	if err := os.WriteFile(goCommand, []byte("#!/bin/sh\n\"$@\" &\nwait\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	test := []string{self, "-test.run=^TestThatIsInterrupted$"}
	for _, tc := range []struct {
		name  string
		argv  []string
		group bool // the signal goes to the process group, as that of a terminal does
		sig   syscall.Signal
		list  string
	}{
		{"the test is killed", test, false, syscall.SIGKILL, all},
		// A shell starts a command in the background with SIGINT ignored.
		{"Ctrl-C on go test", append([]string{"env", "--default-signal=INT", goCommand}, test...), true, syscall.SIGINT, "some"},
		{"SIGTERM to go test", append([]string{goCommand}, test...), false, syscall.SIGTERM, "some"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			list := filepath.Join(t.TempDir(), tc.list)
			cmd := exec.Command(tc.argv[0], tc.argv[1:]...)
			cmd.Env = append(os.Environ(), interrupted+"="+list)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
			var started []byte
			for started == nil && t.Context().Err() == nil { // on a busy machine five servers take minutes
				time.Sleep(50 * time.Millisecond)
				started, _ = os.ReadFile(list)
			}
			pid := cmd.Process.Pid
			if tc.group {
				pid = -pid
			}
			if err := syscall.Kill(pid, tc.sig); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			paths := strings.Fields(string(started))
			if len(paths) < 2*(2+4) { // PostgreSQL has children
				t.Fatalf("only %s was started", started)
			}
			for _, path := range paths {
				Await(t, "end of "+path, func() bool {
					_, err := os.Stat(path)
					return err != nil || state(path) == "Z"
				})
			}
		})
	}
}

// TestProxy holds requests and answers, and lets them pass again.
func TestProxy(t *testing.T) {
	t.Parallel()
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer echo.Close()
	arrived := make(chan string, 10)
	go func() {
		c, err := echo.Accept()
		for b := make([]byte, 1); err == nil; _, err = c.Write(b) {
			if _, err = io.ReadFull(c, b); err == nil {
				arrived <- string(b)
			}
		}
	}()
	p := Cut(t, echo.Addr().String())
	c, err := net.Dial("tcp", p.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, step := range []struct {
		flow     Flow
		arrives  bool
		answered bool
	}{{Open, true, true}, {HoldAnswers, true, false}, {HoldAll, false, false}} {
		p.Set(step.flow)
		if _, err := c.Write([]byte("a")); err != nil {
			t.Fatal(err)
		}
		answer := func(within time.Duration) bool {
			_ = c.SetReadDeadline(time.Now().Add(within))
			_, err := io.ReadFull(c, make([]byte, 1))
			return err == nil
		}
		if step.arrives && <-arrived != "a" {
			t.Error("the request did not arrive")
		}
		if !step.answered {
			if answer(200 * time.Millisecond) {
				t.Errorf("flow %d: an answer came", step.flow)
			}
			p.Set(Open)
		}
		if !answer(10 * time.Second) {
			t.Errorf("flow %d: no answer, or not when it was opened again", step.flow)
		}
	}
	if p.Passed() != 3 {
		t.Errorf("%d bytes of answers", p.Passed())
	}
}
