//go:build linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nextid/benchmarks/report"
)

// runProgram returns what a command line prints, with its error.
func runProgram(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	root := rootCommand()
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(&out)
	err := root.ExecuteContext(t.Context())
	if err != nil {
		out.WriteString(err.Error())
	}
	return out.String(), err
}

func TestCommands(t *testing.T) {
	t.Parallel()
	var names []string
	for _, c := range rootCommand().Commands() {
		names = append(names, c.Name())
	}
	if want := []string{"compare", "floor", "local", "render", "sql", "torture"}; !slices.Equal(names, want) {
		t.Errorf("commands %v, want %v", names, want)
	}
	for _, name := range names {
		if text, err := runProgram(t, name, "-h"); err != nil || !strings.Contains(text, "Usage:\n  nextid-bench "+name) {
			t.Errorf("%s -h: %s", name, text)
		}
	}
	for line, want := range map[string]string{
		"":                                   "nextid-bench compare --quick",
		"help":                               "nextid-bench compare --quick",
		"size":                               `unknown command "size"`,
		"sql now":                            `unknown command "now"`,
		"sql --slow":                         "unknown flag: --slow",
		"compare --shards 1 --nextid sh":     "--shards must be 2 or more",
		"torture --nodes 0 --nextid sh":      "must be positive",
		"sql --nextid no/such":               "no server to measure",
		"sql --out main_test.go --nextid no": "main_test.go: not a directory",
		"local now":                          `unknown command "now"`,
		"render":                             "requires at least 1 arg",
	} {
		text, err := runProgram(t, strings.Fields(line)...)
		if (err == nil) != (line == "" || line == "help") || !strings.Contains(text, want) {
			t.Errorf("%q: %v, want %q:\n%s", line, err, want, text)
		}
	}
}

// The server is the one that was named, else the one beside this program,
// else the one in the PATH.
func TestWhichServerIsMeasured(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "nextid")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	for _, flag := range []string{"", file, "nextid"} {
		if found, err := server(flag); err != nil || found != file {
			t.Errorf("--nextid %q: %q, %v, want %q", flag, found, err, file)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if found, err := server(""); err == nil {
		t.Errorf("%q in an empty PATH", found)
	}
}

func TestRender(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := &report.Report{Title: "A run", Sections: []report.Section{{Title: "Ids a second"}}}
	paths, err := r.Write(dir, "report")
	if err != nil || len(paths) != 3 {
		t.Fatal(paths, err)
	}
	page := filepath.Join(dir, "report.html")
	before, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(page); err != nil {
		t.Fatal(err)
	}
	if text, err := runProgram(t, "render", filepath.Join(dir, "report.json")); err != nil || !strings.Contains(text, page) {
		t.Fatalf("%v: %s", err, text)
	}
	if after, err := os.ReadFile(page); err != nil || string(after) != string(before) {
		t.Errorf("rendered again, the page is another one (%v)", err)
	}
	if text, err := runProgram(t, "render", page); err == nil || !strings.Contains(text, "is not a report") {
		t.Errorf("a page instead of JSON: %s", text)
	}
}
