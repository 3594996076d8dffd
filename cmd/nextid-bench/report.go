package main

import (
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

// reported completes a command that prints a report and writes its files. After
// Ctrl-C it reports what has been measured.
func reported(cmd *cobra.Command, run func(ctx context.Context, progress *report.Progress, quick bool) (*report.Report, error)) *cobra.Command {
	quick, out := false, ""
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&quick, "quick", false, "one short round: what stands out, not what is close")
	cmd.Flags().StringVar(&out, "out", "", "write report.md, report.html and report.json into `DIR`")
	cmd.Args = cobra.NoArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r, err := run(cmd.Context(), report.NewProgress(cmd.ErrOrStderr()), quick)
		if r == nil || len(r.Sections) == 0 {
			if cmd.Context().Err() != nil {
				err = errors.New("interrupted before anything was measured")
			}
			return err
		}
		r.Command = withoutPasswords("nextid-bench " + strings.Join(os.Args[1:], " "))
		err = errors.Join(err, r.Print(cmd.OutOrStdout()))
		if out != "" {
			err = errors.Join(err, write(cmd, r, out, "report"))
		}
		return err
	}
	return cmd
}

// write writes the files of a report and prints their paths.
func write(cmd *cobra.Command, r *report.Report, dir, name string) error {
	paths, err := r.Write(dir, name)
	if err == nil {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "\nWritten: %s\n", strings.Join(paths, ", "))
	}
	return err
}

// Patterns of passwords in URLs: before the host, and in parameters.
var (
	userPassword = regexp.MustCompile(`(://[^/\s@:]*:)\S+@`)
	parameter    = regexp.MustCompile(`(?i)([?&](ssl)?password=)[^&\s]+`)
)

// withoutPasswords hides the passwords in a command line.
func withoutPasswords(command string) string {
	return parameter.ReplaceAllString(userPassword.ReplaceAllString(command, "${1}xxxxx@"), "${1}xxxxx")
}

func renderCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "render FILE...",
		Short: "Write the Markdown and the page of a report again",
		Long: "Write report.md and report.html, the page with charts, beside each report.json that is given:\n\n" +
			"  nextid-bench render benchmarks/results/*/report.json",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error {
			for _, file := range files {
				r, err := report.Read(file)
				if err == nil {
					err = write(cmd, r, filepath.Dir(file), strings.TrimSuffix(filepath.Base(file), ".json"))
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func localCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "local",
		Short: "Measure the generators in one process, beside other Go libraries",
		Long: "Draw ids in a loop, without wire and SQL: snowflakes, numbers, batches, UUIDs, ULIDs and XIDs of\n" +
			"nextid, bwmarrin/snowflake, sony/sonyflake, google/uuid, oklog/ulid and rs/xid, with one and two\n" +
			"goroutines. Runs go test -bench in the source tree of nextid, for about a minute.",
	}
	return reported(cmd, local)
}

// local runs the benchmarks of benchmarks/local and reports them.
func local(ctx context.Context, progress *report.Progress, quick bool) (*report.Report, error) {
	rounds := "10"
	if quick {
		rounds = "1"
	}
	progress.Part("generators")
	args := []string{"test", "-run=^$", "-bench=.", "-cpu=1,2", "-benchtime=50ms", "-count=" + rounds, "nextid/benchmarks/local"}
	r := &report.Report{
		Title: "nextid-bench local: generators in one process",
		Intro: "The time of one id, from calls in a loop, without wire and SQL: nextid's generators beside other Go libraries. " +
			"The best round says what the code costs; the median what this machine gave it.",
		Began: time.Now(), Machine: report.ThisMachine(), Settings: []string{"go " + strings.Join(args, " ")},
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	if module, _ := exec.CommandContext(ctx, "go", "list", "-m").Output(); strings.TrimSpace(string(module)) != "nextid" {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		cmd.Dir = filepath.Dir(self) // bin in the source tree
	}
	out, err := cmd.Output()
	r.Interrupted = ctx.Err() != nil
	if r.Sections = localSections(string(out)); err != nil && (!r.Interrupted || len(r.Sections) == 0) {
		return nil, fmt.Errorf("go test -bench, which needs Go and the source tree of nextid: %w", err)
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
