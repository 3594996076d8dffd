package shared

import (
	"flag"
	"testing"

	"nextid/generator/generatortest"
)

var models = flag.Bool("models", false, "check the Spin model of the epoch: four minutes and 6 GB")

// TestModelOfTheEpoch checks the model of type epoch.
func TestModelOfTheEpoch(t *testing.T) {
	if !*models {
		t.Skip("takes four minutes: make models")
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
		t.Run(c.name, func(t *testing.T) { generatortest.Model(t, "epoch.pml", c.holds, c.flags...) })
	}
}
