package auth

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"nextid/wire"
)

const (
	// failureDelay is how much later than a success a failed login is
	// answered.
	failureDelay = 100 * time.Millisecond

	// An address may fail failureBurst times at once and then once every
	// failureEvery. More failures are answered later, by failureMost at the
	// most, so that a login's time still suffices.
	failureBurst = 60
	failureEvery = time.Second
	failureMost  = 5 * time.Second

	// failureAddresses bounds how many addresses are remembered.
	failureAddresses = 1 << 16
)

// failures counts failed logins by network. Who knows the password is never
// held up.
type failures struct {
	mu    sync.Mutex
	used  map[netip.Prefix]time.Time // until when an address has used up its failures
	swept time.Time
}

// add counts a failure and returns for how long its answer waits.
func (f *failures) add(ip netip.Addr, now time.Time) time.Duration {
	from := wire.Network(ip)
	f.mu.Lock()
	defer f.mu.Unlock()
	oldest := now.Add(-failureBurst * failureEvery)
	until := f.used[from]
	if until.Before(oldest) {
		until = oldest
	}
	if until = until.Add(failureEvery); until.After(now.Add(failureMost)) {
		until = now.Add(failureMost)
	}
	f.storeLocked(from, until, now, oldest)
	return max(failureDelay, until.Sub(now))
}

func (f *failures) storeLocked(from netip.Prefix, until, now, oldest time.Time) {
	if f.used == nil {
		f.used = map[netip.Prefix]time.Time{}
	}
	if _, there := f.used[from]; !there && len(f.used) >= failureAddresses {
		f.evictLocked(now, oldest)
	}
	f.used[from] = until
}

// evictLocked makes room: it forgets addresses that have nothing to pay off,
// or any one when there was no time for them to do so.
func (f *failures) evictLocked(now, oldest time.Time) {
	if now.Sub(f.swept) >= failureEvery {
		f.swept = now
		for from, until := range f.used {
			if !until.After(oldest) {
				delete(f.used, from)
			}
		}
	}
	for from := range f.used {
		if len(f.used) < failureAddresses {
			return
		}
		delete(f.used, from)
	}
}

// wait waits for d, or for the end of ctx.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
