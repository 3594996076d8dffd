//go:build linux

package main

import (
	"context"
	"fmt"
	"log"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nextid/benchmarks/report"
)

func localCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "local",
		Short: "Measure the generators in one process, beside other Go libraries",
		Long: "Draw ids in a loop, without wire and SQL: snowflakes, numbers, batches, UUIDs, ULIDs and XIDs of\n" +
			"nextid, bwmarrin/snowflake, sony/sonyflake, google/uuid, oklog/ulid and rs/xid, with one and two\n" +
			"goroutines. Runs go test -bench for about a minute, in the source tree of nextid.",
	}
	return reported(cmd, local)
}

// libraries are the modules that benchmarks/local measures beside nextid.
var libraries = []string{
	"github.com/bwmarrin/snowflake", "github.com/google/uuid", "github.com/oklog/ulid/v2", "github.com/rs/xid", "github.com/sony/sonyflake/v2",
}

// local runs the benchmarks of benchmarks/local and reports them.
func local(ctx context.Context, progress *log.Logger, quick bool) (*report.Report, error) {
	rounds := "10"
	if quick {
		rounds = "1"
	}
	progress.Print("generators")
	args := []string{"test", "-run=^$", "-bench=.", "-cpu=1,2", "-benchtime=50ms", "-count=" + rounds, "nextid/benchmarks/local"}
	r := &report.Report{
		Title: "nextid-bench local: generators in one process",
		Intro: "The time of one id, from calls in a loop, without wire and SQL: nextid's generators beside other Go libraries. " +
			"The best round says what the code costs; the median what this machine gave it.",
		Began: time.Now(), Machine: report.ThisMachine(), Settings: []string{"go " + strings.Join(args, " ")},
	}
	versions, _ := exec.CommandContext(ctx, "go", append([]string{"list", "-m"}, libraries...)...).Output() // outside the source tree, the next command fails
	r.Versions = strings.Split(strings.TrimSpace(string(versions)), "\n")
	out, err := exec.CommandContext(ctx, "go", args...).Output()
	r.Interrupted = ctx.Err() != nil
	if r.Sections = localSections(string(out)); err != nil && (!r.Interrupted || len(r.Sections) == 0) {
		return nil, fmt.Errorf("go test -bench, which needs Go and runs in the source tree of nextid: %w", err)
	}
	r.Took = time.Since(r.Began).Seconds()
	return r, nil
}

// benchmarkLine matches a line of go test -bench. Its groups are kind and name of a
// generator, "-2" for two processors, and the time of an id.
var benchmarkLine = regexp.MustCompile(`(?m)^BenchmarkGenerators/([^/\s]+)/(\S+?)(-2)?\s.*?([0-9.]+) ns/id`)

// localSections returns a section for each kind of generator. go test prints all
// rounds of a generator, and all generators of a kind, one after the other.
func localSections(out string) (sections []report.Section) {
	for _, m := range benchmarkLine.FindAllStringSubmatch(out, -1) {
		kind, name := strings.ReplaceAll(m[1], "_", " "), strings.ReplaceAll(m[2], "_", " ")
		if len(sections) == 0 || sections[len(sections)-1].Title != kind {
			sections = append(sections, report.Section{Title: kind, Table: report.Table{First: "generator", Columns: report.Columns(
				"1 goroutine, best ns", "median ns", "2 goroutines, best ns", "median ns",
			)}})
		}
		t := &sections[len(sections)-1].Table
		if len(t.Rows) == 0 || t.Rows[len(t.Rows)-1].Name != name {
			t.Rows = append(t.Rows, report.Row{Name: name, Ours: strings.HasPrefix(name, "nextid"), Cells: make([]report.Cell, 4)})
		}
		cells := t.Rows[len(t.Rows)-1].Cells[len(m[3]):] // from the third on if m[3] is "-2"
		ns, _ := strconv.ParseFloat(m[4], 64)            // the pattern matches numbers only
		samples := append(cells[1].Samples, ns)
		cells[0], cells[1] = report.Number(slices.Min(samples)), report.Number(samples...)
	}
	for i := range sections {
		s := &sections[i]
		s.Charts = []report.Chart{{Title: s.Title, Unit: "ns an id, best round", Panels: []report.Panel{
			s.Table.Panel("1 goroutine", 0), s.Table.Panel("2 goroutines", 2),
		}}}
	}
	return sections
}
