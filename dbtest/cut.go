package dbtest

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// Proxy stands between a client and a server and can cut or hold what the
// server answers.
type Proxy struct {
	Addr string

	to    string
	limit atomic.Int64 // bytes of answers after which a connection is cut; 0: never

	passed atomic.Int64

	mu    sync.Mutex
	thaw  chan struct{} // closed when answers may pass
	hangs bool
	conns map[net.Conn]bool
	ended bool
}

// Cut starts a Proxy before the server at an address.
func Cut(t testing.TB, to string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Addr: l.Addr().String(), to: to, thaw: make(chan struct{}), conns: map[net.Conn]bool{}}
	close(p.thaw)
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
		p.Hang(false)
		p.mu.Lock()
		p.ended = true
		for c := range p.conns {
			c.Close()
		}
		p.mu.Unlock()
		work.Wait()
	})
	return p
}

// After cuts every connection, those that there are too, when n bytes of
// answers have passed from now on; 0 cuts none.
func (p *Proxy) After(n int64) { p.limit.Store(n) }

// Passed is how many bytes of answers have passed.
func (p *Proxy) Passed() int64 { return p.passed.Load() }

// Hang holds all answers back, or lets them pass.
func (p *Proxy) Hang(hang bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case hang && !p.hangs:
		p.thaw = make(chan struct{})
	case !hang && p.hangs:
		close(p.thaw)
	}
	p.hangs = hang
}

// add keeps a connection to be closed at the end.
func (p *Proxy) add(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		c.Close()
		return false
	}
	p.conns[c] = true
	return true
}

func (p *Proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer server.Close()
	if !p.add(client) || !p.add(server) {
		return
	}
	var asked sync.WaitGroup
	defer asked.Wait()
	asked.Go(func() {
		_, _ = io.Copy(server, client)
		server.Close()
	})
	defer client.Close()
	buffer := make([]byte, 4096)
	passed, limit := int64(0), p.limit.Load()
	for {
		n, err := server.Read(buffer)
		p.mu.Lock()
		thaw := p.thaw
		p.mu.Unlock()
		<-thaw
		if now := p.limit.Load(); now != limit {
			passed, limit = 0, now
		}
		if limit > 0 && passed+int64(n) > limit {
			_, _ = client.Write(buffer[:max(0, limit-passed)])
			return
		}
		passed += int64(n)
		p.passed.Add(int64(n))
		if _, werr := client.Write(buffer[:n]); err != nil || werr != nil {
			return
		}
	}
}
