package dbtest

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// Proxy relays connections to a server. It can cut connections, hold requests and
// answers, and counts the bytes of answers.
type Proxy struct {
	Addr string

	to     atomic.Pointer[string]
	limit  atomic.Int64 // bytes of answers after which a connection is cut; 0: no limit
	passed atomic.Int64 // bytes of answers

	mu      sync.Mutex
	changed *sync.Cond // signals a new flow
	flow    Flow
}

// Flow says which bytes a Proxy holds. Held bytes are not lost: they pass later, as
// TCP sends them again after an interruption of the network.
type Flow int

// The flows.
const (
	Open        Flow = iota // holds nothing
	HoldAnswers             // holds answers
	HoldAll                 // holds requests and answers
)

// Cut starts a Proxy in front of the server at an address. It ends with the test.
func Cut(t testing.TB, to string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	p := &Proxy{Addr: l.Addr().String()}
	p.changed = sync.NewCond(&p.mu)
	p.To(to)
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() { p.serve(ctx, c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		cancel()
		p.Set(Open)
		work.Wait()
	})
	return p
}

// To sets the address of the server for new connections.
func (p *Proxy) To(addr string) { p.to.Store(&addr) }

// After cuts each connection, old or new, once n more bytes of answers have passed
// on it. With n = 0 no connection is cut.
func (p *Proxy) After(n int64) { p.limit.Store(n) }

// Passed returns the number of bytes of answers that have passed.
func (p *Proxy) Passed() int64 { return p.passed.Load() }

// Set sets the flow.
func (p *Proxy) Set(f Flow) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flow = f
	p.changed.Broadcast()
}

// serve relays one connection until one side closes it, or ctx ends.
func (p *Proxy) serve(ctx context.Context, client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", *p.to.Load())
	if err != nil {
		return
	}
	var ways sync.WaitGroup
	closeBoth := func() {
		client.Close()
		server.Close()
	}
	defer context.AfterFunc(ctx, closeBoth)()
	ways.Go(func() {
		defer closeBoth()
		p.pass(client, server, HoldAll)
	})
	p.pass(server, client, HoldAnswers)
	closeBoth()
	ways.Wait()
}

// pass copies bytes until one side ends, or the limit of answers is reached. It
// holds bytes while the flow is held or greater: HoldAnswers for answers, HoldAll
// for requests.
func (p *Proxy) pass(from io.Reader, to io.Writer, held Flow) {
	buffer := make([]byte, 16<<10)
	passed, limit := int64(0), p.limit.Load()
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		for p.flow >= held {
			p.changed.Wait()
		}
		p.mu.Unlock()
		if now := p.limit.Load(); now != limit {
			passed, limit = 0, now
		}
		if limit > 0 && held == HoldAnswers && passed+int64(n) > limit {
			_, _ = to.Write(buffer[:max(0, limit-passed)])
			return
		}
		passed += int64(n)
		if held == HoldAnswers {
			p.passed.Add(int64(n))
		}
		if _, werr := to.Write(buffer[:n]); err != nil || werr != nil {
			return
		}
	}
}
