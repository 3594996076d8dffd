package load

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"nextid/dbtest"
)

// TestApart: a server and its children get the processors that this process does not
// use. Afterwards all processes have all processors again.
func TestApart(t *testing.T) {
	if runtime.NumCPU() < 2 {
		t.Skip("this needs two processors")
	}
	// allowed returns the list of a process's processors (proc(5)).
	allowed := func(proc string) string {
		status, err := os.ReadFile(proc + "/status")
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(string(status), "\nCpus_allowed_list:\t")
		list, _, _ := strings.Cut(after, "\n")
		return list
	}
	cmd := exec.Command("sh", "-c", "sleep 60 & echo; wait")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var processes []int
	look := func() (lists []string) {
		processes = processes[:0]
		dbtest.Each(cmd.Process.Pid, func(pid int) {
			processes = append(processes, pid)
			lists = append(lists, allowed(fmt.Sprint("/proc/", pid)))
		})
		return lists
	}
	t.Cleanup(func() {
		for _, pid := range processes { // sh does not end sleep
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
		_ = cmd.Wait()
	})
	if _, err := out.Read(make([]byte, 1)); err != nil { // sleep has begun
		t.Fatal(err)
	}
	before, most := allowed("/proc/self"), runtime.GOMAXPROCS(0)
	together, err := Apart(&dbtest.Server{PID: cmd.Process.Pid})
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs, threads := allowed("/proc/self"), look(), runtime.GOMAXPROCS(0)
	together()
	if len(theirs) != 2 || theirs[0] != theirs[1] || theirs[0] == before || ours == before || ours == theirs[0] || threads != most/2 {
		t.Errorf("of the processors %s we have %s with %d threads, a server and its child %s", before, ours, threads, theirs)
	}
	if after := append(look(), allowed("/proc/self")); after[0] != before || after[1] != before || after[2] != before || runtime.GOMAXPROCS(0) != most {
		t.Errorf("afterwards they have %s, want %s each", after, before)
	}
}
