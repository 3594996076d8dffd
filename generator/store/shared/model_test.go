package shared

import (
	"flag"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var models = flag.Bool("models", false, "check the Spin model of the epoch: four minutes and 6 GB")

// TestModelOfTheEpoch checks all schedules of the model of type epoch. The rules that
// must fail show that the model can find the fault.
func TestModelOfTheEpoch(t *testing.T) {
	if !*models {
		t.Skip("takes four minutes: make models")
	}
	for _, program := range []string{"spin", "gcc"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("needs the Debian package %s", program)
		}
	}
	model, err := filepath.Abs("epoch.pml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		flags []string
		holds bool
	}{
		{"the wall clock of the server that notes the epoch", []string{"-DOLD", "-DWRONG=0"}, false},
		{"the time of the server that reserves", []string{"-DNOFLOOR", "-DWRONG=0"}, false},
		{"the rule with a wrong server", []string{"-DWRONG=0"}, true},
		{"the rule with a wrong store", []string{"-DWRONG=2"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
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
			if !c.holds {
				search = "-DBFS" // finds the shortest schedule first
			}
			run("spin", append(append([]string{"-a"}, c.flags...), model)...)
			run("gcc", "-O2", "-DSAFETY", search, "-DMEMLIM=12000", "-w", "-o", "pan", "pan.c")
			out := run("./pan", "-m600000", "-w26")
			if holds := strings.Contains(out, "errors: 0") && !strings.Contains(out, "Search not completed"); holds != c.holds {
				t.Errorf("the rule holds: %v, want %v\n%s", holds, c.holds, out)
			}
		})
	}
}
