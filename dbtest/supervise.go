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

// supervisor kills what this process has started, once this process is gone:
// it reads a pipe whose other end only this process holds. PR_SET_PDEATHSIG
// would be shorter, and is lost when a thread ends or a program changes its
// user.
//
//go:embed supervise.sh
var supervisor string

var lifeline = sync.OnceValue(func() *os.File {
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command("/bin/sh", "-c", supervisor)
	cmd.Stdin = r
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C is not for it
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	r.Close()
	if testing.Testing() {
		endWithGo()
	}
	return w
})

// supervise tells the supervisor what to clean up.
func supervise(what, which string) {
	fmt.Fprintln(lifeline(), what, which) // a line is written at once (pipe(7))
}

// Supervised is a command that ends with this process. It has a process group
// of its own. The process names itself to the supervisor before it becomes the
// program, so that no moment is left in which nobody knows of it.
func Supervised(argv ...string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", append([]string{"-c", `echo process $$ >&3; exec "$@" 3>&-`, "sh"}, argv...)...)
	cmd.ExtraFiles = []*os.File{lifeline()}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// endWithGo ends a test when the go command that has started it is gone: SIGTERM
// ends go test and leaves its tests running. A timer asks, not a goroutine: those
// that are left at the end of a test are a failure.
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
