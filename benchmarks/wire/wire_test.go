package wire

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nextid/benchmarks/load"
	"nextid/benchmarks/report"
	"nextid/dbtest"
)

var (
	programs      string // the directory of the server and the program with the floor
	buildPrograms = sync.OnceValue(func() error {
		return dbtest.Build(programs, "nextid/cmd/nextid", "nextid/cmd/nextid-bench")
	})
)

func TestMain(m *testing.M) {
	var err error
	if programs, err = os.MkdirTemp("", "nextid-wire"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(programs)
	os.Exit(code)
}

func build(t *testing.T) (server, floor string) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts seven servers")
	}
	if err := buildPrograms(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(programs, "nextid"), filepath.Join(programs, "nextid-bench")
}

func TestEveryContestantIsMeasuredInEverySetting(t *testing.T) {
	t.Parallel()
	server, floor := build(t)
	r, err := Run(t.Context(), Config{Setup: load.Setup{Nextid: server, Self: floor, Progress: log.New(io.Discard, "", 0)}, Length: 30 * time.Millisecond, Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	missing := 0
	for _, n := range r.Notes {
		if !strings.Contains(n, "not installed") {
			t.Error(n)
		}
		missing++
	}
	if want := 10 - 2*missing; len(r.Sections) < want {
		t.Errorf("%d sections, want %d", len(r.Sections), want)
	}
	idle, busy := 0, 0 // figures of CPU: on a busy machine a server may not run during a short round
	for _, s := range r.Sections {
		for _, row := range s.Table.Rows {
			for i, c := range row.Cells {
				name, measured := s.Table.Columns[i].Name, c.Number && c.Value > 0
				doubtful := c.Text == "passes the floor" && strings.Contains(name, " : ") // possible in short rounds
				switch {
				case doubtful:
				case strings.Contains(name, "CPU") && measured:
					busy++
				case strings.Contains(name, "CPU"):
					idle++
				case !measured:
					t.Errorf("%s, %s: %s is %s", s.Title, row.Name, name, c)
				}
			}
		}
	}
	if idle > busy/4 {
		t.Errorf("%d figures of CPU are 0, %d are not", idle, busy)
	}
}

func TestAServerThatDoesNotStartIsNamed(t *testing.T) {
	t.Parallel()
	c := Config{Setup: load.Setup{Nextid: "false", Progress: log.New(io.Discard, "", 0)}}
	for _, run := range []func(context.Context, Config) (*report.Report, error){Run, Floors} {
		if r, err := run(t.Context(), c); r != nil || err == nil || !strings.Contains(err.Error(), "nextid") {
			t.Errorf("%v, %v", r, err)
		}
	}
}

func TestEveryBoundIsMeasured(t *testing.T) {
	t.Parallel()
	server, floor := build(t)
	r, err := Floors(t.Context(), Config{Setup: load.Setup{Nextid: server, Self: floor, Progress: log.New(io.Discard, "", 0)}, Length: 20 * time.Millisecond, Rounds: 1, Names: 100, Many: 200, Idle: 500, Crowd: 100, Beside: server})
	if err != nil {
		t.Fatal(err)
	}
	missing := 0
	for _, n := range r.Notes {
		if !strings.Contains(n, "not installed") {
			t.Error(n)
		}
		missing++
	}
	if rows := len(r.Sections[0].Table.Rows); rows < 34-5*missing {
		t.Errorf("%d rows", rows)
	}
	for _, row := range r.Sections[0].Table.Rows {
		if c := row.Cells[0]; !c.Number || c.Value <= 0 {
			t.Errorf("%s is %s", row.Name, c)
		}
	}
}

func TestARowSaysWhetherItsBoundHolds(t *testing.T) {
	for _, c := range []struct {
		of    figure
		value float64
		holds string
	}{{perSecond, 2, "yes"}, {perSecond, 1, "yes"}, {perSecond, 0.9, "no"}, {cpu, 2, "no"}, {cpu, 1, "yes"}, {cpu, 0.9, "yes"}} {
		if got := (line{of: c.of, bound: 1}).row(report.Number(c.value)).Cells[3].String(); got != c.holds {
			t.Errorf("%+v: %s", c, got)
		}
	}
	if got := (line{}).row(report.Number(1)).Cells[3].String(); got != "–" {
		t.Errorf("without a bound: %s", got)
	}
}

func TestAnInterruptedRunKeepsWhatItHas(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stopAt := writer(func(text string) {
		if strings.Contains(text, "Unix socket") {
			cancel()
		}
	})
	server, floor := build(t)
	r, err := Run(ctx, Config{Setup: load.Setup{Nextid: server, Self: floor, Progress: log.New(stopAt, "", 0)}, Length: 20 * time.Millisecond, Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Interrupted || len(r.Sections) == 0 || !r.Sections[0].Table.Rows[0].Cells[1].Number {
		t.Errorf("interrupted: %t, %d sections", r.Interrupted, len(r.Sections))
	}
	if _, err := r.HTML(); err != nil {
		t.Error(err)
	}
}

type writer func(text string)

func (w writer) Write(b []byte) (int, error) {
	w(string(b))
	return len(b), nil
}

func TestPausesOfTheGarbageCollector(t *testing.T) {
	log := `time=2026-11-23T16:00:00Z level=INFO msg=serving
gc 7 @12.345s 0%: 0.026+1.5+0.31 ms clock, 0.052+0.4/2.2/0+0.62 ms cpu, 28->29->15 MB, 131 MB goal, 0 MB stacks, 0 MB globals, 2 P
gc 8 @19.001s 0%: 1.2+2+0.004 ms clock, 2.4+0/1/0+0.008 ms cpu, 28->29->15 MB, 131 MB goal, 0 MB stacks, 0 MB globals, 2 P (forced)
`
	if got, want := pauses(log), []float64{0.026, 0.31, 1.2, 0.004}; !slices.Equal(got, want) {
		t.Errorf("pauses are %v, want %v", got, want)
	}
}
