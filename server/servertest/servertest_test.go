package servertest_test

import (
	"context"
	"database/sql"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"

	"nextid/server"
	"nextid/server/servertest"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
)

// Both protocols draw from one server, which has a function of the test's own.
func TestStart(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t, server.WithFunction(engine.Function{
		Name: "twice", Args: []engine.Argument{{Name: "n", Type: datum.Int8}}, Result: datum.Int8, Help: "n and n",
		Does: engine.Eval(func(_ *engine.Exec, a []datum.Value) (datum.Value, error) { return datum.MakeInt8(2 * a[0].Int), nil }),
	}))
	seen := map[int64]bool{}
	for driver, dsn := range map[string]string{"pgx": s.Postgres, "mysql": s.MySQL} {
		db, err := sql.Open(driver, dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for range 100 {
			var id, n int64
			if err := db.QueryRowContext(t.Context(), "SELECT next_id('orders'), twice(21)").Scan(&id, &n); err != nil || n != 42 {
				t.Fatalf("%s: %d %v", driver, n, err)
			}
			if seen[id] {
				t.Errorf("%s: %d comes again", driver, id)
			}
			seen[id] = true
		}
	}
}

// Close ends a server and may be called again. A closed server does not run again.
func TestClose(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t)
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := s.Run(context.Background()); err == nil {
		t.Error("a server runs twice")
	}
	if db, err := sql.Open("pgx", s.Postgres); err != nil || db.PingContext(t.Context()) == nil {
		t.Errorf("a server that was closed answers: %v", err)
	}
}

func TestOptionsThatContradict(t *testing.T) {
	t.Parallel()
	c := server.DefaultConfig()
	c.AutoCreate = "nonesuch"
	if _, err := server.New(c); err == nil {
		t.Error("a server that creates generators of no kind")
	}
}
