package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// result is what a run of the program left behind.
type result struct {
	code           int
	stdout, stderr string
}

func runProgram(t *testing.T, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := (&program{args: args, stdout: &stdout, stderr: &stderr}).run(t.Context())
	return result{code, stdout.String(), stderr.String()}
}

func TestCommands(t *testing.T) {
	t.Parallel()
	var names []string
	for _, c := range (&program{}).rootCommand().Commands() {
		names = append(names, c.Name())
	}
	if want := []string{"attack", "compare", "floor", "local", "render", "sql", "torture"}; runtime.GOOS == "linux" && !slices.Equal(names, want) {
		t.Errorf("commands %v, want %v", names, want)
	}
	for _, name := range names {
		if r := runProgram(t, name, "-h"); r.code != exitOK || !strings.Contains(r.stdout, "Usage:\n  nextid-bench "+name) {
			t.Errorf("%s -h: exit code %d\n%s%s", name, r.code, r.stdout, r.stderr)
		}
	}
	for line, want := range map[string]string{
		"":                        "nextid-bench compare --quick",
		"size":                    `unknown command "size"`,
		"local now":               `unexpected argument "now"`,
		"local --slow":            "unknown flag: --slow",
		"compare --shards 1":      "--shards must be 2 or more",
		"torture --nodes 0":       "must be positive",
		"sql --nextid no/such":    "no server to measure",
		"render":                  "requires at least 1 arg",
		"local --baseline absent": "--baseline takes the report.json",
	} {
		r := runProgram(t, strings.Fields(line)...)
		if (r.code == exitOK) != (line == "") || !strings.Contains(r.stdout+r.stderr, want) {
			t.Errorf("%q: exit code %d, want %q:\n%s%s", line, r.code, want, r.stdout, r.stderr)
		}
	}
}

// The server is the one that was named, else the one beside this program,
// else the one in the PATH.
func TestWhichServerIsMeasured(t *testing.T) {
	dir := t.TempDir()
	server := filepath.Join(dir, "nextid")
	if err := os.WriteFile(server, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	for _, flag := range []serverFlag{{}, {file: server}, {file: "nextid"}} {
		if found, err := flag.find(); err != nil || found != server {
			t.Errorf("--nextid %q: %q, %v, want %q", flag.file, found, err, server)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if found, err := (&serverFlag{}).find(); err == nil {
		t.Errorf("%q in an empty PATH", found)
	}
}

func TestReportsNameNoPasswords(t *testing.T) {
	t.Parallel()
	for arg, want := range map[string]string{
		"postgres://u:pw@h/db":            "postgres://u:xxxxx@h/db",
		"--dsn=mysql://u:pw@h/db":         "--dsn=mysql://u:xxxxx@h/db",
		"postgres://h/db?sslPassword=abc": "postgres://h/db?sslPassword=xxxxx",
		"redis://u:%zz@h":                 "(a URL that cannot be read)",
		"--quick":                         "--quick",
	} {
		if got := withoutSecrets([]string{arg})[0]; got != want {
			t.Errorf("%s is shown as %s, want %s", arg, got, want)
		}
	}
}

func TestBenchLocal(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	r := runProgram(t, "local", "--length", "1ms", "--rounds", "1", "--out", out)
	for _, want := range []string{"nextid snowflake", "bwmarrin/snowflake", "sony/sonyflake", "google/uuid v7", "oklog/ulid", "rs/xid"} {
		if r.code != exitOK || !strings.Contains(r.stdout, want) {
			t.Errorf("exit code %d, no %s:\n%s%s", r.code, want, r.stdout, r.stderr)
		}
	}
	for _, name := range []string{"report.md", "report.html", "report.json"} {
		if _, err := os.Stat(filepath.Join(out, name)); err != nil {
			t.Error(err)
		}
	}

	page := filepath.Join(out, "report.html")
	before, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(page); err != nil {
		t.Fatal(err)
	}
	if r := runProgram(t, "render", filepath.Join(out, "report.json")); r.code != exitOK {
		t.Fatalf("exit code %d:\n%s%s", r.code, r.stdout, r.stderr)
	}
	if after, err := os.ReadFile(page); err != nil || string(after) != string(before) {
		t.Errorf("rendered again, the page is another one (%v)", err)
	}
	if r := runProgram(t, "render", page); r.code == exitOK || !strings.Contains(r.stderr, "is not a report") {
		t.Errorf("a page instead of JSON: exit code %d: %s", r.code, r.stderr)
	}
}
