package worker

import (
	"testing"
	"time"

	"nextid/generator"
)

func borrowing(c *Config) { c.Borrow = true }

// TestBorrowAfterACrash: a server that was given its worker id is back as soon
// as its own renewals are seen to be missing, with times ahead of the clock;
// without borrowing it waits for the end of the slice.
func TestBorrowAfterACrash(t *testing.T) {
	const patience = 35 * time.Second // 7/12 of a minute
	for _, borrow := range []bool{true, false} {
		inWorld(t, false, func(w *world) {
			change := func(c *Config) { c.Borrow, c.StartWait = borrow, time.Minute }
			first := w.server(static(7), change)
			hi := w.open(first).Lease().Hi
			crash(first)
			began := time.Now()
			l := w.open(w.server(static(7), change)).Lease()
			waited := time.Since(began)
			want := time.Minute
			if borrow {
				want -= patience
			}
			if l.Worker != 7 || l.Lo < hi || waited != want {
				t.Errorf("borrow %v: %+v after %v, want worker id 7 from %d on after %v", borrow, *l, waited, hi, want)
			}
			if ahead := l.Lo - w.now(); borrow && (ahead <= 0 || ahead > time.Minute.Milliseconds()) {
				t.Errorf("the slice begins %d ms ahead of the clock", ahead)
			}
		})
	}
}

// TestNoIDIsBorrowedFromAServerThatRenews: neither a planned id nor, when all are
// taken, one of those.
func TestNoIDIsBorrowedFromAServerThatRenews(t *testing.T) {
	inWorld(t, false, func(w *world) {
		var pools []*Pool
		for range 2 {
			p, err := w.server(borrowing).Open(w.t.Context(), Width{Worker: 1}, time.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
			pools = append(pools, p)
		}
		late := w.server(borrowing)
		for range 20 {
			_, err := late.Open(w.t.Context(), Width{Worker: 1}, time.Millisecond)
			wantErr(t, err, generator.ErrNotNow, "all 2 worker ids are in use")
			time.Sleep(7 * time.Second)
		}
		if a, b := pools[0].Lease().Worker, pools[1].Lease().Worker; a == b {
			t.Errorf("both servers have worker id %d", a)
		}
		crash(w.pools[1])
		dead := pools[1].Lease()
		time.Sleep(30 * time.Second)
		p, err := late.Open(w.t.Context(), Width{Worker: 1}, time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		if l := p.Lease(); l.Worker != dead.Worker || l.Lo < dead.Hi {
			t.Errorf("%+v, want the worker id of the dead server, %+v", *l, *dead)
		}
		if l := pools[0].Lease(); l.Worker == p.Lease().Worker {
			t.Errorf("the living server lost its worker id: %+v", *l)
		}
	})
}
