package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"nextid/dbtest"
	"nextid/generator"
	"nextid/generator/history"
)

// lossyStore is a database that can fail over to an older state.
type lossyStore struct {
	url      string
	snapshot func() // writes from here on are lost
	failOver func()
}

func lossyRedis(t *testing.T) lossyStore {
	s := dbtest.Redis(t)
	files, copied := filepath.Join(s.Dir, "data", "appendonlydir"), filepath.Join(t.TempDir(), "copy")
	replace := func(to, from string) {
		if err := errors.Join(os.RemoveAll(to), os.CopyFS(to, os.DirFS(from))); err != nil {
			t.Fatal(err)
		}
	}
	return lossyStore{
		url:      s.URL,
		snapshot: func() { replace(copied, files) },
		failOver: func() { s.Kill(); replace(files, copied); s.Start() },
	}
}

func lossyPostgres(t *testing.T) lossyStore {
	primary := dbtest.Postgres(t)
	standby := primary.PostgresStandby()
	return lossyStore{
		url: strings.Replace(primary.PostgresURL("postgres"), primary.Addr, primary.Addr+","+standby.Addr, 1) +
			"&target_session_attrs=read-write",
		snapshot: standby.Stop,
		failOver: func() { primary.Kill(); standby.Start(); standby.Promote() },
	}
}

// TestAFailoverAndOneWrongClock loses the claim of a server that was stopped for
// some seconds. A third server, whose wall clock was moved while it ran, notices
// the failover first. Then a second one starts. No id is repeated, and ids are
// issued again after the wait.
func TestAFailoverAndOneWrongClock(t *testing.T) {
	t.Parallel()
	tool := buildSkewclock(t)
	for kind, open := range map[string]func(*testing.T) lossyStore{"Redis": lossyRedis, "PostgreSQL": lossyPostgres} {
		for _, by := range []time.Duration{-85 * time.Second, 51 * time.Minute} {
			t.Run(kind+" "+by.String(), func(t *testing.T) {
				t.Parallel()
				failOverWithAWrongClock(t, tool, open(t), by)
			})
		}
	}
}

func failOverWithAWrongClock(t *testing.T, tool string, store lossyStore, by time.Duration) {
	const (
		slice = 10 * time.Second
		wait  = slice + 10*time.Second // shared.WaitFor
	)
	if r := runProgram(t, nil, "migrate", "store", "up", "--dsn", store.url); r.code != exitOK {
		t.Fatal(r.stderr)
	}
	serve := func() *exec.Cmd {
		return serveCommand("--store", store.url, "--worker-slice", slice.String(), "--data", t.TempDir())
	}
	clock := skewedClock{filepath.Join(t.TempDir(), "clock")}
	clock.set(t, 0, 0)
	wrong := launch(t, exec.Command(tool, append([]string{clock.file}, serve().Args...)...), nil)
	draw(t, wrong.connect(), "flakes")
	store.snapshot()

	first := launch(t, serve(), nil)
	crowd := &crowd{log: &history.Log{}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	drawn := crowd.keepDrawing(ctx, first.address, 4)
	time.Sleep(time.Second)
	clock.set(t, by, 0)
	first.signal(syscall.SIGSTOP)
	failed := time.Now()
	store.failOver()
	met := wrong.connect()
	dbtest.Await(t, "the server with the wrong clock meets the failover", func() bool {
		// Each try takes a new name: a name from before the failover is stopped.
		name := fmt.Sprint("met", time.Since(failed).Nanoseconds())
		_, _ = met.Exec(ctx, "SELECT create_generator($1, 'segment')", name)
		_, err := drawOnce(ctx, met, name)
		return err == nil
	})
	second := launch(t, serve(), nil)
	more := crowd.keepDrawing(ctx, second.address, 4)
	time.Sleep(time.Second)
	first.signal(syscall.SIGCONT)

	again := make(chan time.Duration, 1)
	go func() {
		for ctx.Err() == nil {
			if conn, err := pgx.Connect(ctx, "postgres://anybody@"+second.address+"/nextid?sslmode=disable"); err == nil {
				_, err = drawOnce(ctx, conn, "flakes")
				_ = conn.Close(context.Background())
				if err == nil {
					again <- time.Since(failed)
					return
				}
			}
			time.Sleep(100 * time.Millisecond)
		}
	}()
	select {
	case took := <-again:
		t.Logf("ids again %v after the failover", took.Round(100*time.Millisecond))
		if took < wait {
			t.Errorf("ids came again after %v: a slice that was lost may last for %v", took, wait)
		}
	case <-time.After(wait + patience):
		t.Errorf("no ids %v after the failover", time.Since(failed))
	}
	time.Sleep(slice / 2) // both issue ids at the same time
	cancel()
	drawn()
	more()
	crowd.judge(t)
}

// drawRuns draws n ids in one statement.
func drawRuns(ctx context.Context, conn *pgx.Conn, name string, n int) ([]generator.Range, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	rows, err := conn.Query(ctx, "SELECT first, last, step FROM next_range($1, $2)", name, n)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (r generator.Range, err error) {
		var last int64
		err = row.Scan(&r.First, &last, &r.Step)
		r.Count = (last-r.First)/max(r.Step, 1) + 1
		return r, err
	})
}

// keepDrawing is drawFrom for a server that refuses from time to time.
func (c *crowd) keepDrawing(ctx context.Context, address string, n int) (wait func()) {
	var wg sync.WaitGroup
	for range n {
		c.clients++
		client := c.clients
		wg.Go(func() {
			var conn *pgx.Conn
			var err error
			for ctx.Err() == nil {
				time.Sleep(20 * time.Millisecond) // a run covers 5 ms
				if conn == nil || conn.IsClosed() {
					if conn, err = pgx.Connect(ctx, "postgres://anybody@"+address+"/nextid?sslmode=disable&connect_timeout=60"); err != nil {
						continue
					}
					defer conn.Close(context.Background())
				}
				runs, _ := drawRuns(ctx, conn, "flakes", 20_000)
				for _, run := range runs {
					c.log.Add(history.Event{Name: "flakes", Client: client, Range: run})
				}
			}
		})
	}
	return wg.Wait
}
