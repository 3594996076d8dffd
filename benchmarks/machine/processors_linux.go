// Package machine measures what server processes use (Usage, Resident), and
// separates the processors of client and servers (Apart). It reads /proc of this
// machine.
package machine

import (
	"fmt"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"

	"nextid/dbtest"
)

// Apart restricts this process to the first half of the processors, and the servers
// to the other half, until together is called. Otherwise the client could wait for a
// processor that a server uses, and would measure its own waiting. On a machine with
// one processor Apart does nothing.
func Apart(servers ...*dbtest.Server) (together func(), err error) {
	var all, ours, theirs unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return nil, fmt.Errorf("processors: %w", err)
	}
	half, most := all.Count()/2, runtime.GOMAXPROCS(0)
	if half == 0 {
		return func() {}, nil
	}
	for cpu := 0; ours.Count()+theirs.Count() < all.Count(); cpu++ {
		switch {
		case !all.IsSet(cpu):
		case ours.Count() < half:
			ours.Set(cpu)
		default:
			theirs.Set(cpu)
		}
	}
	for _, s := range servers {
		move(s.PID, &theirs)
	}
	moveThreads(fmt.Sprintf("/proc/%d", os.Getpid()), &ours)
	runtime.GOMAXPROCS(half)
	return func() {
		move(os.Getpid(), &all) // the servers, too
		runtime.GOMAXPROCS(most)
	}, nil
}

// move sets the processors of a process and its descendants.
func move(pid int, to *unix.CPUSet) {
	dbtest.Each(pid, func(proc string, _ []string) { moveThreads(proc, to) })
}

// moveThreads sets the processors of all threads of a process. A thread that started
// meanwhile may have inherited the old processors. The second pass finds it.
func moveThreads(proc string, to *unix.CPUSet) {
	for range 2 {
		threads, _ := os.ReadDir(proc + "/task")
		for _, thread := range threads {
			if id, err := strconv.Atoi(thread.Name()); err == nil {
				_ = unix.SchedSetaffinity(id, to) // fails if the thread has ended
			}
		}
	}
}
