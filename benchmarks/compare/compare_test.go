package compare

import (
	"bytes"
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
	if programs, err = os.MkdirTemp("", "nextid-compare"); err != nil {
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
		t.Skip("starts many servers")
	}
	if err := buildPrograms(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(programs, "nextid"), filepath.Join(programs, "nextid-bench")
}

// smallest is a plan with all measurements, each too short for good figures.
var smallest = Plan{
	Rounds: 1, Clients: []int{1, 8}, IDs: 50 * time.Millisecond, Rows: 400 * time.Millisecond,
	Rate: 400, Latency: 300 * time.Millisecond, LatencyClients: 4, Outage: time.Second,
}

func find(t *testing.T, r *report.Report, title string) report.Section {
	t.Helper()
	for _, s := range r.Sections {
		if strings.HasPrefix(s.Title, title) {
			return s
		}
	}
	t.Fatalf("no section %q", title)
	return report.Section{}
}

func TestEveryContestantIsMeasured(t *testing.T) {
	t.Parallel()
	binary, floor := build(t)
	r, err := Run(t.Context(), Config{Setup: load.Setup{Nextid: binary, Self: floor, Progress: log.New(io.Discard, "", 0)}, Shards: 2, Plan: smallest})
	if err != nil {
		t.Fatal(err)
	}
	absent := false
	for _, n := range r.Notes {
		if strings.Contains(n, "not installed") {
			absent = true
			t.Log(n)
		} else if !absent {
			t.Error(n)
		}
	}
	if absent {
		t.Skip("needs the Debian packages postgresql, mariadb-server and redis-server")
	}
	for _, s := range r.Sections {
		for _, row := range s.Table.Rows {
			for i, c := range row.Cells {
				switch column := s.Table.Columns[i].Name; {
				case column == "to", strings.HasPrefix(column, "ratio"):
				case c.String() == "–":
					t.Errorf("%s, %s: no %s", s.Title, row.Name, column)
				case column == "twice" && c.Value != 0:
					t.Errorf("%s, %s: %s ids came twice", s.Title, row.Name, c)
				}
			}
		}
	}
	if rows := find(t, r, "Ids a second").Table.Rows; rows[len(rows)-1].Name != "floor" || !rows[len(rows)-1].Cells[1].Number {
		t.Errorf("no floor: %+v", rows[len(rows)-1])
	}
	for _, c := range find(t, r, "Latency at 400 rows a second").Table.Columns { // of 120 rows
		if !slices.Contains([]string{"50 % ms", "90 % ms", "rows/s"}, c.Name) {
			t.Errorf("%s of 120 rows", c.Name)
		}
	}
	for _, row := range find(t, r, "Order").Table.Rows {
		switch late := row.Cells[0].Value; {
		case row.Name == "next_id snowflake, then INSERT" && late != 0, row.Name == "UUIDv4 of PostgreSQL" && late < 10:
			t.Errorf("%s: %g %% out of order", row.Name, late)
		}
	}
	for _, row := range find(t, r, "A simulated failover").Table.Rows {
		crash, standby := row.Cells[0].Text, row.Cells[1].Text
		shared := strings.HasSuffix(row.Name, "store in PostgreSQL") && strings.HasPrefix(standby, "0 of 500 ids twice; the count jumps by 10,0") // the setting store_skip
		if row.Ours && (!strings.HasPrefix(crash, "0 of") || !shared && !strings.HasPrefix(standby, "refuses")) {
			t.Errorf("%s: %s; %s", row.Name, crash, standby)
		}
		if strings.HasPrefix(row.Name, "Redis") && strings.HasPrefix(crash, "0 of") {
			t.Errorf("%s kept its numbers over SIGKILL: the test kills nothing", row.Name)
		}
		if strings.HasPrefix(row.Name, "sequence") && !strings.HasPrefix(standby, "500 of") {
			t.Errorf("%s: %s: the standby does not lag", row.Name, standby)
		}
	}
	if len(find(t, r, "An outage of nextid").Table.Rows) == 0 || strings.Contains(r.Answer, "not measured") {
		t.Errorf("no outage, or no answer: %s", r.Answer)
	}
	page, err := r.HTML()
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(page, []byte("<figure")); n != 4 {
		t.Errorf("%d charts", n)
	}
}

func TestAServerThatDoesNotStartIsNamed(t *testing.T) {
	t.Parallel()
	r, err := Run(t.Context(), Config{Setup: load.Setup{Nextid: "false", Progress: log.New(io.Discard, "", 0)}, Shards: 1, Plan: smallest})
	if r != nil || err == nil || !strings.Contains(err.Error(), "nextid") {
		t.Errorf("%v, %v", r, err)
	}
}

func TestAShortRunNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	binary, floor := build(t)
	plan := smallest
	plan.Limit = time.Nanosecond
	r, err := Run(t.Context(), Config{Setup: load.Setup{Nextid: binary, Self: floor, Progress: log.New(io.Discard, "", 0)}, Shards: 1, Plan: plan})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(r.Notes, func(note string) bool { return strings.HasPrefix(note, "latency at 400 rows a second: the 1ns") }) {
		t.Errorf("notes: %q", r.Notes)
	}
}

func TestAnInterruptedRunKeepsWhatItHas(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stop := writer(func(text string) {
		if strings.Contains(text, "latency") {
			cancel()
		}
	})
	binary, floor := build(t)
	plan := smallest
	plan.Clients = []int{1}
	r, err := Run(ctx, Config{Setup: load.Setup{Nextid: binary, Self: floor, Progress: log.New(stop, "", 0)}, Shards: 1, Plan: plan})
	if err != nil {
		t.Fatal(err)
	}
	if rows := find(t, r, "Rows a second").Table.Rows; !r.Interrupted || len(rows) == 0 || !rows[0].Cells[0].Number {
		t.Errorf("interrupted: %t, rows %v", r.Interrupted, rows)
	}
	if !strings.Contains(r.Markdown(), "Interrupted") {
		t.Error("the report does not say that it was interrupted")
	}
}

type writer func(text string)

func (w writer) Write(b []byte) (int, error) {
	w(string(b))
	return len(b), nil
}

func TestDuplicatesCountsAgain(t *testing.T) {
	t.Parallel()
	ids := []load.ID{{Lo: 1}, {Lo: 2}, {Lo: 1}, {Hi: 1, Lo: 1}, {Lo: 2}, {Lo: 2}, {Lo: 3}}
	for range 2 { // after a failover, and after the next one
		if n := duplicates(ids); n != 3 {
			t.Errorf("%d ids are repetitions, want 3", n)
		}
	}
}

// TestClientsOfAShardedSchemeWriteToAllShards: client i writes to shard i.
func TestClientsOfAShardedSchemeWriteToAllShards(t *testing.T) {
	t.Parallel()
	setup := load.Setup{Progress: log.New(io.Discard, "", 0)}
	_, err := setup.Measure(t.Context(), &report.Report{}, func(s *load.Stage) {
		r := &run{Stage: s}
		c := &contestant{engine: postgres, sharded: true, column: "bigint GENERATED BY DEFAULT AS IDENTITY", table: "orders"}
		for range 2 {
			c.on = append(c.on, dbtest.Postgres(t, "fsync=off"))
		}
		r.create(c)
		for i, server := range c.on {
			ctx, stop := context.WithCancel(s.Ctx)
			r.writeRows(ctx, c, i, func(err error) { s.Must(err); stop() })
			if n := r.Exec(server.URL, "SELECT count(*) FROM orders")[0].Lo; n != 1 {
				t.Errorf("client %d wrote %d rows to its shard, want 1", i, n)
			}
		}
	})
	if err != nil {
		t.Error(err)
	}
}
