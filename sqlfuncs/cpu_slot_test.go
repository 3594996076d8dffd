package sqlfuncs_test

import (
	"runtime"
	"testing"
	"time"

	"nextid/sqlfuncs/sqltest"
)

// TestLongStatementsKeepTheirCPUSlotWhileTheySend checks that encoding and sending
// rows belongs to the CPU slot, until the connection waits for its client.
func TestLongStatementsKeepTheirCPUSlotWhileTheySend(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // one long statement works at a time
	for name, work := range map[string]struct {
		sql         string
		rows, bytes int // read, and sent for each
	}{
		"rows":                     {"SELECT g FROM generate_series(1, 1000000) g", 10_000, 0},
		"ids":                      {"SELECT next_id('numbers') FROM generate_series(1, 1000000)", 10_000, 100},
		"few rows, but large ones": {"SELECT repeat('x', 100000) FROM generate_series(1, 1000000)", 20, 100_000},
	} {
		t.Run(name, func(t *testing.T) {
			s := sqltest.NewServer(t)
			s.Segment(t, "numbers")
			sends, other := s.Session(t), s.Session(t)
			batch, err := sends.Simple([]byte(work.sql))
			if err != nil {
				t.Fatal(err)
			}
			st, err := batch.Next()
			if err != nil {
				t.Fatal(err)
			}
			p := sends.Run(st)
			defer p.Close()
			for range work.rows {
				if _, err := p.Next(t.Context()); err != nil {
					t.Fatal(err)
				}
				if err := p.Sent(work.bytes); err != nil {
					t.Fatal(err)
				}
			}
			done := make(chan error, 1)
			go func() {
				_, err := other.QueryAll(t.Context(), "SELECT count(*) FROM generate_series(1, 20000)")
				done <- err
			}()
			select {
			case <-done:
				t.Fatal("another long statement has run in between")
			case <-time.After(300 * time.Millisecond):
			}
			sends.Rest()
			select {
			case err := <-done:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(30 * time.Second):
				t.Fatal("another long statement waits for one whose client is waited for")
			}
		})
	}
}
