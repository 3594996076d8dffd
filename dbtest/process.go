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

// Descendants are the processes that a process and its children have started.
func Descendants(pid int) (pids []int) {
	Each(pid, func(proc string, _ []string) {
		if child, err := strconv.Atoi(filepath.Base(proc)); err == nil && child != pid {
			pids = append(pids, child)
		}
	})
	return pids
}

// AwaitStopped waits until SIGSTOP has stopped all threads of a process: the
// signal is sent before that.
func AwaitStopped(t testing.TB, pid int) {
	t.Helper()
	if !stopped(pid) {
		t.Fatalf("process %d does not stop", pid)
	}
}

// stopped waits until all threads of a process have stopped or ended.
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

// gone reports whether a process has ended: its parent may not have waited yet.
func gone(pid int) bool {
	s := state(fmt.Sprint("/proc/", pid))
	return s == "" || s == "Z"
}

// state is the third field of /proc/PID/stat, "" when the process has ended.
func state(proc string) string {
	stat, err := os.ReadFile(proc + "/stat")
	if err != nil {
		return ""
	}
	name := strings.LastIndex(string(stat), ") ") // which may hold spaces
	return string(stat[name+2 : name+3])
}
