package server

import (
	"context"
	"log/slog"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"nextid/sqlfuncs/account"
)

// limitMemory fills in what sessions may hold: a quarter of the memory that
// the process may have. Go's collector is told to keep the whole process within
// half of it (GOMEMLIMIT says otherwise): what is counted, as much again that
// has not been collected yet, and what the server itself needs. Within that, a
// pass waits for collectAt (unless GOGC says otherwise).
func limitMemory(l account.Limits, log *slog.Logger) account.Limits {
	available, why := availableMemory()
	if l.Server == 0 && available > 0 {
		l.Server = available / 4
	}
	l = l.WithDefaults()
	if os.Getenv("GOMEMLIMIT") == "" && available > 0 {
		debug.SetMemoryLimit(max(available/2, min(2*l.Server, available/8*7)))
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt)
	}
	log.Debug("memory", "available", available, "limited_by", why, "sessions", l.Server, "user", l.User, "session", l.Session,
		"collector", debug.SetMemoryLimit(-1))
	return l
}

// collectAt sets how much garbage there is, in percent of what is used, when Go's
// collector makes a pass. A pass takes the processors that large statements
// leave to others (see engine.CPUSlots). Go's own 100 makes four times as many.
const collectAt = 400

// A server is quiet when it allocates less than quietBelow between two looks,
// which are lookEvery apart. A pass is worth it for what was allocated since the last.
const (
	lookEvery  = 5 * time.Second
	quietBelow = 1 << 20 // bytes
	worthIt    = 8 << 20 // bytes
)

// giveBack makes a pass when the server has become quiet, and returns what is
// free to the system. Go itself would wait for two minutes with what logins and
// large statements have left behind.
func giveBack(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for last, passed := allocated(), uint64(0); ; {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := allocated()
		if now-last < quietBelow && now-passed >= worthIt {
			debug.FreeOSMemory()
			passed = now
		}
		last = now
	}
}

// allocated returns how many bytes the process has ever allocated.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample) // does not stop the process, unlike runtime.ReadMemStats
	return sample[0].Value.Uint64()
}

// least keeps the smallest of several bounds on memory, 0 for none.
type least struct {
	bytes int64
	why   string
}

func (l *least) bound(bytes uint64, why string) {
	if bytes > 0 && bytes <= math.MaxInt64 && (l.bytes == 0 || int64(bytes) < l.bytes) {
		l.bytes, l.why = int64(bytes), why
	}
}
