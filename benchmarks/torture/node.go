package torture

import (
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"nextid/dbtest"
)

// node is one server.
type node struct {
	*dbtest.Server
	place  *place
	index  int
	steady bool            // it is never killed: what it uses is watched
	space  *namespace      // its network; nil for that of this machine
	clock  string          // the file that moves its clock; "" for the real clock
	links  []*dbtest.Proxy // the ways to the store, one for each address in its URL; none when the store is its own
	store  string          // its URL, with the addresses of the links

	mu      sync.Mutex
	samples []sample // of what it used
}

// socketPort is the port in the name of a server's Unix socket: clients must
// not notice that its network is gone.
const socketPort = "5433"

// String names the server in files and reports.
func (n *node) String() string { return n.place.kind + strconv.Itoa(n.index+1) }

// socket returns where clients find the server.
func (n *node) socket(p protocol) string {
	return filepath.Join(n.Dir, map[protocol]string{postgres: ".s.PGSQL." + socketPort, mysql: "mysql", web: "http"}[p])
}

// newNode makes the surroundings of a server. The first of a store has a
// clock that can be moved, and so has each third after it; of three, the last
// is never killed.
func (p *place) newNode(index int) (*node, error) {
	r := p.run
	n := &node{place: p, index: index, steady: index == 2}
	err := r.rig.Do(func(t testing.TB) {
		n.Server = dbtest.Command{Name: "nextid " + n.String(), Argv: n.argv, Env: n.environ, Ready: n.ready}.New(t)
	})
	if err != nil {
		return nil, err
	}
	on := "127.0.0.1"
	if r.namespaces == "" && !p.direct {
		space, err := newNamespace()
		if err != nil {
			return nil, err
		}
		n.space, on = space, space.outside
	}
	if r.clocks == "" && index%3 == 0 {
		n.clock = filepath.Join(n.Dir, "clock")
		if err := n.setClock(0, 0); err != nil {
			return nil, err
		}
	}
	if p.url == "" || p.direct {
		n.store = p.url
		return n, nil
	}
	before, addresses, after, err := hosts(p.url)
	if err != nil {
		return nil, err
	}
	var through []string
	err = r.rig.Do(func(t testing.TB) {
		for _, address := range addresses {
			link := dbtest.CutOn(t, address, on)
			n.links, through = append(n.links, link), append(through, link.Addr)
		}
	})
	n.store = before + strings.Join(through, ",") + after
	return n, err
}

// set changes what passes between the server and the store.
func (n *node) set(f dbtest.Flow) {
	for _, link := range n.links {
		link.Set(f)
	}
}

// hosts splits a store's URL into what comes before its addresses, the
// addresses, and what follows.
func hosts(store string) (before string, addresses []string, after string, err error) {
	u, err := url.Parse(store)
	if err != nil {
		return "", nil, "", fmt.Errorf("the store's URL: %w", err)
	}
	scheme, rest, _ := strings.Cut(store, "://")
	authority := rest
	if end := strings.IndexAny(rest, "/?"); end >= 0 {
		authority, after = rest[:end], rest[end:]
	}
	at := strings.LastIndexByte(authority, '@') + 1
	for address := range strings.SplitSeq(authority[at:], ",") {
		if _, _, err := net.SplitHostPort(address); err != nil {
			port, ok := ports[u.Scheme]
			if !ok || address == "" {
				return "", nil, "", fmt.Errorf("the store's URL needs HOST:PORT: %w", err)
			}
			address = net.JoinHostPort(address, port)
		}
		addresses = append(addresses, address)
	}
	return scheme + "://" + authority[:at], addresses, after, nil
}

// ports are the stores' own.
var ports = map[string]string{
	"postgres": "5432", "postgresql": "5432", "mysql": "3306", "mariadb": "3306", "redis": "6379", "etcd": "2379", "zookeeper": "2181",
}

// setClock moves the wall clock away from the real one, and freezes it at a
// time, in Unix ns, unless that is 0.
func (n *node) setClock(offset time.Duration, frozen int64) error {
	f, err := os.OpenFile(n.clock, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	b := binary.NativeEndian.AppendUint64(nil, uint64(offset))
	_, err = f.WriteAt(binary.NativeEndian.AppendUint64(b, uint64(frozen)), 0)
	return errors.Join(err, f.Close())
}

func (n *node) argv() (argv []string) {
	if n.space != nil {
		argv = append(argv, "ip", "netns", "exec", n.space.name)
	}
	if n.clock != "" {
		argv = append(argv, n.place.run.skewclock, n.clock)
	}
	return append(argv, n.place.run.cfg.Binary, "serve", "--data", filepath.Join(n.Dir, "data"),
		"--pg", n.socket(postgres), "--mysql", n.socket(mysql), "--http", n.socket(web))
}

func (n *node) environ() (env []string) {
	if n.store != "" {
		env = append(env, "NEXTID_STORE="+n.store) // which may hold a password
	}
	if n.place.lose != nil {
		env = append(env, "NEXTID_WORKER_SLICE=10s") // failovers are waited for twice as long
	}
	if n.clock != "" {
		env = append(env, "NEXTID_CLOCK_LIMIT=0s") // it shall start with a wrong clock
	}
	return env
}

func (n *node) ready() error {
	conn, err := n.connect(context.Background())
	if err != nil {
		return err
	}
	return conn.Close(context.Background())
}

// do calls a method of the Server. What would end a test is the error.
func (n *node) do(method func()) error { return n.place.run.rig.Do(func(testing.TB) { method() }) }

func (n *node) connect(ctx context.Context) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return pgx.Connect(ctx, n.url())
}

func (n *node) url() string {
	return "postgres://torture@/nextid?sslmode=disable&host=" + url.QueryEscape(n.Dir) + "&port=" + socketPort
}

// close ends the server and takes its surroundings away.
func (n *node) close() {
	_ = n.do(n.Kill)
	n.set(dbtest.Open)
	if n.space != nil {
		n.space.remove()
	}
}

//go:embed clock/skewclock.c
var skewclockSource []byte

// buildSkewclock compiles the tool that runs a program with a clock of its
// own. why is the reason when that cannot be done here.
func buildSkewclock(ctx context.Context, dir string) (tool, why string) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return "", "needs Linux on amd64"
	}
	source := filepath.Join(dir, "skewclock.c")
	tool = filepath.Join(dir, "skewclock")
	if err := os.WriteFile(source, skewclockSource, 0o600); err != nil {
		return "", err.Error()
	}
	if _, err := exec.LookPath("gcc"); err != nil {
		return "", "needs a C compiler: on Debian, apt-get install gcc libc6-dev"
	}
	if out, err := exec.CommandContext(ctx, "gcc", "-O2", "-w", "-o", tool, source).CombinedOutput(); err != nil {
		return "", fmt.Sprintf("gcc: %v: %s", err, out)
	}
	return tool, ""
}

// namespace is the network of one server: an interface pair to this machine.
type namespace struct {
	name            string
	device          string // the end of the pair on this machine
	outside, inside string // addresses, out of the block for tests (RFC 2544)
}

// canMakeNamespaces says why not, "" if it can be done.
func canMakeNamespaces(ctx context.Context) (why string) {
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		return "needs root on Linux"
	}
	if _, err := exec.LookPath("ip"); err != nil {
		return "needs the program ip: on Debian, apt-get install iproute2"
	}
	name := "nextid" + strconv.Itoa(os.Getpid()) + "t"
	if out, err := exec.CommandContext(ctx, "ip", "netns", "add", name).CombinedOutput(); err != nil {
		return fmt.Sprintf("ip netns add: %s", out)
	}
	_ = exec.CommandContext(ctx, "ip", "netns", "del", name).Run()
	return ""
}

// spaces counts the namespaces of this process.
var spaces struct {
	sync.Mutex
	n int
}

func newNamespace() (*namespace, error) {
	spaces.Lock()
	spaces.n++
	serial := spaces.n
	spaces.Unlock()
	name := fmt.Sprintf("nextid%d-%d", os.Getpid(), serial)
	block := fmt.Sprintf("198.%d.%d.", 18+serial/60%2, os.Getpid()%250)
	s := &namespace{
		name: name, device: fmt.Sprintf("nx%d-%d", os.Getpid()%100_000, serial),
		outside: block + strconv.Itoa(serial%60*4+1), inside: block + strconv.Itoa(serial%60*4+2),
	}
	peer := s.device + "p"
	for _, args := range [][]string{
		{"netns", "add", name},
		{"link", "add", s.device, "type", "veth", "peer", "name", peer, "netns", name},
		{"addr", "add", s.outside + "/30", "dev", s.device},
		{"link", "set", s.device, "up"},
		{"-n", name, "addr", "add", s.inside + "/30", "dev", peer},
		{"-n", name, "link", "set", peer, "up"},
		{"-n", name, "link", "set", "lo", "up"},
	} {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			s.remove()
			return nil, fmt.Errorf("network namespace: ip %v: %w: %s", args, err, out)
		}
	}
	return s, nil
}

// up takes the server's interface down, or up again.
func (s *namespace) up(up bool) error {
	state := map[bool]string{true: "up", false: "down"}[up]
	return exec.Command("ip", "link", "set", s.device, state).Run()
}

func (s *namespace) remove() {
	_ = exec.Command("ip", "link", "del", s.device).Run() // it may not be there
	_ = exec.Command("ip", "netns", "del", s.name).Run()
}
