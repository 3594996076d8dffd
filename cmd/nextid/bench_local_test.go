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
}
