package torture

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// yield makes this process one that runs where nothing else would
// (SCHED_IDLE, sched(7)): the attackers stand for other machines. A policy is
// a thread's; it begins again in that thread, so that all of its threads
// inherit it.
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
