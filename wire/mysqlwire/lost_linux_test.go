//go:build !goroutines

package mysqlwire_test

import (
	"testing"

	"nextid/wire/mysqlwire"
	"nextid/wire/wiretest"
)

func TestClosedConnectionEndsItsStatement(t *testing.T) {
	const endless = "SELECT COUNT(*) FROM generate_series(1, 1000000000000) g"
	for name, statement := range map[string][]byte{
		"wait":      query("SELECT SLEEP(3600)"),
		"rows":      query("SELECT g FROM generate_series(1, 1000000000000) g WHERE g < 0"),
		"aggregate": query(endless),
		"recursion": query("WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT 1 FROM t, generate_series(1, 1000000000000) g WHERE g < 0) SELECT COUNT(*) FROM t"),
		"pipeline":  join(query("SELECT 1"), query(endless), query(endless)),
		"prepared":  join(prepare(endless), execute(1, 0)),
		"cursor":    join(prepare(endless), execute(1, 1), command(0x1c, u32(1), u32(1))),
		"do":        query("DO SLEEP(3600)"),
		"answer":    query("SELECT g, REPEAT('x', 1000) FROM generate_series(1, 1000000000000) g"),
		"quit":      join(query(endless), command(1)),
	} {
		t.Run(name, func(t *testing.T) {
			address, server := startServer(t, mysqlwire.Config{})
			wiretest.CloseWhileRunning(t, server.Connections, login(t, address, plain).conn, statement)
		})
	}
	t.Run("login", func(t *testing.T) {
		address, server := startServer(t, mysqlwire.Config{})
		c := dial(t, address).greet()
		wiretest.CloseWhileRunning(t, server.Connections, c.conn, join(packet(1, response(plain, "root", "", "", "mysql_native_password")), query(endless)))
	})
}
