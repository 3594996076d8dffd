package syntax

import (
	"runtime"
	"syscall"
)

// Yield lets other goroutines and threads run before long work goes on. Without it,
// the Go scheduler preempts a goroutine only after 10 ms, and Linux a thread only at
// the next tick: after 4 ms with CONFIG_HZ=250.
func Yield() {
	runtime.Gosched()
	_, _, _ = syscall.Syscall(syscall.SYS_SCHED_YIELD, 0, 0, 0) // sched_yield(2) always succeeds
}
