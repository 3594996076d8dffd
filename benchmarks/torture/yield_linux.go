package torture

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// yield gives this process the policy SCHED_IDLE (sched(7)), with which it runs only
// when no other process needs the processor. A policy belongs to a thread. So yield
// executes the program again in the present thread, and all new threads inherit the
// policy.
func yield() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	had, err := unix.SchedGetAttr(0, 0)
	if err != nil || had.Policy == unix.SCHED_IDLE {
		return err
	}
	if err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return unix.Exec(self, os.Args, os.Environ())
}
