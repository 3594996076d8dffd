package pgwire_test

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"nextid/wire"
	"nextid/wire/pgwire"
	"nextid/wire/wiretest"
)

// pipes is a net.Listener whose connections are of net.Pipe.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	close  func()
}

func listenPipes() *pipes {
	closed := make(chan struct{})
	return &pipes{make(chan net.Conn), closed, sync.OnceFunc(func() { close(closed) })}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Dial connects. It waits until the connection is accepted.
func (p *pipes) Dial() (net.Conn, error) {
	client, server := net.Pipe()
	p.conns <- server
	return client, nil
}

func (p *pipes) Close() error   { p.close(); return nil }
func (p *pipes) Addr() net.Addr { return nil }

// memoryServer serves on a network without buffers, so that a test sees how far the
// server runs ahead of the reader.
func memoryServer(t *testing.T) *pipes {
	t.Helper()
	l := listenPipes()
	server := pgwire.New(pgwire.Config{SQL: wiretest.Ready(wiretest.SQL(t)), Logger: quiet()})
	wiretest.Serve(t, server, l, wire.ErrServerClosed)
	return l
}

// messages reads messages without keeping them, while visit returns true.
func messages(t *testing.T, r io.Reader, visit func(typ byte) bool) {
	t.Helper()
	var buf [4096]byte
	for {
		if _, err := io.ReadFull(r, buf[:5]); err != nil {
			t.Fatal(err)
		}
		typ, left := buf[0], int(binary.BigEndian.Uint32(buf[1:]))-4
		for left > 0 {
			n, err := r.Read(buf[:min(left, len(buf))])
			if err != nil {
				t.Fatal(err)
			}
			left -= n
		}
		if !visit(typ) {
			return
		}
	}
}

// heap is the bytes in use after a collection.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A million rows are sent in constant memory, however slowly they are read. The ids
// are drawn only a little ahead of the reader.
func TestAMillionRowsStream(t *testing.T) {
	const (
		total    = 1_000_000
		ahead    = 20_000  // rows in the buffers of the network and the server
		headroom = 4 << 20 // bytes
	)
	for name, c := range map[string]struct {
		sql  string
		row  byte
		rows int // sent beside the ids
	}{
		"copy text": {"COPY (SELECT next_id('numbers') FROM generate_series(1,1000000)) TO STDOUT", 'd', 0},
		"copy csv":  {"COPY (SELECT next_id('numbers') FROM generate_series(1,1000000)) TO STDOUT (FORMAT csv)", 'd', 0},
		"select":    {"SELECT next_id('numbers') FROM generate_series(1,1000000)", 'D', 0},
	} {
		t.Run(name, func(t *testing.T) {
			l := memoryServer(t)
			dial := func() *client {
				conn, err := l.Dial()
				return loginOn(t, conn, err)
			}
			other, reader := dial(), dial()
			drawn := func() int {
				other.write(queryMsg("SELECT next_id('numbers')"))
				row := other.until("ReadyForQuery")[1]
				n, err := strconv.Atoi(row[len(`DataRow "`) : len(row)-1])
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
			drawn()
			before, peak, extra, rows := heap(), uint64(0), 0, 0
			reader.write(queryMsg(c.sql))
			messages(t, bufio.NewReaderSize(reader.conn, 64<<10), func(typ byte) bool {
				if typ != c.row {
					return typ != 'Z'
				}
				if rows++; rows%200_000 == 1 {
					peak = max(peak, heap()) // long enough for the server to run as far ahead as it can
					extra++
					if n := drawn(); n-extra-1 > rows+ahead {
						t.Errorf("%d ids were drawn when %d rows had been read", n, rows)
					}
				}
				return true
			})
			if rows != total+c.rows {
				t.Errorf("%d rows", rows)
			}
			if peak > before+headroom {
				t.Errorf("the heap grew by %d KiB", (peak-before)>>10)
			}
		})
	}
}

// A statement that waits for its client to read has no CPU slot, so that another
// long statement can run.
func TestWritersThatWaitHoldNoCPUSlot(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // one long statement works at a time
	address, _ := startServer(t, wire.Limits{})
	overMemory := memoryServer(t)
	for name, dial := range map[string]func() (net.Conn, error){
		"socket": func() (net.Conn, error) { return net.Dial("tcp", address) },
		"memory": func() (net.Conn, error) { return overMemory.Dial() },
	} {
		t.Run(name, func(t *testing.T) {
			var unread []*client
			for range 3 {
				conn, err := dial()
				unread = append(unread, loginOn(t, conn, err))
			}
			conn, err := dial()
			other := loginOn(t, conn, err)
			for _, c := range unread {
				c.write(queryMsg("SELECT repeat('x', 1000) FROM generate_series(1, 10000000)"))
			}
			other.write(queryMsg("SELECT count(*) FROM generate_series(1, 200000)"))
			if got := other.until("ReadyForQuery"); got[1] != `DataRow "200000"` {
				t.Error(got)
			}
		})
	}
}
