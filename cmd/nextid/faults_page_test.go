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

// faultTable lists the faults of id servers: number, fault, what holds then, the
// tests that cause it (package:Test), what they do not cause. A line that begins
// with # and a tab is a heading.
//
//go:embed testdata/faults.tsv
var faultTable string

// mustSurvive is the least number of faults that the tests cause.
const mustSurvive = 70

// TestFaultsPage: every test in the table exists, and docs/faults.md has the same
// faults.
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
			fmt.Fprintf(&rows, "\n## %s\n\n", cells[1])
			continue
		}
		tests := strings.Fields(cells[3])
		for _, test := range tests {
			if !exists(test) {
				t.Errorf("row %s names %s, which is no test", cells[0], test)
			}
		}
		switch {
		case len(tests) > 0:
			caused++
		case cells[4] == "":
			t.Errorf("row %s: neither a test nor a reason", cells[0])
		default:
			left++
		}
		holds := strings.TrimSpace(cells[2] + ". " + cells[4])
		fmt.Fprintf(&rows, "%s. **%s:** %s\n", cells[0], cells[1], strings.TrimPrefix(holds, ". "))
	}
	if caused < mustSurvive {
		t.Errorf("%d faults are caused, want %d", caused, mustSurvive)
	}
	page := fmt.Sprintf(faultsPageHead, caused, caused+left) + rows.String()
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

What can go wrong with a server that hands out ids, and what nextid promises then. Tests cause **%d** of these **%d** faults, with real
processes, disks, networks, clocks and databases; the others say why not. [faults.tsv](../cmd/nextid/testdata/faults.tsv) names the tests of
each. [nextid-bench torture](stores.md#try-to-break-it) causes many faults together on your machine.

No id is given twice, except by 29 and 30, which say why. Reserved ids that were not given are gaps.
`
