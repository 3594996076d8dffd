package rig

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
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
func UsageOf(servers ...*Server) (u Usage) {
	for _, s := range servers {
		if s.PID != 0 {
			u.add(s.PID)
		}
	}
	return u
}

func (u *Usage) add(pid int) {
	each(pid, func(proc string, threads []string) {
		if io, err := os.ReadFile(proc + "/io"); err == nil {
			u.Written += counted(string(io), "write_bytes")
			u.Read += counted(string(io), "read_bytes")
		}
		u.CPU += ended(proc)
		for _, thread := range threads {
			if stat, err := os.ReadFile(proc + "/task/" + thread + "/schedstat"); err == nil {
				nanoseconds, _, _ := strings.Cut(string(stat), " ")
				if n, err := strconv.ParseInt(nanoseconds, 10, 64); err == nil {
					u.CPU += time.Duration(n)
				}
			}
		}
	})
}

// each calls f for a process and its descendants, with its directory in /proc and
// the ids of its threads.
func each(pid int, f func(proc string, threads []string)) {
	proc := fmt.Sprintf("/proc/%d", pid)
	tasks, err := os.ReadDir(proc + "/task")
	if err != nil {
		return // it has ended
	}
	var threads []string
	for _, t := range tasks {
		threads = append(threads, t.Name())
	}
	f(proc, threads)
	for _, thread := range threads {
		children, err := os.ReadFile(proc + "/task/" + thread + "/children")
		if err != nil {
			continue
		}
		for field := range strings.FieldsSeq(string(children)) {
			if child, err := strconv.Atoi(field); err == nil {
				each(child, f)
			}
		}
	}
}

// counted is a number of /proc/PID/io, 0 where it is not there.
func counted(io, name string) int64 {
	_, after, _ := strings.Cut(io, "\n"+name+": ")
	text, _, _ := strings.Cut(after, "\n")
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
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

// Parent is the parent of a process, if that is one of the named programs,
// else 0.
func Parent(pid int, names ...string) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(status), "\nPPid:")
	text, _, _ := strings.Cut(after, "\n")
	parent, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || !called(parent, names) {
		return 0
	}
	return parent
}

func called(pid int, names []string) bool {
	comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return err == nil && slices.Contains(names, strings.TrimSpace(string(comm)))
}

// Busy is how much the processors of this machine have worked, and how much of
// that was this process and its descendants, as the servers of a Rig are.
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
