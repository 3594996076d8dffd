//go:build linux && !goroutines

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

// Others are served before all input of a client that sends much is read. Without the
// event loop Go's scheduler decides that: a goroutine that never waits may keep its
// processor for 10 ms.
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
