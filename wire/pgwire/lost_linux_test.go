//go:build !goroutines

package pgwire_test

import (
	"testing"

	"nextid/wire"
	"nextid/wire/wiretest"
)

func TestClosedConnectionEndsItsStatement(t *testing.T) {
	extended := func(sql string) []byte {
		return join(parseMsg("", sql), bindMsg("", "", 0), executeMsg("", 0), syncMsg())
	}
	const endless = "SELECT count(*) FROM generate_series(1, 1000000000000)"
	for name, statement := range map[string][]byte{
		"wait":        queryMsg("SELECT pg_sleep(3600)"),
		"rows":        queryMsg("SELECT g FROM generate_series(1, 1000000000000) g WHERE g < 0"),
		"aggregate":   queryMsg(endless),
		"join":        queryMsg("SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b"),
		"recursion":   queryMsg("WITH RECURSIVE t AS (SELECT 1 UNION ALL SELECT 1 FROM t, generate_series(1, 1000000000000) g WHERE g < 0) SELECT count(*) FROM t"),
		"subquery":    queryMsg("SELECT 1 WHERE EXISTS (SELECT FROM generate_series(1, 1000000000000) g WHERE g < 0)"),
		"one of many": queryMsg("SELECT 1; " + endless + "; SELECT 2"),
		"pipeline":    join(queryMsg("SELECT 1"), queryMsg(endless), queryMsg(endless)),
		"extended":    extended(endless),
		"cursor":      queryMsg("BEGIN; DECLARE c CURSOR FOR " + endless + "; FETCH c"),
		"held cursor": queryMsg("DECLARE c CURSOR WITH HOLD FOR " + endless),
		"execute":     queryMsg("PREPARE p AS " + endless + "; EXECUTE p"),
		"copy":        queryMsg("COPY (" + endless + ") TO STDOUT"),
		"ids":         queryMsg("SELECT count(next_id('numbers')) FROM generate_series(1, 1000000000000)"),
		"answer":      queryMsg("SELECT g, repeat('x', 1000) FROM generate_series(1, 1000000000000) g"),
		"terminate":   join(queryMsg(endless), []byte{'X', 0, 0, 0, 4}),
	} {
		t.Run(name, func(t *testing.T) {
			address, server := startServer(t, wire.Limits{})
			wiretest.CloseWhileRunning(t, server.Connections, login(t, address).conn, statement)
		})
	}
	t.Run("login", func(t *testing.T) {
		address, server := startServer(t, wire.Limits{})
		wiretest.CloseWhileRunning(t, server.Connections, dial(t, address).conn, join(startupPacket(3<<16, "user", "u"), queryMsg(endless)))
	})
	t.Run("half", func(t *testing.T) { // a client that only half-closes gets the answers
		address, _ := startServer(t, wire.Limits{})
		c := login(t, address)
		c.write(join(queryMsg("SELECT 1, pg_sleep(0.1)"), queryMsg("SELECT 2")))
		if err := c.conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		c.until("ReadyForQuery")
		c.until("ReadyForQuery")
	})
}
