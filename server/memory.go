package server

import (
	"context"
	"log/slog"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"time"

	"nextid/sqlfuncs/account"
)

// limitMemory fills in the limits of what sessions may hold: by default a quarter
// of the memory that the process may use.
//
// It also sets the memory limit of Go's collector to half of that memory, unless
// GOMEMLIMIT is set. The half covers the sessions' quarter, as much garbage, and
// the server's own needs. A limits.memory above the quarter raises it. Below the
// limit a collection starts at collectAt, unless GOGC is set.
func limitMemory(l account.Limits, log *slog.Logger) account.Limits {
	available := availableMemory()
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
	log.Debug("memory", "available", available, "sessions", l.Server, "user", l.User, "session", l.Session, "collector", debug.SetMemoryLimit(-1))
	return l
}

// collectAt is the garbage, in percent of the memory in use, at which Go's
// collector runs. A collection takes processors that large statements leave to
// others (see engine.CPUSlots). Go's default of 100 would run it four times as
// often.
const collectAt = 400

// giveBack measures every measureEvery. An idle server allocates less than
// idleBelow in that time. A collection is worth its cost after freeAfter bytes.
const (
	measureEvery = 5 * time.Second
	idleBelow    = 1 << 20 // bytes
	freeAfter    = 8 << 20 // bytes
)

// giveBack collects garbage once the server is idle, and returns free memory to the
// system. Go itself would keep for two minutes what logins and large statements
// have left.
func giveBack(ctx context.Context) {
	ticker := time.NewTicker(measureEvery)
	defer ticker.Stop()
	for last, passed := allocated(), uint64(0); ; {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := allocated()
		if now-last < idleBelow && now-passed >= freeAfter {
			debug.FreeOSMemory()
			passed = now
		}
		last = now
	}
}

// allocated returns the bytes that the process has allocated since its start,
// including freed ones.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample) // does not stop the process, unlike runtime.ReadMemStats
	return sample[0].Value.Uint64()
}

// smallest returns the smallest of several bounds in bytes. 0, and more than an int64
// holds, are no bounds; without one the result is 0.
func smallest(bounds []uint64) int64 {
	bounds = slices.DeleteFunc(bounds, func(b uint64) bool { return b == 0 || b > math.MaxInt64 })
	if len(bounds) == 0 {
		return 0
	}
	return int64(slices.Min(bounds))
}
