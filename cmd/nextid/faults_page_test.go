package main

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// faultTable holds what goes wrong with id servers: number, what goes wrong, what
// holds then, the tests that cause it (package:Test), what they do not cause. A
// line that begins with # and a tab is a heading.
//
//go:embed testdata/faults.tsv
var faultTable string

// mustSurvive bounds how many faults the tests cause at least.
const mustSurvive = 70

// TestFaultsPage: every test that docs/faults.md names exists, and the page says
// what the table says.
func TestFaultsPage(t *testing.T) {
	root := moduleRoot(t)
	exists := func(test string) bool {
		dir, name, _ := strings.Cut(test, ":")
		files, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*_test.go"))
		function := regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(name) + `\((t \*testing\.T|f \*testing\.F)\)`)
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if function.Match(text) {
				return true
			}
		}
		return false
	}
	var rows strings.Builder
	caused, left := 0, 0
	for line := range strings.Lines(faultTable) {
		if strings.HasPrefix(line, "# ") {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(cells) != 5 {
			t.Fatalf("%q has %d cells", line, len(cells))
		}
		for i := range cells {
			if cells[i] == "-" {
				cells[i] = ""
			}
		}
		if cells[0] == "#" {
			fmt.Fprintf(&rows, "\n## %s\n\n| | what goes wrong | what holds | caused by |\n|--:|---|---|---|\n", cells[1])
			continue
		}
		var by []string
		for test := range strings.FieldsSeq(cells[3]) {
			if !exists(test) {
				t.Errorf("row %s names %s, which is no test", cells[0], test)
			}
			dir, name, _ := strings.Cut(test, ":")
			by = append(by, fmt.Sprintf("[%s](../%s)", name, dir))
		}
		switch {
		case len(by) > 0:
			caused++
		case cells[4] == "":
			t.Errorf("row %s: neither a test nor a reason", cells[0])
		default:
			left++
		}
		if cells[4] != "" {
			by = append(by, "*"+cells[4]+"*")
		}
		fmt.Fprintf(&rows, "| %s | %s | %s | %s |\n", cells[0], cells[1], cells[2], strings.Join(by, ", "))
	}
	if caused < mustSurvive {
		t.Errorf("%d faults are caused, want %d", caused, mustSurvive)
	}
	page := fmt.Sprintf(faultsPageHead, caused+left, caused, left) + rows.String()
	file := filepath.Join(root, "docs", "faults.md")
	if *updatePages {
		if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != page {
		t.Errorf("docs/faults.md is not what testdata/faults.tsv says: run make docs (%v)", err)
	}
}

var updatePages = flag.Bool("update", false, "write the generated pages under docs/ again")

const faultsPageHead = `# Faults

<!-- Generated from cmd/nextid/testdata/faults.tsv: "make docs" writes this page again. -->

What can go wrong with a server that hands out ids, what nextid promises then, and the tests that cause it: with real processes, disks,
networks, clocks and databases wherever a machine can. The tests run with every change of nextid (97 by hand) and fail where an id comes
twice. Of **%d** faults **%d** are caused and survived; **%d** are not caused, with the reason. ` + "`nextid-bench torture`" + ` causes many of
them together, on [your machine](stores.md#try-to-break-it).

No id is given twice, except in rows 29 and 30, which say why. Reserved ids that were not given are gaps.
`
