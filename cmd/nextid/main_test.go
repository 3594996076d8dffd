package main

import (
	"bufio"
	"context"
	"io"
	"strings"
	"sync"
	"testing"

	"nextid/generator"
	"nextid/generator/history"
	"nextid/server"
	"nextid/server/standard"
)

// startMain runs the server in this process, for the race detector. stop ends it
// and returns the error of Run.
func startMain(t *testing.T, c server.Config) (address string, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	reader, writer := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		s, err := server.New(c, append(standard.Options(), server.WithOutput(writer))...)
		if err == nil {
			err = s.Run(ctx)
		}
		ended <- err
		writer.Close()
	}()
	ready := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(reader); lines.Scan(); {
			if match := readyPattern.FindStringSubmatch(lines.Text()); match != nil {
				ready <- match[1]
			}
		}
		close(ready)
	}()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { _ = stop() }) // a test that wants the error has called stop itself
	address, ok := <-ready
	if !ok {
		t.Fatalf("the server ended before it was ready: %v", stop())
	}
	return address, stop
}

func TestMainServesManyClientsAndDrains(t *testing.T) {
	t.Parallel()
	c := server.DefaultConfig()
	c.Data = t.TempDir()
	c.PG = "127.0.0.1:0"
	c.MySQL = c.PG
	address, stop := startMain(t, c)

	const clients, draws = 8, 200
	var log history.Log
	var done sync.WaitGroup
	for client := range clients {
		conn := connect(t, "postgres://anybody@"+address+"/nextid?sslmode=disable")
		done.Go(func() {
			for range draws {
				id, err := drawOnce(t.Context(), conn, "orders")
				if err != nil {
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
	address, stop = startMain(t, c)
	if id := draw(t, connect(t, "postgres://anybody@"+address+"/nextid?sslmode=disable"), "orders"); log.Len() > 0 {
		if highest, _ := log.Max("orders"); id <= highest {
			t.Errorf("%d after %d", id, highest)
		}
	}
	if err := stop(); err != nil {
		t.Errorf("drain: %v", err)
	}
}

func TestMainStopsBeforeItIsReady(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c := server.DefaultConfig()
	c.Data = t.TempDir()
	c.PG = "127.0.0.1:0"
	c.MySQL = c.PG
	var stderr strings.Builder
	s, err := server.New(c, append(standard.Options(), server.WithOutput(&stderr))...)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(ctx); err != nil {
		t.Error(err)
	}
}
