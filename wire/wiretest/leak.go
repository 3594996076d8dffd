package wiretest

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// leakPatience bounds the wait for goroutines after the last test.
const leakPatience = 5 * time.Second

// Main runs the tests of a package, for TestMain, and returns the exit code. It
// fails if a goroutine still runs code of this module afterwards.
func Main(m *testing.M) int {
	code := m.Run()
	if left := leaked(leakPatience); code == 0 && left != "" {
		fmt.Fprintf(os.Stderr, "goroutines were left behind:\n%s\n", left)
		return 1
	}
	return code
}

// leaked waits until no goroutine runs code of this module, for waitLimit at most.
// It returns the stacks of the goroutines that still do.
func leaked(waitLimit time.Duration) string {
	deadline := time.Now().Add(waitLimit)
	for {
		left := ours(stacks())
		if left == "" || time.Now().After(deadline) {
			return left
		}
		<-time.After(10 * time.Millisecond)
	}
}

func stacks() string {
	buf := make([]byte, 1<<20)
	return string(buf[:runtime.Stack(buf, true)])
}

// ours returns the stacks with code of this module, without the goroutine of Main.
func ours(all string) string {
	var left []string
	for g := range strings.SplitSeq(all, "\n\n") {
		if strings.Contains(g, "nextid/") && !strings.Contains(g, "wiretest.Main(") {
			left = append(left, g)
		}
	}
	return strings.Join(left, "\n\n")
}
