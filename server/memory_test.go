package server

import (
	"context"
	"runtime"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"
)

// An idle server collects garbage and returns memory to the system, once.
func TestIdleServerReturnsMemory(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // no pass but ours
	kept := make([]byte, 64<<20)
	for i := 0; i < len(kept); i += 4096 {
		kept[i] = 1
	}
	runtime.GC()
	runtime.KeepAlive(kept)
	var before, soon, after, later runtime.MemStats
	runtime.ReadMemStats(&before)
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go giveBack(ctx)
		time.Sleep(measureEvery - time.Second) //nolint:forbidigo // the bubble's clock
		runtime.ReadMemStats(&soon)
		time.Sleep(2 * time.Second) //nolint:forbidigo // the bubble's clock
		synctest.Wait()
		runtime.ReadMemStats(&after)
		time.Sleep(10 * measureEvery) //nolint:forbidigo // the bubble's clock
		synctest.Wait()
		runtime.ReadMemStats(&later)
	})
	if freed := int64(after.HeapReleased) - int64(before.HeapReleased); freed < 60<<20 || after.NumForcedGC != soon.NumForcedGC+1 {
		t.Errorf("%d MB returned in %d passes, want 64 in one", freed>>20, after.NumForcedGC-soon.NumForcedGC)
	}
	if soon.NumForcedGC != before.NumForcedGC || later.NumForcedGC != after.NumForcedGC {
		t.Errorf("%d passes before the server was quiet, %d after it had nothing to give; want none",
			soon.NumForcedGC-before.NumForcedGC, later.NumForcedGC-after.NumForcedGC)
	}
}
