package shards_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// testPage runs the commands of docs/shards.md in their order. Addresses of the page
// are replaced by those of databases of one kind.
func testPage(t *testing.T, f *fleet) {
	t.Helper()
	page, err := os.ReadFile("../../docs/shards.md")
	if err != nil {
		t.Fatal(err)
	}
	three := " --dsn " + f.dsns[0] + " --dsn " + f.dsns[1] + " --dsn " + f.dsns[2]
	words := strings.NewReplacer(" --dsn … --dsn … --dsn …", three,
		"mysql://root@a/shop", f.dsns[0], "mysql://root@b/shop", f.dsns[1], "mysql://root@c/shop", f.dsns[2], "mysql://root@d/shop", f.dsns[3])
	commands := regexp.MustCompile(`(?m)^    nextid (migrate shards .+)$`).FindAllStringSubmatch(string(page), -1)
	if len(commands) < 4 {
		t.Fatalf("the page has %d commands", len(commands))
	}
	run := func(want int, arguments ...string) {
		t.Helper()
		f.renew()
		cmd := exec.CommandContext(t.Context(), program(t), arguments...)
		out, _ := cmd.CombinedOutput() // the exit code is checked below
		if code := cmd.ProcessState.ExitCode(); code != want {
			t.Fatalf("%v: exit code %d\n%s", arguments, code, out)
		}
	}
	for _, c := range commands {
		run(0, strings.Fields(words.Replace(c[1]))...)
	}
	for i := range 4 {
		f.ids(i, 20)
	}
	f.check(80)
	four := strings.Fields(three + " --dsn " + f.dsns[3])
	run(0, append([]string{"migrate", "shards", "status"}, four...)...)
	run(0, append([]string{"migrate", "shards", "down", "--dry-run"}, four...)...)
	run(0, append([]string{"migrate", "shards", "down"}, four...)...)
	run(1, append([]string{"migrate", "shards", "status"}, four...)...)
}
