package servertest_test

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"nextid/generator"
	"nextid/generator/history"
	"nextid/server"
	"nextid/server/standard"
)

// embedded configures a server with a store in a directory of its own.
func embedded(t *testing.T) server.Config {
	c := server.DefaultConfig()
	c.Data = t.TempDir()
	c.PG, c.MySQL, c.HTTP = "127.0.0.1:0", "127.0.0.1:0", ""
	return c
}

// run runs a server until stop, which returns the error of Run.
func run(t *testing.T, c server.Config) (url string, stop func() error) {
	t.Helper()
	s, err := server.New(c, append(standard.Options(), server.WithOutput(t.Output()))...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { _ = stop() }) // a test that wants the error has called stop itself
	select {
	case <-s.Ready():
	case err := <-ended:
		t.Fatalf("the server ended before it was ready: %v", err)
	}
	return "postgres://anybody@" + s.Addr("pg").(*net.TCPAddr).String() + "/nextid?sslmode=disable", stop
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) }) // the server may be gone
	return conn
}

// TestManyClientsAndADrain runs a whole server with its embedded store under the race
// detector, ends it, and starts another one on the store.
func TestManyClientsAndADrain(t *testing.T) {
	t.Parallel()
	c := embedded(t)
	url, stop := run(t, c)
	const clients, draws = 8, 200
	var log history.Log
	var done sync.WaitGroup
	for client := range clients {
		conn := connect(t, url)
		done.Go(func() {
			for range draws {
				var id int64
				if err := conn.QueryRow(t.Context(), "SELECT next_id('orders')").Scan(&id); err != nil {
					t.Error(err)
					return
				}
				log.Add(history.Event{Name: "orders", Client: client, Range: generator.Range{First: id, Step: 1, Count: 1}})
			}
		})
	}
	done.Wait()
	if err := log.Check(); err != nil || log.Len() != clients*draws {
		t.Errorf("%d ids, %v", log.Len(), err)
	}
	if err := stop(); err != nil {
		t.Errorf("drain: %v", err)
	}
	// Everything was released: the next server can open it.
	url, stop = run(t, c)
	var id int64
	if err := connect(t, url).QueryRow(t.Context(), "SELECT next_id('orders')").Scan(&id); err != nil {
		t.Fatal(err)
	}
	if highest, _ := log.Max("orders"); id <= highest {
		t.Errorf("%d after %d", id, highest)
	}
	if err := stop(); err != nil {
		t.Errorf("drain: %v", err)
	}
}

func TestAServerStopsBeforeItIsReady(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var stderr strings.Builder
	s, err := server.New(embedded(t), append(standard.Options(), server.WithOutput(&stderr))...)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(ctx); err != nil {
		t.Error(err)
	}
}
