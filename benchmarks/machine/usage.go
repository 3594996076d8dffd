package machine

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"nextid/benchmarks/report"
	"nextid/dbtest"
)

// Usage is what processes have used since they began.
type Usage struct {
	CPU     time.Duration
	Written int64 // bytes handed to the disk
	Read    int64 // bytes that came from the disk
}

// Sub is what was used since an earlier look.
func (u Usage) Sub(earlier Usage) Usage {
	return Usage{u.CPU - earlier.CPU, u.Written - earlier.Written, u.Read - earlier.Read}
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
			u.Written += counted(string(io), "write_bytes")
			u.Read += counted(string(io), "read_bytes")
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

// counted is a number of /proc/PID/io, 0 where it is not there.
func counted(io, name string) int64 {
	_, after, _ := strings.Cut(io, "\n"+name+": ")
	text, _, _ := strings.Cut(after, "\n")
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// userHZ is the unit of times in /proc/PID/stat (proc(5)): 100 a second on
// Linux, whatever the kernel was built with.
const userHZ = time.Second / 100

// ended is what a process's children used that it has waited for: cutime and
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

// Parent is the parent of a process, if that is the named program, else 0.
func Parent(pid int, name string) int {
	parent, _ := strconv.Atoi(report.Field(fmt.Sprintf("/proc/%d/status", pid), "PPid"))
	if report.Content(fmt.Sprintf("/proc/%d/comm", parent)) != name {
		return 0
	}
	return parent
}

// Resident is a process's resident memory in bytes (VmRSS, proc_pid_status(5)).
func Resident(pid int) (float64, error) {
	kilobytes, _, _ := strings.Cut(report.Field(fmt.Sprintf("/proc/%d/status", pid), "VmRSS"), " ")
	n, err := strconv.ParseFloat(kilobytes, 64)
	return n * 1024, err
}

// Busy is how much the processors of this machine have worked, and how much of
// that was this process and its descendants, as its servers are.
type Busy struct {
	at        time.Time
	all, ours time.Duration
}

// BusyNow looks at /proc.
func BusyNow() Busy {
	b := Busy{at: time.Now()}
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return b
	}
	line, _, _ := strings.Cut(string(stat), "\n")
	for i, field := range strings.Fields(line)[1:] {
		if n, err := strconv.ParseInt(field, 10, 64); err == nil && slices.Contains(working, i) {
			b.all += time.Duration(n) * userHZ
		}
	}
	var u Usage
	u.add(os.Getpid())
	b.ours = u.CPU
	return b
}

// working are the columns of /proc/stat in which a processor is at work, for
// whomever: user, nice, system, irq, softirq, steal.
var working = []int{0, 1, 2, 5, 6, 7}

// Others is how many processors other programs have kept at work since an
// earlier look, on average.
func (b Busy) Others(earlier Busy) float64 {
	if !b.at.After(earlier.at) || earlier.at.IsZero() {
		return 0
	}
	return max(0, float64(b.all-earlier.all-(b.ours-earlier.ours))/float64(b.at.Sub(earlier.at)))
}
