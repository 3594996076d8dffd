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
