package machine

import (
	"fmt"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"

	"nextid/dbtest"
)

// Apart gives the first half of the processors to this process and the others to
// the servers, until together is called: a client that waits for a processor which a
// server has measures its own waiting. Where there is one processor it does nothing.
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

// move lets a process and its descendants run on some processors.
func move(pid int, to *unix.CPUSet) {
	dbtest.Each(pid, func(proc string, _ []string) { moveThreads(proc, to) })
}

// moveThreads moves the threads of one process. A thread that has begun since we
// looked inherits the processors of the one that began it: the second look has it.
func moveThreads(proc string, to *unix.CPUSet) {
	for range 2 {
		threads, _ := os.ReadDir(proc + "/task")
		for _, thread := range threads {
			if id, err := strconv.Atoi(thread.Name()); err == nil {
				_ = unix.SchedSetaffinity(id, to) // fails where it has ended
			}
		}
	}
}
