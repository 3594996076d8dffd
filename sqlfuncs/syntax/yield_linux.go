package syntax

import (
	"runtime"
	"syscall"
)

// Yield lets other goroutines and threads run before work that takes long has the
// processor first. The Go scheduler would leave it to the work for ten
// milliseconds, and Linux to its thread until the next tick, which is 4 ms away
// where a second has 250.
func Yield() {
	runtime.Gosched()
	_, _, _ = syscall.Syscall(syscall.SYS_SCHED_YIELD, 0, 0, 0) // sched_yield(2) always succeeds
}
