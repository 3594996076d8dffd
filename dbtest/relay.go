package dbtest

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// Proxy is a relay between clients and a server. It can cut or hold what passes,
// and counts the bytes.
type Proxy struct {
	Addr string

	to     atomic.Pointer[string]
	limit  atomic.Int64 // bytes of answers after which a connection is cut; 0: never
	passed atomic.Int64 // bytes of answers

	mu      sync.Mutex
	changed *sync.Cond
	flow    Flow
	conns   map[net.Conn]bool
	ended   bool
}

// Flow holds what a Proxy lets through.
type Flow int

// The flows. Held bytes are not lost: they pass later, as those of a network
// that is interrupted are sent again.
const (
	Open   Flow = iota // all
	Deaf               // requests, and no answers
	Silent             // nothing
)

// Cut starts a Proxy before the server at an address.
func Cut(t testing.TB, to string) *Proxy {
	t.Helper()
	return CutOn(t, to, "127.0.0.1")
}

// CutOn is Cut for a Proxy that listens on an address of its own.
func CutOn(t testing.TB, to, host string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp4", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Addr: l.Addr().String(), conns: map[net.Conn]bool{}}
	p.changed = sync.NewCond(&p.mu)
	p.To(to)
	var work sync.WaitGroup
	work.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() { p.serve(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		p.mu.Lock()
		p.ended = true
		p.changed.Broadcast()
		for c := range p.conns {
			c.Close()
		}
		p.mu.Unlock()
		work.Wait()
	})
	return p
}

// To leads connections that begin now to another address.
func (p *Proxy) To(addr string) { p.to.Store(&addr) }

// After cuts every connection, those that there are too, when n bytes of
// answers have passed from now on; 0 cuts none.
func (p *Proxy) After(n int64) { p.limit.Store(n) }

// Passed returns how many bytes of answers have passed.
func (p *Proxy) Passed() int64 { return p.passed.Load() }

// Hang holds all answers back, or lets them pass.
func (p *Proxy) Hang(hang bool) {
	if hang {
		p.Set(Deaf)
	} else {
		p.Set(Open)
	}
}

// Set changes what passes.
func (p *Proxy) Set(f Flow) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flow = f
	p.changed.Broadcast()
}

// keep keeps a connection to be closed at the end, until it is let go.
func (p *Proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[c] = true
	return !p.ended
}

func (p *Proxy) end(c net.Conn) {
	c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

func (p *Proxy) serve(client net.Conn) {
	defer p.end(client)
	server, err := net.Dial("tcp", *p.to.Load())
	if err != nil {
		return
	}
	defer p.end(server)
	if !p.keep(client) || !p.keep(server) {
		return
	}
	var asked sync.WaitGroup
	defer asked.Wait()
	asked.Go(func() {
		p.pass(client, server, Silent)
		server.Close()
	})
	defer client.Close()
	p.pass(server, client, Deaf)
}

// pass copies until one side ends, or the limit of answers is reached. Bytes
// wait while the flow is held or more.
func (p *Proxy) pass(from io.Reader, to io.Writer, held Flow) {
	buffer := make([]byte, 16<<10)
	passed, limit := int64(0), p.limit.Load()
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		for p.flow >= held && !p.ended {
			p.changed.Wait()
		}
		p.mu.Unlock()
		if now := p.limit.Load(); now != limit {
			passed, limit = 0, now
		}
		if limit > 0 && held == Deaf && passed+int64(n) > limit {
			_, _ = to.Write(buffer[:max(0, limit-passed)])
			return
		}
		passed += int64(n)
		if held == Deaf {
			p.passed.Add(int64(n))
		}
		if _, werr := to.Write(buffer[:n]); err != nil || werr != nil {
			return
		}
	}
}
