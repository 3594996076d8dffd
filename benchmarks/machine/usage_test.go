package machine

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"nextid/dbtest"
)

// TestUsageOfEndedChildren: what a child used stays counted when it ends, so
// that a difference of two looks is never negative.
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

// TestOthersAreNotUs: what this process and its children used is not that of
// others.
func TestOthersAreNotUs(t *testing.T) {
	begin := time.Now()
	before := Busy{at: begin, all: 100 * time.Second, ours: 10 * time.Second}
	after := Busy{at: begin.Add(2 * time.Second), all: 104 * time.Second, ours: 11 * time.Second}
	if got := after.Others(before); got != 1.5 {
		t.Errorf("others had %v processors, want 1.5", got)
	}
	if got := after.Others(Busy{}); got != 0 {
		t.Errorf("without a look before: %v", got)
	}
	first := BusyNow()
	if err := exec.Command("sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done").Run(); err != nil {
		t.Fatal(err)
	}
	if now := BusyNow(); now.ours <= first.ours || now.all <= first.all {
		t.Errorf("a child worked, and %+v is not more than %+v", now, first)
	}
}
