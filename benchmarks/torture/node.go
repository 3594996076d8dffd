package torture

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"nextid/benchmarks/load"
	"nextid/dbtest"
	"nextid/dsn"
)

// node is one server.
type node struct {
	*dbtest.Server
	place   *place
	index   int
	steady  bool            // never killed; its use of resources is sampled
	space   *namespace      // its network; nil for that of this machine
	clock   string          // control file of skewclock; "": the real clock
	links   []*dbtest.Proxy // proxies to the store, one for each address in its URL; empty if connections cannot be cut
	samples []sample        // of its goroutine watch
}

// String names the server in files and reports.
func (n *node) String() string { return n.place.kind + strconv.Itoa(n.index+1) }

// newNode starts a server with its network and clock. Clients use its Unix sockets, so
// that faults of its network do not cut their connections. The first server of a
// store and each third one after it have a clock that can be moved. The third server
// is never killed.
func (p *place) newNode(index int) *node {
	r := p.run
	n := &node{place: p, index: index, steady: index == 2}
	config, on := r.Server(), "127.0.0.1"
	config.Sockets = true
	if r.namespaces == "" && !p.direct {
		if space, err := newNamespace(); err != nil {
			r.namespaces = err.Error()
		} else {
			r.Cleanup(space.remove)
			n.space, on = space, space.outside
			config.Under = []string{"ip", "netns", "exec", space.name}
		}
	}
	if r.clocks == "" && index%3 == 0 {
		n.clock = filepath.Join(r.TempDir(), "clock")
		right(n)
		config.Under = append(config.Under, r.skewclock, n.clock)
		config.Env = append(config.Env, "NEXTID_CLOCK_LIMIT=0s") // so that the server starts with a wrong clock
	}
	if p.lose != nil {
		config.Env = append(config.Env, "NEXTID_WORKER_SLICE=10s") // after a failover, claims wait for twice as long
	}
	if p.url != "" {
		config.Env = append(config.Env, "NEXTID_STORE="+n.cut(on)) // not an argument: it may hold a password
	}
	n.Server = r.Open(config.Start)
	return n
}

// cut puts a proxy that listens on an address before each host of the store, and
// returns the URL of the store for the server.
func (n *node) cut(on string) string {
	p, r := n.place, n.place.run
	if p.direct {
		return p.url
	}
	u, hosts, err := dsn.Parse(p.url)
	r.Must(err)
	for i, host := range dsn.WithPort(hosts, ports[u.Scheme]) {
		n.links = append(n.links, dbtest.CutOn(r, host, on))
		hosts[i] = n.links[i].Addr
	}
	return dsn.Text(u, hosts)
}

// ports maps the scheme of a store's URL to its default port.
var ports = map[string]string{
	"postgres": "5432", "postgresql": "5432", "mysql": "3306", "mariadb": "3306", "redis": "6379", "rediss": "6379",
	"redis+cluster": "6379", "rediss+cluster": "6379", "redis+sentinel": "26379", "rediss+sentinel": "26379",
	"etcd": "2379", "etcds": "2379", "zookeeper": "2181",
}

// setClock sets the offset of the server's wall clock from the real one. If frozen
// (Unix ns) is not 0, the clock stands still at that time.
func (n *node) setClock(offset time.Duration, frozen int64) {
	f, err := os.OpenFile(n.clock, os.O_RDWR|os.O_CREATE, 0o600)
	n.place.run.Must(err)
	b := binary.NativeEndian.AppendUint64(nil, uint64(offset))
	_, err = f.WriteAt(binary.NativeEndian.AppendUint64(b, uint64(frozen)), 0)
	n.place.run.Must(errors.Join(err, f.Close()))
}

// awaitAnswers waits until the server answers draws from all generators.
func (n *node) awaitAnswers(ctx context.Context) error {
	for _, name := range slices.Concat(n.place.strict, n.place.names) {
		for why, err := error(nil), n.answers(ctx, name); err != nil; err = n.answers(ctx, name) {
			if ctx.Err() != nil {
				return fmt.Errorf("%s does not answer for %s: %w", n, name, cmp.Or(why, err)) // not that ctx has ended
			}
			why = err
			load.Rest(ctx, 100*time.Millisecond)
		}
	}
	return nil
}

// answers draws once from a server.
func (n *node) answers(ctx context.Context, name string) error {
	link, err := n.dial(ctx, ways[0], "")
	if err != nil {
		return err
	}
	defer link.Close()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ids, err := link.Exec(ctx, "SELECT next_id('"+name+"')")
	if l := n.place.run.ledger; len(ids) > 0 {
		l.got(l.connection(ways[0]), name, ids)
	}
	return err
}

//go:embed clock/skewclock.c
var skewclockSource []byte

// buildSkewclock compiles the tool that runs a program with a wall clock of its own.
// If that is not possible here, why is the reason.
func (r *run) buildSkewclock() (tool, why string) {
	if runtime.GOARCH != "amd64" {
		return "", "needs Linux on amd64"
	}
	dir := r.TempDir()
	source, tool := filepath.Join(dir, "skewclock.c"), filepath.Join(dir, "skewclock")
	if err := os.WriteFile(source, skewclockSource, 0o600); err != nil {
		return "", err.Error()
	}
	if out, err := exec.CommandContext(r.Ctx, "gcc", "-O2", "-w", "-o", tool, source).CombinedOutput(); err != nil {
		return "", fmt.Sprintf("needs a C compiler, on Debian the packages gcc and libc6-dev: %v: %s", err, out)
	}
	return tool, ""
}

// namespace is a network namespace of one server, with a veth pair to this machine.
type namespace struct {
	name    string
	device  string // the end of the pair on this machine
	outside string // address of that end, from 198.18.0.0/15 (RFC 2544)
}

// spaces counts the namespaces of this process.
var spaces atomic.Int32

// newNamespace makes a namespace with a subnet of its own (/30).
func newNamespace() (*namespace, error) {
	serial, pid := int(spaces.Add(1)), os.Getpid()
	block := fmt.Sprintf("198.%d.%d.", 18+serial/60%2, pid%250)
	s := &namespace{
		name: fmt.Sprintf("nextid%d-%d", pid, serial), device: fmt.Sprintf("nx%d-%d", pid%100_000, serial),
		outside: block + strconv.Itoa(serial%60*4+1),
	}
	peer, inside := s.device+"p", block+strconv.Itoa(serial%60*4+2)
	for _, args := range [][]string{
		{"netns", "add", s.name},
		{"link", "add", s.device, "type", "veth", "peer", "name", peer, "netns", s.name},
		{"addr", "add", s.outside + "/30", "dev", s.device},
		{"link", "set", s.device, "up"},
		{"-n", s.name, "addr", "add", inside + "/30", "dev", peer},
		{"-n", s.name, "link", "set", peer, "up"},
		{"-n", s.name, "link", "set", "lo", "up"},
	} {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			s.remove()
			return nil, fmt.Errorf("needs root, and on Debian the package iproute2: ip %v: %w: %s", args, err, out)
		}
	}
	return s, nil
}

// set sets the server's interface up or down.
func (s *namespace) set(state string) error {
	return exec.Command("ip", "link", "set", s.device, state).Run()
}

func (s *namespace) remove() {
	_ = exec.Command("ip", "link", "del", s.device).Run() // it may not exist
	_ = exec.Command("ip", "netns", "del", s.name).Run()
}
