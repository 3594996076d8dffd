package machine

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"nextid/benchmarks/report"
	"nextid/dbtest"
)

// Usage holds the resources that processes have used since they started.
type Usage struct {
	CPU     time.Duration
	Written int64 // bytes written to disk (write_bytes, proc_pid_io(5))
}

// Sub returns the difference to an earlier Usage.
func (u Usage) Sub(earlier Usage) Usage {
	return Usage{u.CPU - earlier.CPU, u.Written - earlier.Written}
}

// UsageOf returns the sum over the servers and their child processes. The CPU time
// includes children that have ended, such as PostgreSQL's autovacuum workers.
func UsageOf(servers ...*dbtest.Server) (u Usage) {
	for _, s := range servers {
		if s.PID != 0 {
			u.add(s.PID)
		}
	}
	return u
}

func (u *Usage) add(pid int) {
	dbtest.Each(pid, func(proc string, threads []string) {
		if io, err := os.ReadFile(proc + "/io"); err == nil {
			_, after, _ := strings.Cut(string(io), "\nwrite_bytes: ")
			text, _, _ := strings.Cut(after, "\n")
			n, _ := strconv.ParseInt(text, 10, 64)
			u.Written += n
		}
		u.CPU += ended(proc)
		for _, thread := range threads {
			stat, _ := os.ReadFile(proc + "/task/" + thread + "/schedstat") // empty if the thread has ended
			nanoseconds, _, _ := strings.Cut(string(stat), " ")
			n, _ := strconv.ParseInt(nanoseconds, 10, 64)
			u.CPU += time.Duration(n)
		}
	})
}

// userHZ is the unit of times in /proc/PID/stat (proc(5)). It is 1/100 s on Linux,
// for all configurations of the kernel.
const userHZ = time.Second / 100

// ended returns the CPU time of the children for which a process has waited: cutime
// and cstime, the fields 16 and 17 of stat.
func ended(proc string) (total time.Duration) {
	stat, err := os.ReadFile(proc + "/stat")
	if err != nil {
		return 0
	}
	name := strings.LastIndexByte(string(stat), ')') // field 2, which may hold spaces
	fields := strings.Fields(string(stat)[name+1:])
	for _, field := range []int{16, 17} {
		if field-3 >= len(fields) {
			return 0
		}
		if n, err := strconv.ParseInt(fields[field-3], 10, 64); err == nil {
			total += time.Duration(n) * userHZ
		}
	}
	return total
}

// Resident returns a process's resident memory in bytes (VmRSS, proc_pid_status(5)).
func Resident(pid int) (float64, error) {
	kilobytes, _, _ := strings.Cut(report.Field(fmt.Sprintf("/proc/%d/status", pid), "VmRSS"), " ")
	n, err := strconv.ParseFloat(kilobytes, 64)
	return n * 1024, err
}
