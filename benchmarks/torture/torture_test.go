package torture

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nextid/benchmarks/load"
	"nextid/benchmarks/report"
	"nextid/dbtest"
)

func build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := dbtest.Build(dir, "nextid/cmd/nextid"); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "nextid")
}

// TestServersSurvive runs three servers on each store, with two faults of each kind.
func TestServersSurvive(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	binary := build(t)
	for _, store := range []string{"postgres", "etcd-cluster", "redis", "redis-cluster"} {
		t.Run(store, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
			defer cancel()
			r, err := Run(ctx, Config{
				Setup: load.Setup{Nextid: binary, Progress: report.NewProgress(io.Discard)}, Nodes: 3, Clients: 12, Stores: []string{store}, Pause: 2 * time.Millisecond, Duration: 8 * time.Second, Each: 2,
				Log: filepath.Join(t.TempDir(), "ids.log"),
			})
			if err != nil && strings.Contains(err.Error(), "is not installed") {
				t.Skip(err)
			}
			if r != nil {
				var text strings.Builder
				_ = r.Print(&text)
				t.Log(text.String())
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range r.Sections[1].Table.Rows {
				if row.Cells[0].Value < 2 {
					t.Errorf("%s: %v times", row.Name, row.Cells[0].Value)
				}
			}
		})
	}
}
