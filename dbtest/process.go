package dbtest

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Build builds programs of this module into dir. args are flags and, after them,
// packages. The flags of make build are added, so nextid is compiled once for all
// tests. Programs that make test has built ($DBTEST_PROGRAMS) are linked instead.
func Build(dir string, args ...string) error {
	if built := os.Getenv("DBTEST_PROGRAMS"); built != "" && !strings.HasPrefix(args[0], "-") {
		for _, pkg := range args {
			if err := os.Symlink(filepath.Join(built, filepath.Base(pkg)), filepath.Join(dir, filepath.Base(pkg))); err != nil {
				return err
			}
		}
		return nil
	}
	build := exec.Command("go", slices.Concat([]string{"build", "-trimpath", "-ldflags=-s -w", "-o", dir + string(filepath.Separator)}, args)...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", args[len(args)-1], err, out)
	}
	return nil
}

// Each calls f for a process and its descendants.
func Each(pid int, f func(pid int)) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if len(threads) == 0 {
		return // it has ended
	}
	f(pid)
	for _, thread := range threads {
		children, _ := os.ReadFile(thread + "/children") // none when it has ended
		for field := range strings.FieldsSeq(string(children)) {
			if child, err := strconv.Atoi(field); err == nil {
				Each(child, f)
			}
		}
	}
}

// Descendants returns the ids of the children of a process, and of theirs.
func Descendants(pid int) (pids []int) {
	Each(pid, func(child int) {
		if child != pid {
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
	return within(10*time.Second, time.Millisecond, func() bool {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid)) // none without /proc
		return !slices.ContainsFunc(threads, func(thread string) bool { return !strings.Contains("TZ", state(thread)) })
	})
}

// within calls done, with a pause between calls, until it returns true, and reports
// whether it has within the limit.
func within(limit, pause time.Duration, done func() bool) bool {
	for end := time.Now().Add(limit); !done(); time.Sleep(pause) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
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

// supervisor is a shell script that kills the processes that this process has
// started, once this process has ended. It reads a pipe to which only this process
// writes, until the end of file. PR_SET_PDEATHSIG would not do (prctl(2)): it acts
// when the parent's thread ends, and is cleared when a program changes its user.
//
//go:embed supervise.sh
var supervisor string

// supervisorPipe starts the supervisor at the first call, and returns its pipe.
var supervisorPipe = sync.OnceValue(func() *os.File {
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command("/bin/sh", "-c", supervisor)
	cmd.Stdin = r
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C must not end it
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	r.Close()
	if testing.Testing() {
		endWithGo()
	}
	return w
})

// supervise sends a line to the supervisor: "process PID", "ended PID" or "dir
// PATH".
func supervise(what, which string) {
	fmt.Fprintln(supervisorPipe(), what, which) // a short write to a pipe is atomic (pipe(7))
}

// Supervised returns a command that ends with this process. Its caller calls Ended
// after Wait. It has a process group of its own. A shell registers its process with the supervisor and then becomes the
// program. So the program never runs unregistered.
func Supervised(argv ...string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", append([]string{"-c", `echo process $$ >&3; exec "$@" 3>&-`, "sh"}, argv...)...)
	cmd.ExtraFiles = []*os.File{supervisorPipe()}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// Ended tells the supervisor that a process of Supervised has ended: its id may be
// given to another one.
func Ended(pid int) { supervise("ended", strconv.Itoa(pid)) }

// endWithGo ends a test program when the go command that has started it has ended:
// SIGTERM ends go test and leaves its test programs running. A timer polls, because
// tests fail if a goroutine is left at their end.
func endWithGo() {
	parent := os.Getppid()
	name, _ := os.ReadFile("/proc/" + strconv.Itoa(parent) + "/comm")
	if strings.TrimSpace(string(name)) != "go" {
		return // it was started by hand
	}
	var ask func()
	ask = func() {
		if os.Getppid() != parent {
			os.Exit(1)
		}
		time.AfterFunc(time.Second, ask)
	}
	ask()
}
