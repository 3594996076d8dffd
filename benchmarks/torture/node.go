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
	clock   string          // control file of skewclock; "": the real clock
	links   []*dbtest.Proxy // proxies to the store, one for each address in its URL; empty if connections cannot be cut
	samples []sample        // of its goroutine watch
}

// String names the server in files and reports.
func (n *node) String() string { return n.place.kind + strconv.Itoa(n.index+1) }

// newNode starts a server with its clock. Clients use its Unix sockets. The first
// server of a store and each third one after it have a clock that can be moved. The
// third server is never killed.
func (p *place) newNode(index int) *node {
	r := p.run
	n := &node{place: p, index: index, steady: index == 2}
	config := r.Server()
	config.Sockets = true
	if r.clocks == "" && index%3 == 0 {
		n.clock = filepath.Join(r.TempDir(), "clock")
		right(n)
		config.Under = []string{r.skewclock, n.clock}
		config.Env = append(config.Env, "NEXTID_CLOCK_LIMIT=0s") // so that the server starts with a wrong clock
	}
	if p.lose != nil {
		config.Env = append(config.Env, "NEXTID_WORKER_SLICE=10s") // after a failover, claims wait for twice as long
	}
	if p.url != "" {
		config.Env = append(config.Env, "NEXTID_STORE="+n.cut()) // not an argument: it may hold a password
	}
	n.Server = r.Open(config.Start)
	return n
}

// cut puts a proxy before each host of the store, and returns the URL of the store for
// the server.
func (n *node) cut() string {
	p, r := n.place, n.place.run
	if p.noWay != "" {
		return p.url
	}
	u, hosts, err := dsn.Parse(p.url)
	r.Must(err)
	for i, host := range hosts {
		n.links = append(n.links, dbtest.Cut(r, host))
		hosts[i] = n.links[i].Addr
	}
	return dsn.Text(u, hosts)
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
