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

// Usage holds what processes have used since they began.
type Usage struct {
	CPU     time.Duration
	Written int64 // bytes handed to the disk
}

// Sub returns what was used since an earlier look.
func (u Usage) Sub(earlier Usage) Usage {
	return Usage{u.CPU - earlier.CPU, u.Written - earlier.Written}
}

// UsageOf adds up what the servers and their child processes have used, also
// those that have ended (PostgreSQL's autovacuum workers come and go).
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
			stat, _ := os.ReadFile(proc + "/task/" + thread + "/schedstat") // none when it has ended
			nanoseconds, _, _ := strings.Cut(string(stat), " ")
			n, _ := strconv.ParseInt(nanoseconds, 10, 64)
			u.CPU += time.Duration(n)
		}
	})
}

// userHZ is the unit of times in /proc/PID/stat (proc(5)): 100 a second on
// Linux, whatever the kernel was built with.
const userHZ = time.Second / 100

// ended returns what a process's children used that it has waited for: cutime and
// cstime, the fields 16 and 17 of stat.
func ended(proc string) (total time.Duration) {
	stat, err := os.ReadFile(proc + "/stat")
	if err != nil {
		return 0
	}
	name := strings.LastIndexByte(string(stat), ')') // which may hold spaces; it is field 2
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

// Resident is a process's resident memory in bytes (VmRSS, proc_pid_status(5)).
func Resident(pid int) (float64, error) {
	kilobytes, _, _ := strings.Cut(report.Field(fmt.Sprintf("/proc/%d/status", pid), "VmRSS"), " ")
	n, err := strconv.ParseFloat(kilobytes, 64)
	return n * 1024, err
}
