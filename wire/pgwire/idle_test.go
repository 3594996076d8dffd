package pgwire_test

import (
	"io"
	"net"
	"runtime"
	"testing"

	"nextid/wire"
)

// memoryInUse is the heap and the stacks after a collection.
func memoryInUse() int64 {
	for range 3 { // pools are emptied, stacks are shrunk
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// An idle connection that has been used holds a goroutine and a session, and
// no buffer.
func TestIdleConnectionsAreSmall(t *testing.T) {
	// 4 kB of stack, 3 kB of session, machine and loop; the client's end lives
	// in this process, too: about 1 kB.
	const count, each = 500, 8000
	address, _ := startServer(t, wire.Limits{PerIP: 2 * count})
	connect := func() net.Conn {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		answer := make([]byte, 4096)
		for _, m := range [][]byte{startupPacket(3<<16, "user", "u"), queryMsg("SELECT next_id('numbers')")} {
			if _, err := conn.Write(m); err != nil {
				t.Fatal(err)
			}
			for n := 0; n < 6 || answer[n-6] != 'Z'; {
				more, err := conn.Read(answer[n:])
				if err != nil && err != io.EOF {
					t.Fatal(err)
				}
				n += more
			}
		}
		return conn
	}
	conns := make([]net.Conn, 0, count+10)
	t.Cleanup(func() {
		for _, c := range conns {
			_ = c.Close()
		}
	})
	for range 10 {
		conns = append(conns, connect()) // what is made once
	}
	before := memoryInUse()
	for range count {
		conns = append(conns, connect())
	}
	got := (memoryInUse() - before) / count
	t.Logf("%d bytes a connection", got)
	if got > each && !raceEnabled {
		t.Errorf("an idle connection takes %d bytes, want at most %d", got, each)
	}
}
