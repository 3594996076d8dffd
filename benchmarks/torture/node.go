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
	steady bool            // never killed; its use of resources is sampled
	space  *namespace      // its network; nil for that of this machine
	clock  string          // control file of skewclock; "": the real clock
	links  []*dbtest.Proxy // proxies to the store, one for each address in its URL; empty if connections cannot be cut
	store  string          // URL of the store with the addresses of links

	mu      sync.Mutex
	samples []sample
}

// socketPort is the port in the name of a server's Unix socket. Clients use the
// socket, so that faults of the server's network do not cut their connections.
const socketPort = "5433"

// String names the server in files and reports.
func (n *node) String() string { return n.place.kind + strconv.Itoa(n.index+1) }

// socket returns the path of the server's Unix socket for a protocol.
func (n *node) socket(p protocol) string {
	return filepath.Join(n.Dir, map[protocol]string{postgres: ".s.PGSQL." + socketPort, mysql: "mysql", web: "http"}[p])
}

// newNode makes a server with its network and clock. The first server of a store and
// each third one after it have a clock that can be moved. The third server is never
// killed.
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

// set sets the flow of all connections between the server and the store.
func (n *node) set(f dbtest.Flow) {
	for _, link := range n.links {
		link.Set(f)
	}
}

// hosts splits a store's URL into the part before the addresses, the addresses, and
// the part after them.
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

// ports maps the scheme of a store's URL to its default port.
var ports = map[string]string{
	"postgres": "5432", "postgresql": "5432", "mysql": "3306", "mariadb": "3306", "redis": "6379", "etcd": "2379", "zookeeper": "2181",
}

// setClock sets the offset of the server's wall clock from the real one. If frozen
// (Unix ns) is not 0, the clock stands still at that time.
func (n *node) setClock(offset time.Duration, frozen int64) error {
	f, err := os.OpenFile(n.clock, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	b := binary.NativeEndian.AppendUint64(nil, uint64(offset))
	_, err = f.WriteAt(binary.NativeEndian.AppendUint64(b, uint64(frozen)), 0)
	return errors.Join(err, f.Close())
}

// argv returns the server's command, in its network namespace and under skewclock.
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
		env = append(env, "NEXTID_STORE="+n.store) // not an argument: it may hold a password
	}
	if n.place.lose != nil {
		env = append(env, "NEXTID_WORKER_SLICE=10s") // after a failover, claims wait for twice as long
	}
	if n.clock != "" {
		env = append(env, "NEXTID_CLOCK_LIMIT=0s") // so that the server starts with a wrong clock
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

// do calls a method of the Server, and returns an error if the method fails.
func (n *node) do(method func()) error { return n.place.run.rig.Do(func(testing.TB) { method() }) }

func (n *node) connect(ctx context.Context) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return pgx.Connect(ctx, n.url())
}

func (n *node) url() string {
	return "postgres://torture@/nextid?sslmode=disable&host=" + url.QueryEscape(n.Dir) + "&port=" + socketPort
}

// close kills the server and removes its network.
func (n *node) close() {
	_ = n.do(n.Kill)
	n.set(dbtest.Open)
	if n.space != nil {
		n.space.remove()
	}
}

//go:embed clock/skewclock.c
var skewclockSource []byte

// buildSkewclock compiles the tool that runs a program with a wall clock of its own.
// If that is not possible here, why is the reason.
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

// namespace is a network namespace of one server, with a veth pair to this machine.
type namespace struct {
	name            string
	device          string // the end of the pair on this machine
	outside, inside string // addresses of the two ends, from 198.18.0.0/15 (RFC 2544)
}

// canMakeNamespaces returns why namespaces cannot be made here, "" if they can.
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

// newNamespace makes a namespace with a subnet of its own (/30).
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

// up sets the server's interface up or down.
func (s *namespace) up(up bool) error {
	state := map[bool]string{true: "up", false: "down"}[up]
	return exec.Command("ip", "link", "set", s.device, state).Run()
}

func (s *namespace) remove() {
	_ = exec.Command("ip", "link", "del", s.device).Run() // it may not exist
	_ = exec.Command("ip", "netns", "del", s.name).Run()
}
