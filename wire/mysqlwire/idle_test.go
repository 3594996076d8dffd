//go:build linux && !goroutines

package mysqlwire_test

import (
	"runtime"
	"testing"

	"nextid/wire"
	"nextid/wire/mysqlwire"
	"nextid/wire/wiretest"
)

// An idle connection that has been used holds a session, and no buffer.
func TestIdleConnectionsAreSmall(t *testing.T) {
	// Session, machine and loop; the client's end lives in this process, too:
	// about 1 kB.
	const count, each = 300, 3900
	address, _ := startServer(t, mysqlwire.Config{Limits: wire.Limits{PerIP: 2 * count}})
	clients := make([]*client, 0, count+10)
	connect := func() {
		c := login(t, address, plain)
		for _, b := range [][]byte{query("SELECT next_id('numbers')"), query("SELECT 1 AS a")} {
			c.ask("text", b)
		}
		clients = append(clients, c)
	}
	for range 10 {
		connect() // allocates what all connections have in common
	}
	before := wiretest.MemoryInUse()
	for range count {
		connect()
	}
	got := (wiretest.MemoryInUse() - before) / count
	t.Logf("%d bytes a connection", got)
	if got > each && !raceEnabled {
		t.Errorf("an idle connection takes %d bytes, want at most %d", got, each)
	}
	runtime.KeepAlive(clients)
}

// An idle connection does not refer to the read buffer, of 32 KiB, that held the
// arguments of its last execution.
func TestArgumentsKeepNoBuffer(t *testing.T) {
	const count, each = 30, 16 << 10
	address, _ := startServer(t, mysqlwire.Config{})
	clients := make([]*client, 0, count+2)
	connect := func() {
		c := login(t, address, plain)
		c.ask("prepare", prepare("SELECT next_id(?)"))
		for range 2 { // on the slow path, and on the fast one
			c.ask("binary", execute(1, 0, text("numbers")))
		}
		clients = append(clients, c)
		runtime.GC()
		runtime.GC() // empties the pool of buffers
	}
	connect()
	before := wiretest.MemoryInUse()
	for range count {
		connect()
	}
	if got := (wiretest.MemoryInUse() - before) / count; got > each && !raceEnabled {
		t.Errorf("an idle connection takes %d bytes, want at most %d", got, each)
	}
	runtime.KeepAlive(clients)
}
