package rig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nextid/benchmarks/load"
	"nextid/dbtest"
)

// Every server starts, answers, keeps its data over a restart, and a copy of
// its data is a server of its own.
func TestServersStartCopyAndEnd(t *testing.T) {
	t.Parallel()
	programs := t.TempDir()
	if err := dbtest.Build(programs, "nextid/cmd/nextid"); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(programs, "nextid")
	r, err := New()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		start        func() (*Server, error)
		create, next string
	}{
		"PostgreSQL": {func() (*Server, error) { return r.PostgreSQL(t.Context()) }, "CREATE SEQUENCE s", "SELECT nextval('s')"},
		"MariaDB":    {func() (*Server, error) { return r.MariaDB(t.Context()) }, "CREATE SEQUENCE s", "SELECT NEXT VALUE FOR s"},
		"Redis":      {func() (*Server, error) { return r.Redis(t.Context()) }, "PING", "INCR s"},
		"nextid": {func() (*Server, error) {
			n, err := r.Nextid(t.Context(), binary)
			if err != nil {
				return nil, err
			}
			return n.Server, nil
		}, "CREATE SEQUENCE s", "SELECT nextval('s')"},
	} {
		s, err := tc.start()
		if err != nil && strings.Contains(err.Error(), "not installed") {
			t.Logf("left out: %v", err)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(s.Name, name+" ") {
			t.Errorf("%s calls itself %q", name, s.Name)
		}
		draw := func(s *Server, first bool) uint64 {
			t.Helper()
			l, err := load.Dial(t.Context(), s.URL)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			if first {
				if _, err := l.Exec(t.Context(), tc.create); err != nil {
					t.Fatal(err)
				}
			}
			ids, err := l.Exec(t.Context(), tc.next)
			if err != nil || len(ids) != 1 {
				t.Fatalf("%s: %v, %v", name, ids, err)
			}
			return ids[0].Lo
		}
		first := draw(s, true)
		if u := UsageOf(s); u.CPU <= 0 || u.CPU > time.Minute {
			t.Errorf("%s used %s", name, u.CPU)
		}
		s.Stop()
		again, err := r.Again(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if second := draw(again, false); second <= first {
			t.Errorf("%s gave %d, and after a restart %d", name, first, second)
		}
		again.Stop()
		start, err := r.Copy(t.Context(), again)
		if err != nil {
			t.Fatal(err)
		}
		if name == "nextid" {
			if _, err := start(t.Context()); err == nil || !strings.Contains(err.Error(), "is a copy") {
				t.Errorf("nextid on a copy of its store: %v", err)
			}
			continue
		}
		copied, err := start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if third := draw(copied, false); third <= first {
			t.Errorf("a copy of %s gave %d after %d", name, third, first)
		}
	}
	dir := r.dir
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", dir, err)
	}
}
