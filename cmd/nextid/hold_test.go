package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// holders hold, confirm and void numbers, and record the outcome of each.
type holders struct {
	t       *testing.T
	mu      sync.Mutex
	used    map[int64]string // confirmed, by whom; "void"
	unknown map[int64]bool   // the answer was lost
	newest  int64
	ended   int // confirmed, void, or unknown
	clients sync.WaitGroup
}

// hold begins n clients of a server, which end with it or with ctx.
func (h *holders) hold(ctx context.Context, s *process, n int) {
	for range n {
		conn := s.connect()
		h.clients.Go(func() {
			for i := 0; ctx.Err() == nil && !conn.IsClosed(); i++ {
				h.number(ctx, conn, i)
			}
		})
	}
}

// number holds a number and ends the hold in one of four ways.
func (h *holders) number(ctx context.Context, conn *pgx.Conn, i int) {
	holder := ""
	if i%2 == 0 {
		holder = fmt.Sprint(conn.PgConn().Conn().LocalAddr(), i)
	}
	by, last, end := "client "+holder, "200 milliseconds", rand.IntN(10)
	if end == 0 {
		last = "10 seconds" // long enough that no other client has the number when it is voided
	}
	var n int64
	if err := conn.QueryRow(ctx, "SELECT hold_id('bills', $1::interval, $2)", last, holder).Scan(&n); err != nil {
		return
	}
	var err error
	switch {
	case end == 0:
		by = "void"
		_, err = conn.Exec(ctx, "SELECT void_id('bills', $1, 'a test', $2)", n, holder)
	case end > 2:
		if end == 3 {
			time.Sleep(250 * time.Millisecond) //nolint:forbidigo // the hold ends
		}
		_, err = conn.Exec(ctx, "SELECT confirm_id('bills', $1, $2)", n, holder)
	default: // the hold ends
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.newest, h.ended = max(h.newest, n), h.ended+1
	var pg *pgconn.PgError
	switch {
	case err == nil:
		if other, again := h.used[n]; again {
			h.t.Errorf("%d was used by %q and by %q", n, other, by)
		}
		h.used[n] = by
	case errors.As(err, &pg) && pg.Code == "55000" && end > 2:
		// too late
	default:
		h.unknown[n] = true
	}
}

// await waits until n more holds have ended.
func (h *holders) await(n int) {
	h.mu.Lock()
	n += h.ended
	h.mu.Unlock()
	for end := time.Now().Add(patience); time.Now().Before(end); pause(h.t, time.Millisecond) {
		h.mu.Lock()
		ended := h.ended
		h.mu.Unlock()
		if ended >= n {
			return
		}
	}
	h.t.Fatal("clients hold no numbers")
}

// judge draws the numbers that came back, and looks for missing ones.
func (h *holders) judge(conn *pgx.Conn) {
	time.Sleep(10 * time.Second) //nolint:forbidigo // all holds end
	late := 0
	for {
		var n int64
		err := conn.QueryRow(h.t.Context(), "SELECT hold_id('bills', '10 minutes', 'late')").Scan(&n)
		if err == nil && n <= h.newest {
			_, err = conn.Exec(h.t.Context(), "SELECT confirm_id('bills', $1, 'late')", n)
		}
		if err != nil {
			h.t.Fatal(err)
		}
		if n > h.newest {
			break
		}
		if by, again := h.used[n]; again {
			h.t.Errorf("%d was used by %q and came back", n, by)
		}
		h.used[n] = "late"
		late++
	}
	rows, err := conn.Query(h.t.Context(), "SELECT n FROM nextid.voids WHERE name = 'bills'")
	if err != nil {
		h.t.Fatal(err)
	}
	voids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		h.t.Fatal(err)
	}
	listed := map[int64]bool{}
	for _, n := range voids {
		listed[n] = true
	}
	for n := int64(1); n <= h.newest; n++ {
		if by := h.used[n]; by == "" && !h.unknown[n] {
			h.t.Errorf("%d of %d is missing", n, h.newest)
		} else if (by == "void") != listed[n] && !h.unknown[n] {
			h.t.Errorf("%d was used by %q, and the ledger lists it: %v", n, by, listed[n])
		}
	}
	h.t.Logf("%d numbers, %d void, %d came back at the end, %d answers were lost", h.newest, len(voids), late, len(h.unknown))
}

// TestHoldsOverCrashes kills servers while clients hold, confirm and void numbers.
func TestHoldsOverCrashes(t *testing.T) {
	t.Parallel()
	rounds := 30
	if testing.Short() {
		rounds = 8
	}
	for store, servers := range map[string]int{"sqlite": 1, "postgres": 2} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			args := []string{"--data", t.TempDir()}
			if servers > 1 {
				args = []string{"--store", prepared(t, store).url}
			}
			all := make([]*process, servers)
			for i := range all {
				all[i] = startServer(t, nil, args...)
			}
			answerTo(t, all[0], `SELECT create_generator('bills', 'counter', '{"holds": true}')`)
			h := &holders{t: t, used: map[int64]string{}, unknown: map[int64]bool{}}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			for _, s := range all {
				h.hold(ctx, s, 4)
			}
			for round := range rounds {
				h.await(rand.IntN(20))
				at := round % servers
				all[at].kill9()
				all[at] = startServer(t, nil, args...)
				h.hold(ctx, all[at], 4)
			}
			stop()
			h.clients.Wait()
			h.judge(all[0].connect())
		})
	}
}
