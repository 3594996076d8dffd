package worker

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"nextid/generator"
)

// TestCrashLoopSticksToNoWorkerID: a server that crashes and starts again 200
// times, at all moments of a slice, never waits for a worker id, and none of
// the 1024 is taken for longer than the slice that it had when it crashed.
func TestCrashLoopSticksToNoWorkerID(t *testing.T) {
	const crashes = 200
	for _, pause := range []time.Duration{0, 100 * time.Millisecond, time.Second, 31 * time.Second, 90 * time.Second} {
		inWorld(t, false, func(w *world) {
			slice := time.Minute.Milliseconds()
			taken := map[int64]int64{} // by worker id: when it must be free at the latest
			for i := range crashes {
				began := time.Now()
				s := w.server()
				pool := w.open(s)
				if waited := time.Since(began); waited != 0 {
					t.Fatalf("pause %v: start %d waited for %v", pause, i, waited)
				}
				id := pool.Lease().Worker
				if until, ok := taken[id]; ok && until > w.now() {
					t.Fatalf("pause %v: start %d got worker id %d, which is taken until %d", pause, i, id, until)
				}
				time.Sleep(pause)
				crash(s)
				w.pools = w.pools[:len(w.pools)-1]
				taken[id] = w.now() + slice
				for id, hi := range w.ends() {
					if until := taken[id]; hi > until {
						t.Fatalf("pause %v: worker id %d is taken until %d, which is %d ms too long", pause, id, hi, hi-until)
					}
				}
			}
			ends := w.ends()
			for id, hi := range ends {
				if hi > w.now()+slice {
					t.Errorf("pause %v: after the last crash worker id %d is taken until %d", pause, id, hi)
				}
			}
			if len(ends) > crashes {
				t.Errorf("%d worker ids for %d starts", len(ends), crashes)
			}
		})
	}
}

// ends is the end of every time line in the store, by worker id.
func (w *world) ends() map[int64]int64 {
	w.t.Helper()
	marks, err := w.store.Reserved(w.t.Context(), generator.WorkerKeyPrefix)
	if err != nil {
		w.t.Fatal(err)
	}
	all := map[int64]int64{}
	for _, m := range marks {
		id, err := strconv.ParseInt(m.Key[strings.LastIndex(m.Key, "/")+1:], 10, 64)
		if err != nil {
			w.t.Fatal(err)
		}
		all[id] = m.Hi
	}
	return all
}
