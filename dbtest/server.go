// Package dbtest starts the databases, poolers and servers that tests and benchmarks
// need. Each has a process and a directory of its own.
//
// The programs are those of Debian's packages. If one is missing, the test is
// skipped and names the package. A Rig starts the same servers for a program that is
// no test.
//
// A Server belongs to the test that started it, and ends with that test. Its methods
// are called by one goroutine at a time. No server outlives its test program, even
// if that is killed: see supervisor.
//
// An Opener runs the tests that all engines of shared.Store have in common: the
// conformance suite, and faults. A Proxy between a client and a server holds or cuts
// connections.
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
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// Patience bounds how long a server may take to start or stop.
const Patience = 90 * time.Second

// Server is a server that may run. A Copy has its own address and directory. So the
// function fields get the Server as an argument, instead of capturing it.
type Server struct {
	Name      string // with the version, if known: "PostgreSQL 15.20"
	Addr      string // HOST:PORT
	URL       string // for the first user, over TCP
	SocketURL string // for the first user, over the Unix socket; "" without one
	MySQL     string // URL of nextid's MySQL protocol
	HTTP      string // address of nextid's page
	CA        string // PEM file of a server with TLS
	Dir       string // holds data, configuration and log
	PID       int    // 0 before Start, and after Stop and Kill

	t     testing.TB
	owner string // user of the process if this one runs as root; "": root
	cred  *syscall.Credential
	env   []string
	argv  func(s *Server) []string
	urls  func(s *Server)       // sets the URLs
	ready func(s *Server) error // returns nil once the server answers; at first, once it accepts connections
	quit  syscall.Signal        // asks for an orderly stop
	frees bool                  // it frees shared memory on SIGQUIT, and must before the test ends

	exited chan struct{} // closed when the process has ended
	frozen []int         // children that Freeze has stopped
}

// Program returns the path of the first executable of names, which may be patterns.
// If there is none, it skips the test and names the Debian package.
func Program(t testing.TB, pkg string, names ...string) string {
	t.Helper()
	if testing.Testing() && testing.Short() {
		t.Skipf("starts %s", pkg)
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
		if found, _ := filepath.Glob(name); len(found) > 0 {
			return found[len(found)-1]
		}
	}
	t.Skipf("%s is not installed: needs the Debian package %s", filepath.Base(names[0]), pkg)
	return ""
}

var versionPattern = regexp.MustCompile(`\d+(\.\d+)+`)

// named appends the version that program prints to the name of a server.
func named(name, program string) string {
	output, _ := exec.Command(program, "--version").Output() // on an error the name has no version
	return strings.TrimSpace(name + " " + string(versionPattern.Find(output)))
}

// newServer makes the directory and chooses the address of a server. A server with
// an owner runs as that user if this process runs as root.
func newServer(t testing.TB, name, owner string, quit syscall.Signal) *Server {
	t.Helper()
	s := &Server{Name: name, Addr: FreeAddr(t), t: t, owner: owner, quit: quit, urls: func(*Server) {}, ready: func(s *Server) error { return listens(s.Addr) }}
	s.makeDir()
	return s
}

// Run starts a server of a kind of its own, which runs argv. It is ready once it
// accepts connections at its Addr. See newServer for the other arguments.
func Run(t testing.TB, name, owner string, quit syscall.Signal, argv func(s *Server) []string) *Server {
	t.Helper()
	s := newServer(t, name, owner, quit)
	s.argv = argv
	return s.Begin()
}

// newDir makes a directory. The supervisor removes it once this process has ended.
// Paths of t.TempDir are too long for a Unix socket, and other users may not enter
// their parents.
func newDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "db")
	must(t, err)
	supervise("dir", dir)
	return dir
}

// makeDir makes the server's directory, which its owner may use.
func (s *Server) makeDir() {
	s.t.Helper()
	dir := newDir(s.t)
	s.t.Cleanup(func() { os.RemoveAll(dir) })
	if s.Dir = dir; os.Getuid() != 0 || s.owner == "" {
		return
	}
	u, err := user.Lookup(s.owner)
	must(s.t, err)
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	s.cred = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	s.own(dir)
}

// own makes the user of the server the owner of files.
func (s *Server) own(files ...string) {
	s.t.Helper()
	for _, file := range files {
		if s.cred != nil {
			must(s.t, os.Chown(file, int(s.cred.Uid), int(s.cred.Gid)))
		}
	}
}

// Write writes a file in the server's directory.
func (s *Server) Write(name, text string) (path string) {
	s.t.Helper()
	path = s.file(name)
	must(s.t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

func (s *Server) file(name string) string { return filepath.Join(s.Dir, name) }
func (s *Server) data() string            { return s.file("data") }
func (s *Server) port() string            { return port(s.Addr) }

// FreeAddr returns a loopback address on which nothing listens, and never the same
// one twice. Its port is not one that the kernel gives to connections and to port 0:
// such a port could be taken while a server is restarted. The same holds for the
// port 10,000 above, the bus of a Redis Cluster.
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

// addrs holds the addresses that FreeAddr has returned in this process.
var addrs sync.Map

func port(addr string) string {
	_, p, _ := net.SplitHostPort(addr)
	return p
}

// ClusterURL returns the URL of a cluster: etcd, zookeeper or redis+cluster.
func ClusterURL(scheme string, members []*Server) string {
	all := make([]string, len(members))
	for i, s := range members {
		all[i] = s.Addr
	}
	return scheme + "://" + strings.Join(all, ",")
}

// environ returns this process's environment, with a home directory that the
// server's user may read: libpq looks for certificates there.
func (s *Server) environ() []string { return append(append(os.Environ(), "HOME="+s.Dir), s.env...) }

// run runs a program as the server's user, and waits for its end.
func (s *Server) run(argv ...string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = s.Dir, s.environ()
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.cred}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", argv[0], err, out)
	}
	return nil
}

// fill makes the data directory by a program. If the same command has run in this
// process before, fill copies its result, which is faster.
func (s *Server) fill(argv ...string) {
	s.t.Helper()
	templates.Lock()
	defer templates.Unlock()
	key := strings.ReplaceAll(strings.Join(argv, " "), s.Dir, "")
	if from, made := templates.dirs[key]; made {
		s.copyData(from, s.data())
		return
	}
	must(s.t, s.run(argv...))
	templates.dirs[key] = filepath.Join(newDir(s.t), "data")
	s.copyData(s.data(), templates.dirs[key])
}

// templates holds unused data directories, by the command that made them.
var templates = struct {
	sync.Mutex
	dirs map[string]string
}{dirs: map[string]string{}}

// LoseWhile runs f, kills the server, and starts it with its data of the time before
// f. The data is copied while the server runs. So the server must only append to its
// files, as Redis does.
func (s *Server) LoseWhile(f func()) {
	s.t.Helper()
	older := filepath.Join(s.Dir, "older")
	s.copyData(s.data(), older)
	f()
	s.Kill()
	must(s.t, errors.Join(os.RemoveAll(s.data()), os.Rename(older, s.data())))
	s.Start()
}

func (s *Server) copyData(from, to string) {
	s.t.Helper()
	if out, err := exec.Command("cp", "-a", "--reflink=auto", from, to).CombinedOutput(); err != nil {
		s.t.Fatalf("dbtest: copy %s: %v\n%s", from, err, out)
	}
}

// Copy makes a server with a copy of the data of s, which does not run or is frozen.
// Begin starts the copy.
func (s *Server) Copy() *Server {
	s.t.Helper()
	c := *s
	c.Addr, c.PID, c.frozen = FreeAddr(s.t), 0, nil
	c.makeDir()
	c.copyData(s.data(), c.data())
	return &c
}

// Begin starts a new server for the first time.
func (s *Server) Begin() *Server {
	s.t.Helper()
	s.prepare()
	s.Start()
	return s
}

// beginAll begins servers that do not answer before all of them run.
func beginAll(all []*Server) {
	var starts errgroup.Group
	for _, s := range all {
		s.prepare()
		starts.Go(s.start)
	}
	must(all[0].t, starts.Wait())
}

// prepare sets the URLs, and kills the server when the test ends. If the test
// failed, it logs the end of the server's log.
func (s *Server) prepare() {
	s.urls(s)
	s.t.Cleanup(func() {
		if s.frees && s.Running() {
			_ = syscall.Kill(s.PID, syscall.SIGCONT)
			s.end(syscall.SIGQUIT)
		}
		s.Kill()
		if s.t.Failed() {
			text := s.Log()
			s.t.Logf("the end of the log of %s at %s:\n%s", s.Name, s.Addr, text[max(0, len(text)-4000):])
		}
	})
}

// Start starts a server that does not run, and waits until it answers.
func (s *Server) Start() {
	s.t.Helper()
	must(s.t, s.start())
}

func (s *Server) start() (err error) {
	// A killed process may hold its port or shared memory for a moment.
	for try := 0; try < 5 && !s.Running(); try++ {
		time.Sleep(time.Duration(try) * 200 * time.Millisecond)
		if err = s.launch(); err != nil {
			break
		}
		within(Patience, 0, func() bool {
			err = s.ready(s)
			time.Sleep(50 * time.Millisecond) // another process may have answered, and this one end
			return err == nil || !s.Running()
		})
		switch {
		case !s.Running():
			err = fmt.Errorf("ended at once: %s", s.Log())
		case err != nil:
			err = fmt.Errorf("does not answer: %w", err)
		}
	}
	if err != nil {
		err = fmt.Errorf("dbtest: %s: %w", s.Name, err)
	}
	return err
}

// launch starts the process, and does not wait until it answers. The output is
// appended to the log.
func (s *Server) launch() error {
	log, err := os.OpenFile(s.file("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := Supervised(s.argv(s)...)
	cmd.Dir, cmd.Env = s.Dir, s.environ()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr.Credential = s.cred
	if err := cmd.Start(); err != nil {
		return err
	}
	s.PID, s.exited = cmd.Process.Pid, make(chan struct{})
	go func(done chan struct{}) {
		_ = cmd.Wait() // most servers are killed, which is an error here
		close(done)
	}(s.exited)
	return nil
}

// Log returns the output of the server so far.
func (s *Server) Log() string {
	output, _ := os.ReadFile(s.file("log")) // there is none before the first start
	return string(bytes.TrimSpace(output))
}

// Running reports whether the server was started and has not ended.
func (s *Server) Running() bool {
	select {
	case <-s.exited:
		return false
	default:
		return s.PID != 0
	}
}

// Stop stops the server in order.
func (s *Server) Stop() { s.end(s.quit) }

// Kill ends the server and all its processes at once, as a power cut does.
func (s *Server) Kill() { s.end(syscall.SIGKILL) }

// end sends a signal to the server and waits until it has ended. With SIGKILL it
// also kills the descendants.
func (s *Server) end(sig syscall.Signal) {
	s.t.Helper()
	pid := s.PID
	if pid == 0 {
		return
	}
	var others []int
	if s.Running() && sig == syscall.SIGKILL {
		// A process that was just forked holds the server's socket. It may have
		// a process group of its own, as PostgreSQL's backends do.
		_ = syscall.Kill(pid, syscall.SIGSTOP) // so that it forks no more
		stopped(pid)
		others = Descendants(pid)
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		for _, other := range others {
			_ = syscall.Kill(other, syscall.SIGKILL)
		}
	} else if s.Running() {
		_ = syscall.Kill(pid, sig)
	}
	s.thawChildren() // a stopped child does not end
	select {
	case <-s.exited:
	case <-time.After(Patience):
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		s.t.Errorf("dbtest: %s did not end", s.Name)
		<-s.exited
	}
	for _, other := range others { // its parent may not have waited for it
		within(Patience, time.Millisecond, func() bool { return strings.Contains("Z", state(fmt.Sprint("/proc/", other))) })
	}
	Ended(pid)
	s.PID = 0
}

// Freeze suspends all processes of the server. Thaw resumes them.
func (s *Server) Freeze() {
	s.t.Helper()
	must(s.t, syscall.Kill(s.PID, syscall.SIGSTOP))
	AwaitStopped(s.t, s.PID)
	s.frozen = Descendants(s.PID) // the stopped parent adds none
	for _, child := range s.frozen {
		supervise("process", strconv.Itoa(child))
		_ = syscall.Kill(child, syscall.SIGSTOP) // it may have ended
		AwaitStopped(s.t, child)
	}
}

// Thaw resumes a frozen server.
func (s *Server) Thaw() {
	s.t.Helper()
	s.thawChildren()
	must(s.t, syscall.Kill(s.PID, syscall.SIGCONT))
}

func (s *Server) thawChildren() {
	for _, child := range s.frozen {
		_ = syscall.Kill(child, syscall.SIGCONT) // it may have ended
		Ended(child)
	}
	s.frozen = nil
}

// listens returns an error unless something accepts connections at addr.
func listens(addr string) error {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return err
	}
	return c.Close()
}

// answers sends a line to a server. It returns an error unless the first 4 KiB of the
// answer hold the texts.
func answers(addr, line string, texts ...string) error {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(2 * time.Second))
	if _, err := c.Write([]byte(line)); err != nil {
		return err
	}
	answer := make([]byte, 4096)
	n, err := c.Read(answer)
	if err == nil && slices.ContainsFunc(texts, func(text string) bool { return !bytes.Contains(answer[:n], []byte(text)) }) {
		err = errors.New(string(answer[:n]))
	}
	return err
}

// must ends a test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Await waits until done returns true, at most Patience. what names the condition in
// the error.
func Await(t testing.TB, what string, done func() bool) {
	t.Helper()
	if !within(Patience, 50*time.Millisecond, done) {
		t.Fatalf("no %s after %v", what, Patience)
	}
}
