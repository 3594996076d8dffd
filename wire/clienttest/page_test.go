package clienttest

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

const page = "../../docs/clients.md"

// tablePart is the generated part of the page.
var tablePart = regexp.MustCompile(`(?s)(<!-- table: written by make docs-clients -->\n).*?(<!-- end of the table -->)`)

// checkTable compares the table of the page with the reports. With -update it writes
// the table. A newer version of a client is no failure: Debian's versions move on.
func checkTable(t *testing.T, reports map[string]report) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	old := string(tablePart.Find(text))
	rows := map[string]string{} // by title
	for line := range strings.Lines(old) {
		if title, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " |"); ok {
			rows[title] = line
		}
	}
	var table strings.Builder
	table.WriteString("| client | version | draws+catalog |\n|---|---|---|\n")
	for _, c := range clients {
		row := rows[c.title]
		r, ran := reports[c.name]
		if c.module != "" {
			r.version, ran = moduleVersion(t, c.module), true
		}
		if ran {
			now := fmt.Sprintf("| %s | %s | %d+%d |\n", c.title, r.version, r.core, r.meta)
			switch {
			case *update:
			case withoutVersion(row) != withoutVersion(now):
				t.Errorf("docs/clients.md is out of date, run make docs-clients:\n has %s want %s", row, now)
			case row != now:
				t.Logf("another version than in docs/clients.md: %s", now)
			}
			row = now
		}
		if row == "" {
			row = fmt.Sprintf("| %s | not run yet | |\n", c.title)
		}
		table.WriteString(row)
	}
	if !*update {
		return
	}
	text = tablePart.ReplaceAll(text, []byte("${1}"+strings.ReplaceAll(table.String(), "$", "$$")+"${2}"))
	if err := os.WriteFile(page, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// moduleVersion returns the version of a Go module of scripts/go.mod.
func moduleVersion(t *testing.T, module string) string {
	t.Helper()
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Version}}", module)
	cmd.Dir = "scripts"
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list -m %s: %v", module, err)
	}
	return strings.TrimPrefix(strings.TrimSpace(string(out)), "v")
}

func withoutVersion(row string) string {
	cells := strings.Split(row, " | ")
	if len(cells) != 3 {
		return row
	}
	cells[1] = ""
	return strings.Join(cells, " | ")
}
