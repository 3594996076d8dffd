package auth

import (
	"maps"
	"net/netip"
	"sync"
	"time"

	"nextid/wire"
)

const (
	// failureDelay is the least delay of a failed login.
	failureDelay = 100 * time.Millisecond

	// A network may fail failureBurst times at once, and then once every
	// failureEvery. More failures are delayed by up to failureMost, which is less
	// than the default of Limits.Login.
	failureBurst = 60
	failureEvery = time.Second
	failureMost  = 5 * time.Second

	// failureAddresses bounds the number of networks in the table.
	failureAddresses = 1 << 16
)

// failures counts failed logins by network (wire.Network). Successful logins are
// never delayed. The algorithm is a leaky bucket: a failure moves the time in used
// on by failureEvery.
type failures struct {
	mu    sync.Mutex
	used  map[netip.Prefix]time.Time // the time until which a network has used its failures
	swept time.Time                  // when networks without recent failures were last removed
}

// add counts a failure and returns the delay of its answer.
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
	if f.used == nil {
		f.used = map[netip.Prefix]time.Time{}
	}
	if _, there := f.used[from]; !there && len(f.used) >= failureAddresses {
		if now.Sub(f.swept) >= failureEvery {
			f.swept = now
			maps.DeleteFunc(f.used, func(_ netip.Prefix, until time.Time) bool { return !until.After(oldest) })
		}
		for other := range f.used { // any, if all have failed recently
			if len(f.used) < failureAddresses {
				break
			}
			delete(f.used, other)
		}
	}
	f.used[from] = until
	return max(failureDelay, until.Sub(now))
}
