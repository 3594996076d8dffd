package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"nextid/generator/layout"
)

// docs/systems.md names a test for every promise. A name that no test has
// (renamed, or never written) fails here.
func TestSystemsPageNamesTestsThatExist(t *testing.T) {
	root := moduleRoot(t)
	declared := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`)
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range function.FindAllStringSubmatch(string(source), -1) {
			declared[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	page := systemsPage(t)
	named := regexp.MustCompile("`((?:Test|Fuzz|Benchmark)\\w+)`").FindAllStringSubmatch(page, -1)
	if len(named) < 20 {
		t.Fatalf("the page names %d tests only", len(named))
	}
	for _, m := range named {
		if !declared[m[1]] {
			t.Errorf("the page names %s, which is no test", m[1])
		}
	}
}

func TestSystemsPageListsEveryLayout(t *testing.T) {
	page := systemsPage(t)
	for _, l := range layout.Presets() {
		if !strings.Contains(page, "`"+l.Name+"`") {
			t.Errorf("the page does not name layout %s", l.Name)
		}
	}
}

func systemsPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(moduleRoot(t), "docs", "systems.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}
