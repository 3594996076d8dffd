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

// Main runs the tests of a package and fails when goroutines of this module
// are left behind. It returns the exit code, for TestMain.
func Main(m *testing.M) int {
	code := m.Run()
	if left := leaked(leakPatience); code == 0 && left != "" {
		fmt.Fprintf(os.Stderr, "goroutines were left behind:\n%s\n", left)
		return 1
	}
	return code
}

// leaked waits until no goroutine runs code of this module, and returns the
// stacks of those that still do.
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

// ours keeps the goroutines with this module's code on their stack, but for
// the one that asks.
func ours(all string) string {
	var left []string
	for g := range strings.SplitSeq(all, "\n\n") {
		if strings.Contains(g, "nextid/") && !strings.Contains(g, "wiretest.Main(") {
			left = append(left, g)
		}
	}
	return strings.Join(left, "\n\n")
}
