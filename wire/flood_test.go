//go:build linux

package wire

import (
	"bytes"
	"context"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// flood is a machine that counts the bytes of skipped messages. When the first ones
// arrive, another client sends an echo. asked is the count when that echo is served.
type flood struct {
	lines
	*flooded
}

type flooded struct {
	asks         atomic.Pointer[peer]
	bytes, asked atomic.Int64
}

func (m *flood) Feed(ctx context.Context, in []byte, out *Out) (int, error) {
	switch {
	case bytes.HasPrefix(in, []byte("skip")):
		m.asks.Load().send("echo now\n")
	case m.skip > 0:
		m.bytes.Add(int64(len(in)))
	case bytes.HasPrefix(in, []byte("echo")):
		m.asked.Store(m.bytes.Load())
	}
	return m.lines.Feed(ctx, in, out)
}

// Others are served before all input of a client that sends much is read.
func TestFloodsDoNotBlockOtherClients(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	shared := &flooded{}
	s := &Server{NewMachine: func(c *Conn) Machine { return &flood{lines{conn: c}, shared} }}
	l, err := Listen(socketPath(t), "")
	if err != nil {
		t.Fatal(err)
	}
	serve(t, s, l)
	asks, floods := dialTCP(t, l).login(), dialTCP(t, l).login()
	shared.asks.Store(asks)
	const size = 5 * readSize // the socket holds it
	floods.send("skip " + strconv.Itoa(size) + "\n" + strings.Repeat("x", size) + "echo over\n")
	floods.want("over")
	asks.want("now")
	if n := shared.asked.Load(); n > size/2 {
		t.Errorf("another client waited for %d of %d bytes", n, size)
	}
}

// The buffer of a message that arrives in pieces is allocated a few times, and is at
// most twice as long as the part that has arrived.
func TestMemoryOfLongMessages(t *testing.T) {
	const message, piece = 1 << 20, readSize
	c := &Conn{machine: &lines{}}
	total := 0
	for arrived := piece; arrived < message; arrived += piece {
		before := cap(c.pending)
		if !c.grow(arrived) {
			t.Fatal("refused")
		}
		c.pending = c.pending[:arrived]
		if n := cap(c.pending); n != before {
			total += n
			if n > 2*arrived {
				t.Errorf("%d bytes for %d that have arrived", n, arrived)
			}
		}
	}
	if total > 6*message {
		t.Errorf("%d bytes were allocated in all, want at most %d", total, 6*message)
	}
}
