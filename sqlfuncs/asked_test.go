package sqlfuncs

import (
	"os"
	"strings"
	"testing"
)

// TestEveryFunctionIsAskedFor: what no client, no tool and no line of the
// contract asks for is not in nextid. asked.tsv names who does.
func TestEveryFunctionIsAskedFor(t *testing.T) {
	text, err := os.ReadFile("asked.tsv")
	if err != nil {
		t.Fatal(err)
	}
	asked, known := map[string]bool{}, newCatalog()
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, who, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if who == "" || asked[name] {
			t.Errorf("%q: once, with who asks for it", line)
		}
		asked[name] = true
		if known.Functions[name] == nil {
			t.Errorf("%s is asked for by %s, and nextid does not have it", name, who)
		}
	}
	for _, f := range known.AllFunctions() {
		if !asked[f.Name] {
			t.Errorf("%s: nobody asks for it; cut it, or write into asked.tsv who does", f.Name)
			asked[f.Name] = true
		}
	}
}
