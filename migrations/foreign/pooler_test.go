package foreign_test

import (
	"net/url"
	"strings"
	"sync"
	"testing"

	"nextid/dbtest"
	"nextid/generator/history"
	"nextid/migrations/foreign"
)

// TestPoolerBeforeTheApplication: the clients of the application use the sessions of
// its database in turn, and so the same batches.
func TestPoolerBeforeTheApplication(t *testing.T) {
	t.Parallel()
	server, cluster := startServer(t), sharedCluster(t)
	dsn := cluster.install(t, server)
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	connect(t, dsn, nil).exec("CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT nextid.next_id('orders', 50), note text)")
	for _, mode := range []string{"transaction", "session"} {
		address := dbtest.PgBouncer{
			Mode: mode, Server: u.Host, Database: strings.TrimPrefix(u.Path, "/"), User: "postgres",
			Settings: []string{"server_reset_query = DISCARD ALL"},
		}.Start(t)
		clients := map[string]int{"transaction": 8, "session": 2}[mode]
		var log history.Log
		var wg sync.WaitGroup
		for range clients {
			s := connect(t, "postgres://shop@"+address+"/pool?sslmode=disable", &log)
			wg.Go(func() {
				for i := range 40 {
					// The sessions take turns, so the ids of one client need not
					// rise.
					s.unordered("orders", s.numbers("INSERT INTO orders (note) VALUES ('a'), ('b'), ('c') RETURNING id"))
					if i%5 == 0 {
						s.exec("BEGIN; INSERT INTO orders (note) VALUES ('gone'); ROLLBACK")
					}
				}
				_ = s.Close(t.Context())
			})
		}
		wg.Wait()
		check(t, &log)
		if want := int64(clients * 40 * 3); log.Len() != want {
			t.Errorf("%s: %d ids, not %d", mode, log.Len(), want)
		}
	}
}

// TestPoolerBeforeTheServer: the databases of applications connect to the server
// through a pooler. The pooler does not pass on the option that keeps the server
// from ending long transactions. So its own configuration sets the option.
func TestPoolerBeforeTheServer(t *testing.T) {
	t.Parallel()
	server, cluster := startServer(t, "NEXTID_LIMITS_IDLE_IN_TRANSACTION_TIMEOUT=300ms"), sharedCluster(t)
	for _, mode := range []string{"transaction", "session"} {
		address := dbtest.PgBouncer{
			Mode: mode, Server: server.address, Database: "nextid", User: "app",
			Connect: "SET idle_in_transaction_session_timeout = 0",
			Settings: []string{
				"ignore_startup_parameters = extra_float_digits,options", "server_reset_query =",
				map[string]string{"transaction": "", "session": "default_pool_size = 5"}[mode],
			},
		}.Start(t)
		dsn := cluster.database(t)
		up(t, dsn, foreign.Config{Server: parseServer(t, "postgres://app@"+address+"/pool"), Grant: []string{"PUBLIC"}})
		if s := status(t, dsn); !s.Current() {
			t.Errorf("status %+v", s)
		}
		var log history.Log
		var wg sync.WaitGroup
		// In session mode each session of the application uses one of the pooler's
		// connections, with dblink two. Status uses another one.
		sessions := map[string]int{"transaction": 5, "session": 2}[mode]
		for range sessions {
			s := connect(t, dsn, &log)
			wg.Go(func() {
				for range 10 {
					s.draws(5, "orders", "SELECT nextid.next_id('orders') FROM generate_series(1, 5)")
					s.draws(30, "batches", "SELECT nextid.next_id('batches', 20) FROM generate_series(1, 30)")
					s.draws(2, "links", "SELECT nextid.dblink_next_id('links') FROM generate_series(1, 2)")
				}
				s.exec("BEGIN; SELECT nextid.next_id('orders'); SELECT pg_sleep(0.7); COMMIT")
				_ = s.Close(t.Context())
			})
		}
		wg.Wait()
		check(t, &log)
	}
}
