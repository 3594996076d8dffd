package feed_test

import (
	"flag"
	"slices"
	"testing"

	"nextid/generator/generatortest"
)

var models = flag.Bool("models", false, "check the larger models, too")

// TestModelOfTheFeed checks the model of moves. With the rules of package feed no
// number is drawn twice. With each simpler rule one is.
func TestModelOfTheFeed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		flags []string
		holds bool
	}{
		{"a block without an answer is tried again", []string{"-DRETRY"}, false},
		{"a block without an answer is looked up", []string{"-DADOPT"}, false},
		{"bounds in a statement of their own", []string{"-DTWOSTEPS"}, false},
		{"the rule", nil, true},
		{"the rule with three feeders", []string{"-DN=3", "-DB=3"}, true},
	} {
		if slices.Contains(c.flags, "-DN=3") && !*models {
			continue // it takes a minute: make models
		}
		t.Run(c.name, func(t *testing.T) { generatortest.Model(t, "feed.pml", c.holds, c.flags...) })
	}
}
