package load

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nextid/dbtest"
)

// TestUsageOfEndedChildren: the CPU time of a child still counts after its end. So
// the difference of two readings is never negative.
func TestUsageOfEndedChildren(t *testing.T) {
	server := &dbtest.Server{PID: os.Getpid()}
	before := CPU(server)
	busy := exec.Command("sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done")
	if err := busy.Run(); err != nil {
		t.Fatal(err)
	}
	used := busy.ProcessState.UserTime() + busy.ProcessState.SystemTime()
	if got := CPU(server) - before; got < used-2*userHZ || used < 5*userHZ {
		t.Errorf("counted %v of a child that used %v", got, used.Round(time.Millisecond))
	}
}

// TestUsageOfEndedThreads: so does that of a thread.
func TestUsageOfEndedThreads(t *testing.T) {
	server, end := &dbtest.Server{PID: os.Getpid()}, make(chan time.Duration)
	before := CPU(server)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		var used time.Duration
		for begin := cpuOfThread(t); used < 100*time.Millisecond; used = cpuOfThread(t) - begin {
		}
		end <- used
	}()
	used := <-end
	for range 10 { // the thread ends a moment later
		time.Sleep(10 * time.Millisecond)
		if got := CPU(server) - before; got < used {
			t.Fatalf("counted %v of a thread that used %v", got, used)
		}
	}
}

func cpuOfThread(t *testing.T) time.Duration {
	var clock unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &clock); err != nil {
		t.Error(err)
	}
	return time.Duration(clock.Nano())
}
