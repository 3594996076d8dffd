package wiretest

import (
	"fmt"
	"os"
	"runtime"
	"slices"
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

// leaked waits until no goroutine but that of Main runs code of this module, for
// waitLimit at most. It returns the stacks of the goroutines that still do.
func leaked(waitLimit time.Duration) string {
	buf := make([]byte, 1<<20)
	for deadline := time.Now().Add(waitLimit); ; <-time.After(10 * time.Millisecond) {
		stacks := strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
		left := slices.DeleteFunc(stacks, func(g string) bool {
			return !strings.Contains(g, "nextid/") || strings.Contains(g, "wiretest.Main(")
		})
		if len(left) == 0 || time.Now().After(deadline) {
			return strings.Join(left, "\n\n")
		}
	}
}
