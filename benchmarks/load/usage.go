package load

import (
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"nextid/dbtest"
)

// CPU returns the processor time of servers and their child processes since they
// started. It includes children that have ended, such as PostgreSQL's autovacuum
// workers.
func CPU(servers ...*dbtest.Server) (used time.Duration) {
	for _, s := range servers {
		dbtest.Each(s.PID, func(pid int) {
			if p, err := procfs.NewProc(pid); err == nil {
				stat, _ := p.Stat() // the times of the children for which it has waited; zeros if it has ended
				used += time.Duration(stat.CUTime+stat.CSTime) * userHZ
			}
			// The id of a process's clock is that of clock_getcpuclockid(3). The clock
			// includes threads that have ended.
			var clock unix.Timespec
			if unix.ClockGettime(int32(^pid<<3|2), &clock) == nil { // else the process has ended
				used += time.Duration(clock.Nano())
			}
		})
	}
	return used
}

// userHZ is the unit of times in /proc/PID/stat (proc(5)). It is 1/100 s on Linux,
// for all configurations of the kernel.
const userHZ = time.Second / 100

// Resident returns a process's resident memory in bytes (VmRSS, proc_pid_status(5)).
func Resident(pid int) (float64, error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0, err
	}
	status, err := p.NewStatus()
	return float64(status.VmRSS), err
}

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
		if all.IsSet(cpu) && ours.Count() < half {
			ours.Set(cpu)
		} else if all.IsSet(cpu) {
			theirs.Set(cpu)
		}
	}
	for _, s := range servers {
		dbtest.Each(s.PID, func(pid int) { move(pid, &theirs) })
	}
	move(os.Getpid(), &ours)
	runtime.GOMAXPROCS(half)
	return func() {
		dbtest.Each(os.Getpid(), func(pid int) { move(pid, &all) }) // the servers, too
		runtime.GOMAXPROCS(most)
	}, nil
}

// move sets the processors of all threads of a process. A thread that started
// meanwhile may have inherited the old processors. The second pass finds it.
func move(pid int, to *unix.CPUSet) {
	for range 2 {
		threads, _ := procfs.AllThreads(pid)
		for _, thread := range threads {
			_ = unix.SchedSetaffinity(thread.PID, to) // fails if the thread has ended
		}
	}
}
