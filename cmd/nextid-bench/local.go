package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
			"goroutines. Runs go test -bench in the source tree of nextid, for about a minute.",
	}
	return reported(cmd, func(ctx context.Context, progress *report.Progress, quick bool) (*report.Report, error) {
		rounds := 10
		if quick {
			rounds = 1
		}
		progress.Part("generators")
		return local(ctx, rounds)
	})
}

// local runs the benchmarks of benchmarks/local and reports them.
func local(ctx context.Context, rounds int) (*report.Report, error) {
	root, err := sourceTree()
	if err != nil {
		return nil, err
	}
	args := []string{"test", "-run=^$", "-bench=.", "-cpu=1,2", "-benchtime=50ms", "-count=" + strconv.Itoa(rounds), "./benchmarks/local"}
	r := &report.Report{
		Title: "nextid-bench local: generators in one process",
		Intro: "The time of one id, from calls in a loop, without wire and SQL: nextid's generators beside other Go libraries. " +
			"The best round says what the code costs; the median what this machine gave it.",
		Began: time.Now(), Machine: report.ThisMachine(), Settings: []string{"go " + strings.Join(args, " ")},
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	out, err := cmd.Output()
	r.Interrupted = ctx.Err() != nil
	if r.Sections = localSections(out); err != nil && (!r.Interrupted || len(r.Sections) == 0) {
		return nil, fmt.Errorf("go test -bench, which needs Go and the source tree of nextid: %w", err)
	}
	r.Took = time.Since(r.Began).Seconds()
	return r, nil
}

// sourceTree returns the directory of the module. The working directory or the
// program must be inside.
func sourceTree() (string, error) {
	self, _ := os.Executable() // without it the working directory counts
	work, _ := os.Getwd()
	for _, dir := range []string{work, filepath.Dir(self)} {
		for ; dir != "." && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			if found, _ := filepath.Glob(filepath.Join(dir, "benchmarks", "local", "*_test.go")); len(found) > 0 {
				return dir, nil
			}
		}
	}
	return "", errors.New("run it in the source tree of nextid: the benchmarks are not here")
}

// benchmarkLine matches a line of go test -bench. Its groups are kind and name of a
// generator, "-2" for two processors, and the time of an id.
var benchmarkLine = regexp.MustCompile(`^BenchmarkGenerators/([^/\s]+)/(\S+?)(-2)?\s.*?([0-9.]+) ns/id`)

// localSections returns a section for each kind of generator, in the order of the
// benchmarks.
func localSections(out []byte) (sections []report.Section) {
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		m := benchmarkLine.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		kind, name := strings.ReplaceAll(m[1], "_", " "), strings.ReplaceAll(m[2], "_", " ")
		i := slices.IndexFunc(sections, func(s report.Section) bool { return s.Title == kind })
		if i < 0 {
			i = len(sections)
			sections = append(sections, report.Section{Title: kind, Table: report.Table{First: "generator", Columns: report.Columns(
				"1 goroutine, best ns", "median ns", "2 goroutines, best ns", "median ns",
			)}, Charts: []report.Chart{{Title: kind, Unit: "ns an id, best round", Panels: []report.Panel{{Title: "1 goroutine"}, {Title: "2 goroutines"}}}}})
		}
		s, ours := &sections[i], strings.HasPrefix(name, "nextid")
		k := slices.IndexFunc(s.Table.Rows, func(r report.Row) bool { return r.Name == name })
		if k < 0 {
			k = len(s.Table.Rows)
			s.Table.Rows = append(s.Table.Rows, report.Row{Name: name, Ours: ours, Cells: make([]report.Cell, 4)})
			for n := range s.Charts[0].Panels {
				s.Charts[0].Panels[n].Bars = append(s.Charts[0].Panels[n].Bars, report.Bar{Name: name, Ours: ours})
			}
		}
		goroutines := len(m[3]) / 2
		cells := s.Table.Rows[k].Cells[2*goroutines:]
		ns, _ := strconv.ParseFloat(m[4], 64) // the pattern matches numbers only
		samples := append(cells[1].Samples, ns)
		cells[0], cells[1] = report.Number(slices.Min(samples)), report.Number(samples...)
		s.Charts[0].Panels[goroutines].Bars[k].Value = cells[0].Value
	}
	return sections
}
