package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBenchLocal(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	r := runProgram(t, nil, "bench", "local", "--length", "1ms", "--rounds", "1", "--out", out)
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
	if r := runProgram(t, nil, "bench", "render", filepath.Join(out, "report.json")); r.code != exitOK {
		t.Fatalf("exit code %d:\n%s%s", r.code, r.stdout, r.stderr)
	}
	if after, err := os.ReadFile(page); err != nil || string(after) != string(before) {
		t.Errorf("rendered again, the page is another one (%v)", err)
	}
	if r := runProgram(t, nil, "bench", "render", page); r.code == exitOK || !strings.Contains(r.stderr, "is not a report") {
		t.Errorf("a page instead of JSON: exit code %d: %s", r.code, r.stderr)
	}
}
