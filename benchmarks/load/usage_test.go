package load

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"nextid/dbtest"
)

// TestUsageOfEndedChildren: the CPU time of a child still counts after its end. So
// the difference of two Usages is never negative.
func TestUsageOfEndedChildren(t *testing.T) {
	server := &dbtest.Server{PID: os.Getpid()}
	before := UsageOf(server)
	busy := exec.Command("sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done")
	if err := busy.Run(); err != nil {
		t.Fatal(err)
	}
	used := busy.ProcessState.UserTime() + busy.ProcessState.SystemTime()
	if got := UsageOf(server).Sub(before).CPU; got < used-2*userHZ || used < 5*userHZ {
		t.Errorf("counted %v of a child that used %v", got, used.Round(time.Millisecond))
	}
}
