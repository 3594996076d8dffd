package generatortest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"nextid/generator"
	"nextid/generator/history"
)

// Load is a set of writers that reserve on stores of one database until Stop, and
// record what they were granted. Errors do not end them.
type Load struct {
	last    atomic.Value // last error, as text
	t       testing.TB
	log     history.Log
	grants  atomic.Int64
	refused atomic.Int64
	stop    context.CancelFunc
	work    sync.WaitGroup
}

// loadKeys is the number of keys that the writers use.
const loadKeys = 3

// StartLoad starts four writers on each store. Call Stop at the end.
func StartLoad(t testing.TB, stores ...generator.Store) *Load {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	l := &Load{t: t, stop: stop}
	for i, s := range stores {
		for w := range 4 {
			l.work.Go(func() { l.write(ctx, s, i*4+w) })
		}
	}
	return l
}

func (l *Load) write(ctx context.Context, s generator.Store, writer int) {
	for i := writer; ctx.Err() == nil; i++ {
		key := fmt.Sprint("name/load", i%loadKeys)
		each, cancel := context.WithTimeout(ctx, 3*time.Second)
		lo, hi, err := s.Reserve(each, request(key, 1, int64(1+i%20)))
		cancel()
		if err != nil {
			l.refused.Add(1)
			l.last.Store(err.Error())
			time.Sleep(10 * time.Millisecond) // as every caller does
			continue
		}
		l.grants.Add(1)
		used := hi - lo
		if i%5 == 0 {
			used /= 2
			back, cancel := context.WithTimeout(ctx, 3*time.Second)
			_ = s.Release(back, key, hi, lo+used) // lost if it fails
			cancel()
		}
		if used > 0 {
			l.log.Add(history.Event{Name: key, Client: writer, Range: generator.Range{First: lo, Step: 1, Count: used}})
		}
	}
}

// Grants returns the number of granted reservations so far.
func (l *Load) Grants() int64 { return l.grants.Load() }

// Refused returns the number of failed reservations so far.
func (l *Load) Refused() int64 { return l.refused.Load() }

// Await waits for n more grants. It fails the test after patience.
func (l *Load) Await(n int64) {
	l.t.Helper()
	want := l.Grants() + n
	for end := time.Now().Add(patience); l.Grants() < want; {
		if time.Now().After(end) {
			l.t.Fatalf("only %d grants of %d more, and %d errors, the last: %v", l.Grants()-want+n, n, l.Refused(), l.last.Load())
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Stop ends the writers and checks that no number was granted twice.
func (l *Load) Stop() {
	l.t.Helper()
	l.stop()
	l.work.Wait()
	if err := l.log.Check(); err != nil {
		l.t.Error(err)
	}
	l.t.Logf("%d grants, %d errors", l.Grants(), l.Refused())
}
