package torture

import (
	"context"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nextid/benchmarks/load"
	"nextid/benchmarks/report"
	"nextid/dbtest"
	"nextid/generator/history"
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
				r.Print(&text)
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

func TestCheckFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		"1\ta\t1\n2\ta\t2\n1\ta\t3\n":       nil,
		"1\ta\t1\n2\tb\t1\n":                nil,
		"1\ta\t1\n2\ta\t2\n3\ta\t1\n":       history.ErrDuplicate,
		"1\ta\t5\n2\ta\t7\n1\ta\t4\n":       history.ErrOrder,
		"1\ta\t5\n2\ta\tx\n":                errors.New("line 2 of the log"),
		"1\ta\t1\n1\ta\t2\n1\ta\t3\n1\ta\t": nil, // cut off by a crash
	} {
		file := filepath.Join(t.TempDir(), "ids.log")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := check(file)
		switch {
		case want == nil && err != nil, want != nil && err == nil:
			t.Errorf("%q: %v, want %v", text, err, want)
		case want != nil && !errors.Is(err, want) && !strings.Contains(err.Error(), want.Error()):
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
}

func TestHosts(t *testing.T) {
	t.Parallel()
	for store, want := range map[string]string{
		"postgres://nextid@db/nextid?sslmode=disable": "db:5432",
		"postgres://u:p%40@a:1,b:2/nextid":            "a:1 b:2",
		"redis://127.0.0.1:6380":                      "127.0.0.1:6380",
		"etcd://a:2379,b:2379,c:2379/prefix":          "a:2379 b:2379 c:2379",
	} {
		u, err := url.Parse(store)
		if err != nil {
			t.Fatal(err)
		}
		if addresses, err := hosts(u); err != nil || strings.Join(addresses, " ") != want || u.String() != store {
			t.Errorf("%s: %q, %v; want %q", u, addresses, err, want)
		}
	}
	if _, err := hosts(&url.URL{Scheme: "strange", Host: "host"}); err == nil {
		t.Error("a URL without a port passed")
	}
}
