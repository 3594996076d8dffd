package simulation

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
)

var (
	oneSeed   = flag.Uint64("seed", 0, "run the schedule of this seed alone, and print it with -v")
	firstSeed = flag.Uint64("first", 1, "seed of the first schedule; 0: another one each time (make simulate)")
	schedules = flag.Int("schedules", 0, "how many schedules to run; 0: as many as fit a test run")
)

// enough is a number of schedules that finds every known bug, in about five seconds on
// two processors.
const enough = 5_000

// TestSchedules runs many schedules, always the same ones unless -first is set. A
// failure names the seed that repeats it.
func TestSchedules(t *testing.T) {
	if *oneSeed != 0 {
		var log io.Writer
		if testing.Verbose() {
			log = os.Stdout
		}
		if r := Run(*oneSeed, log); r.Err != nil {
			t.Fatalf("%v\n%+v", r.Err, r)
		}
		return
	}
	n := *schedules
	if n == 0 {
		n = enough
		if testing.Short() {
			n = 1_000
		}
	}
	first := *firstSeed
	if first == 0 {
		first = rand.Uint64() >> 16
	}
	total, seed, err := runMany(first, n)
	if err != nil {
		t.Fatalf("seed %d: %v\ngo test ./generator/simulation -run TestSchedules -seed %[1]d -v", seed, err)
	}
	if total.IDs == 0 || total.Faults == 0 {
		t.Errorf("%+v: the schedules prove nothing", total)
	}
	t.Logf("%d schedules, %d ids, %d faults; %d ids were repeated by live clones, which is a documented limit",
		n, total.IDs, total.Faults, total.Clones)
}

// runMany runs the schedules of n seeds on all processors until one fails.
func runMany(first uint64, n int) (total Result, failed uint64, err error) {
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	var mu sync.Mutex
	var done atomic.Int64
	var work sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		work.Go(func() {
			for i := done.Add(1); i <= int64(n); i = done.Add(1) {
				seed := first + uint64(i)
				r := run(seed)
				mu.Lock()
				total.IDs += r.IDs
				total.Clones += r.Clones
				total.Faults += r.Faults
				if r.Err != nil && err == nil {
					failed, err = seed, r.Err
					done.Store(int64(n))
				}
				mu.Unlock()
			}
		})
	}
	work.Wait()
	return total, failed, err
}

// run calls Run and turns a panic into a failure.
func run(seed uint64) (r Result) {
	defer func() {
		if cause := recover(); cause != nil {
			r.Err = fmt.Errorf("panic: %v", cause)
		}
	}()
	return Run(seed, nil)
}
