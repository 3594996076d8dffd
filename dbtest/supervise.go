package dbtest

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

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

// Supervised returns a command that ends with this process. It has a process group
// of its own. A shell registers its process with the supervisor and then becomes the
// program. So the program never runs unregistered.
func Supervised(argv ...string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", append([]string{"-c", `echo process $$ >&3; exec "$@" 3>&-`, "sh"}, argv...)...)
	cmd.ExtraFiles = []*os.File{supervisorPipe()}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

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
