package dbtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Each calls f for a process and its descendants, with the process's directory
// in /proc and the ids of its threads.
func Each(pid int, f func(proc string, threads []string)) {
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
		children, _ := os.ReadFile(proc + "/task/" + thread + "/children") // none when it has ended
		for field := range strings.FieldsSeq(string(children)) {
			if child, err := strconv.Atoi(field); err == nil {
				Each(child, f)
			}
		}
	}
}

// Descendants returns the ids of the children of a process, and of theirs.
func Descendants(pid int) (pids []int) {
	Each(pid, func(proc string, _ []string) {
		if child, err := strconv.Atoi(filepath.Base(proc)); err == nil && child != pid {
			pids = append(pids, child)
		}
	})
	return pids
}

// AwaitStopped waits until all threads of a process have stopped. The caller has
// sent SIGSTOP.
func AwaitStopped(t testing.TB, pid int) {
	t.Helper()
	if !stopped(pid) {
		t.Fatalf("process %d does not stop", pid)
	}
}

// stopped waits up to 10 s until all threads of a process have stopped or ended, and
// reports whether they have.
func stopped(pid int) bool {
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid)) // none without /proc
		left := len(threads)
		for _, thread := range threads {
			if s := state(thread); s == "" || s == "T" || s == "Z" {
				left--
			}
		}
		if left == 0 {
			return true
		}
	}
	return false
}

// gone reports whether a process has ended. Its parent may not have waited for it.
func gone(pid int) bool {
	s := state(fmt.Sprint("/proc/", pid))
	return s == "" || s == "Z"
}

// state returns the third field of /proc/PID/stat (proc(5)), "" if the process has
// ended.
func state(proc string) string {
	stat, err := os.ReadFile(proc + "/stat")
	if err != nil {
		return ""
	}
	name := strings.LastIndex(string(stat), ") ") // the name may hold spaces and parentheses
	return string(stat[name+2 : name+3])
}
