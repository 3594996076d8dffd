// Package rig starts what the benchmarks compare: nextid itself, and
// PostgreSQL, MariaDB and Redis from their Debian packages, on free ports of
// loopback and in a temporary directory, with their default settings, so
// PostgreSQL and MariaDB durable. It also reads what their processes use.
package rig

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Rig is a set of servers, and the directory of their data.
type Rig struct {
	dir     string
	mu      sync.Mutex
	servers []*Server
	empty   map[string]string // program → a data directory that nobody has used
}

// New makes a rig without servers.
func New() (*Rig, error) {
	dir, err := os.MkdirTemp("", "nextid-bench")
	if err != nil {
		return nil, err
	}
	// PostgreSQL and MariaDB run as other users when this one is root.
	return &Rig{dir: dir, empty: map[string]string{}}, os.Chmod(dir, 0o755)
}

// Close stops all servers and removes their data.
func (r *Rig) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var done sync.WaitGroup
	for _, s := range r.servers {
		done.Go(s.quit) // nobody needs the data any more
	}
	done.Wait()
	r.servers = nil
	return os.RemoveAll(r.dir)
}

// Server is a running program.
type Server struct {
	Name    string // "PostgreSQL 15.20"
	URL     string // over TCP
	Socket  string // the URL over its Unix socket
	Port    string
	PID     int // 0 when it is not on this machine
	data    string
	log     string // the file with what it says
	program *program
	stop    syscall.Signal
	cmd     *exec.Cmd
	ended   chan struct{} // closed when the process has ended
}

// program knows how to run one kind of server.
type program struct {
	name  string
	owner string // the user it runs as when we are root
	stop  syscall.Signal
	quit  syscall.Signal // ends it at once and clean; 0: SIGKILL does
	// create fills a new data directory. nil: the program does it.
	create func(home string) *exec.Cmd
	// command starts the server on a data directory. home belongs to the
	// server's user, and only sockets and logs are in it.
	command func(data, home, port string) *exec.Cmd
	// urls names the server.
	urls func(home, port string) (tcp, socket string)
	// answers asks for the version.
	answers func(ctx context.Context, url string) (version string, err error)
}

// startTimeout bounds how long a server may take until it answers, and
// stopTimeout how long it may take to end.
const (
	startTimeout = 3 * time.Minute
	stopTimeout  = 30 * time.Second
)

// start starts a program on a data directory; "" stands for a new one.
func (r *Rig) start(ctx context.Context, p *program, data string) (*Server, error) {
	home, err := r.home(p)
	if err != nil {
		return nil, err
	}
	if data == "" {
		data = filepath.Join(home, "data")
		if err := r.fill(ctx, p, data); err != nil {
			return nil, err
		}
	}
	for range 30 {
		port, err := FreePort()
		if err != nil {
			return nil, err
		}
		s := &Server{Name: p.name, Port: port, data: data, program: p, stop: p.stop}
		s.URL, s.Socket = p.urls(home, port)
		if err = r.launch(ctx, s, home); err == nil {
			return s, nil
		}
		if !passes(err) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(200 * time.Millisecond):
		}
	}
	return nil, fmt.Errorf("%s did not start in many attempts", p.name)
}

// passes reports whether what kept a server from starting passes: another
// process took the port before the server did, or processes of a PostgreSQL
// that was killed have not ended yet.
func passes(err error) bool {
	text := strings.ToLower(err.Error())
	return strings.Contains(text, "address already in use") || strings.Contains(text, "is still in use")
}

// home makes a directory that belongs to the program's user.
func (r *Rig) home(p *program) (string, error) {
	home, err := os.MkdirTemp(r.dir, "s")
	if err != nil {
		return "", err
	}
	if credential, err := p.credential(); err != nil {
		return "", err
	} else if credential != nil {
		return home, os.Chown(home, int(credential.Uid), int(credential.Gid))
	}
	return home, nil
}

// fill makes a new data directory: the first of its kind by the program, the
// others by copying that one, which is faster.
func (r *Rig) fill(ctx context.Context, p *program, data string) error {
	if p.create == nil {
		return os.Mkdir(data, 0o700)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.empty[p.name] == "" {
		home, err := r.home(p)
		if err != nil {
			return err
		}
		cmd := p.create(home)
		if err := p.runAs(cmd, home); err != nil {
			return err
		}
		if out, err := combinedOutput(ctx, cmd); err != nil {
			return fmt.Errorf("%s: %w\n%s", filepath.Base(cmd.Path), err, out)
		}
		r.empty[p.name] = filepath.Join(home, "data")
	}
	return copyTree(ctx, r.empty[p.name], data)
}

// combinedOutput runs a command and ends it with ctx.
func combinedOutput(ctx context.Context, cmd *exec.Cmd) ([]byte, error) {
	bound := exec.CommandContext(ctx, cmd.Path)
	bound.Args, bound.Dir, bound.SysProcAttr = cmd.Args, cmd.Dir, cmd.SysProcAttr
	return bound.CombinedOutput()
}

// copyTree copies a data directory with owners and modes.
func copyTree(ctx context.Context, from, to string) error {
	if out, err := exec.CommandContext(ctx, "cp", "-a", "--reflink=auto", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("copy %s: %w\n%s", from, err, out)
	}
	return nil
}

// credential is the user a program must run as, nil for our own.
func (p *program) credential() (*syscall.Credential, error) {
	if os.Getuid() != 0 || p.owner == "" {
		return nil, nil
	}
	u, err := user.Lookup(p.owner)
	if err != nil {
		return nil, err
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(err1, err2)
}

// runAs sets user, directory and process group. The group is its own, since
// Ctrl-C on the terminal is for us: we end the servers when we are done. Where
// the system can do that, they also end when we die.
func (p *program) runAs(cmd *exec.Cmd, home string) error {
	credential, err := p.credential()
	cmd.Dir = home
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: credential, Setpgid: true}
	EndWithParent(cmd.SysProcAttr, p.stop)
	return err
}

// launch starts the process and waits until it answers.
func (r *Rig) launch(ctx context.Context, s *Server, home string) error {
	s.cmd = s.program.command(s.data, home, s.Port)
	if err := s.program.runAs(s.cmd, home); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(home, "log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	s.log, s.cmd.Stdout, s.cmd.Stderr = log.Name(), log, log
	if err := s.cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", s.program.name, err)
	}
	s.PID, s.ended = s.cmd.Process.Pid, make(chan struct{})
	go func() {
		_ = s.cmd.Wait() // how it ended is in its log
		close(s.ended)
	}()
	r.mu.Lock()
	r.servers = append(r.servers, s)
	r.mu.Unlock()
	if err := s.await(ctx); err != nil {
		s.Kill()
		said, _ := os.ReadFile(log.Name())
		return fmt.Errorf("%s: %w\n%s", s.program.name, err, said)
	}
	return nil
}

// Log is what the server has said so far.
func (s *Server) Log() (string, error) {
	said, err := os.ReadFile(s.log)
	return string(said), err
}

// await waits until the server answers.
func (s *Server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		version, err := s.program.answers(ctx, s.URL)
		if err == nil {
			s.Name = s.program.name + " " + version
			select {
			case <-s.ended:
				return errors.New("it ended, and something else answers: address already in use")
			default:
				return nil
			}
		}
		select {
		case <-s.ended:
			return errors.New("it ended before it answered")
		case <-ctx.Done():
			return fmt.Errorf("it does not answer: %w", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Stop ends the server as its operator would, and waits for that.
func (s *Server) Stop() { s.end(s.stop) }

// Kill ends the server with SIGKILL and waits for that.
func (s *Server) Kill() { s.end(syscall.SIGKILL) }

// quit ends the server without regard to its data, but so that it leaves
// nothing behind elsewhere: a PostgreSQL that is killed leaves shared memory.
func (s *Server) quit() {
	if s.program != nil && s.program.quit != 0 {
		s.end(s.program.quit)
	} else {
		s.Kill()
	}
}

func (s *Server) end(signal syscall.Signal) {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(signal) // it may have ended already
	select {
	case <-s.ended:
		return
	case <-time.After(stopTimeout):
	}
	_ = s.cmd.Process.Kill()
	<-s.ended
}

// Again starts a server on the data of one that has ended.
func (r *Rig) Again(ctx context.Context, s *Server) (*Server, error) {
	return r.start(ctx, s.program, s.data)
}

// Copy copies the data of a server that has ended, and returns how to start
// another one on the copy.
func (r *Rig) Copy(ctx context.Context, s *Server) (start func(context.Context) (*Server, error), err error) {
	data, err := r.copied(ctx, s)
	return func(ctx context.Context) (*Server, error) { return r.start(ctx, s.program, data) }, err
}

// copied copies the data of a server to a directory of its own.
func (r *Rig) copied(ctx context.Context, s *Server) (data string, err error) {
	home, err := r.home(s.program)
	if err != nil {
		return "", err
	}
	data = filepath.Join(home, "data")
	return data, copyTree(ctx, s.data, data)
}

// Standby is Copy for a PostgreSQL: the copy is an asynchronous standby that
// has got nothing since, and promote makes a primary of it.
func (r *Rig) Standby(ctx context.Context, s *Server) (promote func(context.Context) (*Server, error), err error) {
	data, err := r.copied(ctx, s)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(data, "standby.signal"), nil, 0o600); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (*Server, error) {
		standby, err := r.start(ctx, s.program, data)
		if err != nil {
			return nil, err
		}
		conn, err := pgx.Connect(ctx, standby.URL)
		if err != nil {
			return nil, err
		}
		defer func() { _ = conn.Close(ctx) }()
		_, err = conn.Exec(ctx, "SELECT pg_promote()")
		return standby, err
	}, nil
}

// given are the ports that FreePort has returned.
var given sync.Map

// FreePort returns a port that nobody listened on a moment ago, and none
// twice: a server that finds its port taken ends, and we would speak to the
// other one.
func FreePort() (string, error) {
	for range 100 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", err
		}
		_, port, err := net.SplitHostPort(l.Addr().String())
		if err := errors.Join(err, l.Close()); err != nil {
			return "", err
		}
		if _, known := given.LoadOrStore(port, true); !known {
			return port, nil
		}
	}
	return "", errors.New("no port is free")
}

// find finds a program that Debian may keep off the path.
func find(packageName string, candidates ...string) (string, error) {
	for _, c := range candidates {
		if strings.ContainsAny(c, "*") {
			if found, err := filepath.Glob(c); err == nil && len(found) > 0 {
				return found[len(found)-1], nil
			}
		} else if path, err := exec.LookPath(c); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("not installed: on Debian, apt-get install %s", packageName)
}
