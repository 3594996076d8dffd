package torture

import (
	"context"
	"errors"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"nextid/benchmarks/load"
	"nextid/benchmarks/report"
	"nextid/dbtest"
	"nextid/generator/history"
)

// build builds programs, and returns their directory.
func build(t *testing.T, programs ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("starts servers")
	}
	dir := t.TempDir()
	if err := dbtest.Build(dir, programs...); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestServersSurvive runs three servers on each store, with two faults of each kind.
func TestServersSurvive(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(build(t, "nextid/cmd/nextid"), "nextid")
	for _, store := range []string{"postgres", "etcd-cluster", "redis", "redis-cluster"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
			defer cancel()
			r, err := Run(ctx, Config{
				Setup: load.Setup{Nextid: binary, Progress: log.New(io.Discard, "", 0)}, Nodes: 3, Clients: 12, Stores: []string{store}, Pause: 10 * time.Millisecond, Duration: 8 * time.Second, Each: 2,
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
			if !strings.HasPrefix(r.Versions[0], "nextid ") {
				t.Errorf("tortured were %q", r.Versions)
			}
			for _, row := range r.Sections[1].Table.Rows {
				if row.Cells[0].Value < 2 {
					t.Errorf("%s: %v times", row.Name, row.Cells[0].Value)
				}
			}
		})
	}
}

// TestAServerThatEndsByItselfIsAnError: the next fault would start it again.
func TestAServerThatEndsByItselfIsAnError(t *testing.T) {
	t.Parallel()
	setup := load.Setup{Nextid: filepath.Join(build(t, "nextid/cmd/nextid"), "nextid"), Progress: log.New(io.Discard, "", 0)}
	_, err := setup.Measure(t.Context(), &report.Report{}, func(s *load.Stage) {
		l, err := newLedger(filepath.Join(t.TempDir(), "ids.log"))
		s.Must(err)
		p := &place{run: &run{Stage: s, ledger: l}, kind: "embedded", times: map[*fault]int{}, lasts: map[*fault]time.Duration{}}
		n := &node{place: p, Server: s.Server().Start(s)}
		p.nodes = []*node{n}
		none := &fault{do: func(context.Context, *place, *node, time.Duration) {}}
		if p.one(s.Ctx, none, time.Millisecond); len(p.run.silent) > 0 {
			t.Errorf("while it runs: %q", p.run.silent)
		}
		s.Must(syscall.Kill(n.PID, syscall.SIGKILL))
		dbtest.Await(s, "end of the server", func() bool { return !n.Running() })
		if p.one(s.Ctx, none, time.Millisecond); len(p.run.silent) != 1 || !strings.HasPrefix(p.run.silent[0], "embedded1 has ended by itself") || !n.Running() {
			t.Errorf("after its end: %q, runs again: %t", p.run.silent, n.Running())
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// TestTheLedgerFindsWhatIsWrong: an id that came twice, and ids of a connection out of
// order. keep leaves a file with all of them.
func TestTheLedgerFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "ids.log")
	l, err := newLedger(file)
	if err != nil {
		t.Fatal(err)
	}
	got := func(connection int, name string, id uint64) error {
		l.got(connection, name, []load.ID{{Lo: id}})
		return l.history.Check()
	}
	if err := errors.Join(got(1, "a", 1), got(2, "a", 2), got(1, "a", 3), got(2, "b", 3)); err != nil {
		t.Error(err)
	}
	if err := got(3, "a", 2); !errors.Is(err, history.ErrDuplicate) {
		t.Errorf("an id came twice: %v", err)
	}
	if err := got(2, "b", 1); !errors.Is(err, history.ErrOrder) {
		t.Errorf("ids out of order: %v", err)
	}
	r := &run{Stage: &load.Stage{Report: &report.Report{Title: "T"}}, ledger: l, silent: []string{"redis1 has ended by itself"}}
	if err := r.keep(); err != nil {
		t.Error(err)
	}
	r.report(time.Second, 0, l.history.Check())
	before, _, _ := strings.Cut(r.Report.Markdown(), "## Verdict")
	if !strings.Contains(before, "redis1 has ended by itself") || !strings.Contains(before, history.ErrDuplicate.Error()) || len(r.Report.Notes) > 0 {
		t.Errorf("the report does not begin with what is wrong:\n%s", r.Report.Markdown())
	}
	if text, err := os.ReadFile(file); err != nil || strings.Count(string(text), "\n") != 6 {
		t.Errorf("the log of 6 ids: %v\n%s", err, text)
	}
}
