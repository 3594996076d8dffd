package feed_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestCommandsOfThePage runs the commands of docs/feed.md in their order. Addresses
// of the page are replaced by those of databases and a server of this test.
func TestCommandsOfThePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/feed.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^    nextid (migrate feed .+)$`).FindAllStringSubmatch(string(page), -1)
	if len(commands) != 4 {
		t.Fatalf("the page has %d commands", len(commands))
	}
	binary := program(t)
	onAll(t, func(t *testing.T, f *fleet) {
		words := strings.NewReplacer("postgres://shop@a/shop", f.dsns[0], "postgres://shop@b/shop", f.dsns[1], "postgres://nextid@ids:5433/nextid", f.nextid)
		for _, c := range commands {
			if out, err := exec.CommandContext(t.Context(), binary, strings.Fields(words.Replace(c[1]))...).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", c[1], err, out)
			}
			if strings.Contains(c[1], " up ") {
				if a, b := f.insert(0, 1)[0], f.insert(1, 1)[0]; b < a+1000 {
					t.Errorf("drawn %d and %d", a, b)
				}
			}
		}
	})
}
