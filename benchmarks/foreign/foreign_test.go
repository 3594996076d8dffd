// Package foreign measures the cost of a column's DEFAULT in an application's
// PostgreSQL: the functions of nextid migrate foreign, and a sequence of its own.
//
//	go test -bench . -benchtime 100000x -count 7 ./benchmarks/foreign
//
// Both servers run on this machine. One operation is one row of
//
//	INSERT INTO t (note) SELECT … FROM generate_series(1, N)
//
// Compare figures of one run only: the machine's speed differs between runs.
package foreign

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"nextid/dbtest"
)

func BenchmarkDefault(b *testing.B) {
	dir := b.TempDir()
	if err := dbtest.Build(dir, "nextid/cmd/nextid"); err != nil {
		b.Fatal(err)
	}
	binary := filepath.Join(dir, "nextid")
	nextid, postgres := dbtest.Nextid{Binary: binary}.Start(b), dbtest.AsPostgres(b)
	up := exec.Command(binary, "migrate", "foreign", "up", "--dsn", postgres.URL, "--server", nextid.URL)
	if out, err := up.CombinedOutput(); err != nil {
		b.Fatalf("migrate foreign up: %v\n%s", err, out)
	}
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, postgres.URL)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(ctx)
	do := func(sql string, args ...any) {
		b.Helper()
		if _, err := conn.Exec(ctx, sql, args...); err != nil {
			b.Fatal(err)
		}
	}
	do("CREATE SEQUENCE local")
	for _, call := range []string{
		"nextval('local')",
		"nextid.next_id('orders', 10000)",
		"nextid.next_id('orders', 1000)",
		"nextid.next_id('orders', 100)",
		"nextid.dblink_next_id('orders')",
		"nextid.next_id('orders')",
	} {
		b.Run(call, func(b *testing.B) {
			do("DROP TABLE IF EXISTS t")
			do("CREATE TABLE t (id bigint PRIMARY KEY DEFAULT " + call + ", note text)")
			do("CHECKPOINT")
			b.ResetTimer()
			do("INSERT INTO t (note) SELECT 'note ' || n FROM generate_series(1, $1::int) n", b.N)
		})
	}
}
