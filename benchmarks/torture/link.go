package torture

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
)

// flow is what a link lets through.
type flow int

const (
	open   flow = iota
	silent      // nothing, and nobody is told: bytes wait, as they do before they are sent again
	deaf        // questions arrive, answers do not
)

// link is the way from one server to the store: a relay for each address in
// the store's URL.
type link struct {
	url string // the store's, with the relays' addresses

	mu      sync.Mutex
	changed *sync.Cond
	flow    flow
	closed  bool
	targets []string
	relays  []net.Listener
	conns   map[net.Conn]struct{}
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
	before = scheme + "://" + authority[:at]
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
	return before, addresses, after, nil
}

// ports are the stores' own.
var ports = map[string]string{
	"postgres": "5432", "postgresql": "5432", "mysql": "3306", "mariadb": "3306", "redis": "6379", "etcd": "2379", "zookeeper": "2181",
}

// newLink opens relays on an address of this machine.
func newLink(store, on string) (*link, error) {
	before, addresses, after, err := hosts(store)
	if err != nil {
		return nil, err
	}
	l := &link{targets: addresses, conns: map[net.Conn]struct{}{}}
	l.changed = sync.NewCond(&l.mu)
	var relayed []string
	for i := range addresses {
		listener, err := net.Listen("tcp", net.JoinHostPort(on, "0"))
		if err != nil {
			l.close()
			return nil, err
		}
		l.relays = append(l.relays, listener)
		relayed = append(relayed, listener.Addr().String())
		go l.serve(listener, i) // until close
	}
	l.url = before + strings.Join(relayed, ",") + after
	return l, nil
}

// aim leads new connections to a store that has moved.
func (l *link) aim(store string) error {
	_, addresses, _, err := hosts(store)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.targets = addresses
	return nil
}

func (l *link) set(f flow) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flow = f
	l.changed.Broadcast()
}

func (l *link) serve(listener net.Listener, i int) {
	for {
		server, err := listener.Accept()
		if err != nil {
			return // closed
		}
		l.mu.Lock()
		target := l.targets[min(i, len(l.targets)-1)]
		l.mu.Unlock()
		store, err := net.Dial("tcp", target)
		if err != nil {
			_ = server.Close() // which tells the server
			continue
		}
		l.mu.Lock()
		l.conns[server], l.conns[store] = struct{}{}, struct{}{}
		l.mu.Unlock()
		go l.pass(server, store, false)
		go l.pass(store, server, true)
	}
}

// pass copies until one side ends, and then ends both.
func (l *link) pass(from, to net.Conn, answers bool) {
	defer func() {
		_ = from.Close()
		_ = to.Close()
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.conns, from)
		delete(l.conns, to)
	}()
	buffer := make([]byte, 16<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			l.wait(answers)
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			l.wait(answers)
			return
		}
	}
}

// wait waits until the link lets something through.
func (l *link) wait(answers bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.closed && (l.flow == silent || l.flow == deaf && answers) {
		l.changed.Wait()
	}
}

func (l *link) close() {
	for _, r := range l.relays {
		_ = r.Close()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.changed.Broadcast()
	for c := range l.conns {
		_ = c.Close()
	}
}
