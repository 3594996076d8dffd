package generatortest

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"
)

// Model checks all schedules of a Spin model with flags for the preprocessor. A
// rule with holds unset must fail, which shows that the model can find the fault.
func Model(t *testing.T, file string, holds bool, flags ...string) {
	t.Helper()
	for _, program := range []string{"spin", "gcc"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("needs the Debian package %s", program)
		}
	}
	model, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return string(out)
	}
	search := "-DCOLLAPSE"
	if !holds {
		search = "-DBFS" // finds the shortest schedule first
	}
	run("spin", append(append([]string{"-a"}, flags...), model)...)
	run("gcc", "-O2", "-DSAFETY", search, "-DMEMLIM=12000", "-w", "-o", "pan", "pan.c")
	out := run("./pan", "-m600000", "-w26")
	if found := strings.Contains(out, "errors: 0") && !strings.Contains(out, "Search not completed"); found != holds {
		t.Errorf("the rule holds: %v, want %v\n%s", found, holds, out)
	}
}

// CheckInBubbles is rapid.Check with a bubble of virtual time for each run. In one
// bubble for all, rapid would stop after a day of virtual time.
func CheckInBubbles(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	rapid.Check(t, func(r *rapid.T) {
		var failure any // rapid ends a run by a panic, which must not end the bubble
		synctest.Test(t, func(*testing.T) {
			defer func() { failure = recover() }()
			property(r)
		})
		if fmt.Sprintf("%T", failure) == "rapid.invalidData" {
			panic(failure) // on a separate line: rapid distinguishes failures by their line
		}
		if failure != nil {
			panic(failure)
		}
	})
}
