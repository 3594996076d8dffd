package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nextid/benchmarks/report"
	"nextid/benchmarks/wire"
)

// reportFlags are the flags of the benchmarks that end in a report.
type reportFlags struct {
	out      string
	baseline string
	quick    bool
}

func (f *reportFlags) register(cmd *cobra.Command) {
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&f.quick, "quick", false, "one short round: what stands out, not what is close")
	cmd.Flags().StringVar(&f.out, "out", "", "write report.md, report.html and report.json into `DIR`")
	cmd.Flags().StringVar(&f.baseline, "baseline", "", "show what changed since an earlier report.json, given as `FILE`")
}

// report runs a benchmark, prints its tables and writes the files. After
// Ctrl-C it reports what there is.
func (p *program) report(cmd *cobra.Command, f *reportFlags, run func(context.Context, *report.Progress) (*report.Report, error)) error {
	var earlier *report.Report
	if f.baseline != "" { // before the work, not after it
		var err error
		if earlier, err = report.Read(f.baseline); err != nil {
			return &failure{what: err.Error(), hint: "--baseline takes the report.json of an earlier run of the same command.", cause: err}
		}
	}
	progress := report.NewProgress(p.stderr)
	r, err := run(cmd.Context(), progress)
	progress.End()
	switch {
	case err != nil && cmd.Context().Err() != nil:
		return &failure{what: "interrupted before anything was measured", cause: err}
	case err != nil:
		return err
	}
	r.Command = "nextid " + strings.Join(withoutSecrets(p.args), " ")
	if earlier != nil {
		r.Compare(filepath.Base(f.baseline), earlier)
	}
	r.Print(p.stdout)
	if f.out == "" {
		return nil
	}
	paths, err := r.Write(f.out, "report")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "\nWritten: %s\n", strings.Join(paths, ", "))
	return err
}

// withoutSecrets are arguments as they may be shown: URLs without passwords.
func withoutSecrets(args []string) []string {
	shown := slices.Clone(args)
	for i, arg := range shown {
		if scheme, _, ok := strings.Cut(arg, "://"); ok {
			begin := strings.LastIndexByte(scheme, '=') + 1 // --dsn=URL
			shown[i] = arg[:begin] + redacted(arg[begin:])
		}
	}
	return shown
}

func (p *program) benchSQLCommand() *cobra.Command {
	flags := &reportFlags{}
	c := wire.Config{Length: 700 * time.Millisecond, Rounds: 3}
	cmd := &cobra.Command{
		Use:   "sql",
		Short: "Measure the server alone, beside nextval, NEXT VALUE FOR and INCR",
		Long: "Start nextid and, where they are installed, PostgreSQL, MariaDB and Redis, on free ports of\n" +
			"loopback and in a temporary directory, and ask each for numbers: simple, prepared and\n" +
			"pipelined, over both protocols, TCP and Unix sockets. Takes about three minutes.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags.quick {
				c.Length, c.Rounds = 300*time.Millisecond, 1
			}
			return p.report(cmd, flags, func(ctx context.Context, progress *report.Progress) (r *report.Report, err error) {
				c.Progress = progress
				if c.Binary, err = os.Executable(); err != nil {
					return nil, err
				}
				return wire.Run(ctx, c)
			})
		},
	}
	flags.register(cmd)
	cmd.Flags().DurationVar(&c.Length, "length", c.Length, "`TIME` of one measurement")
	cmd.Flags().IntVar(&c.Rounds, "rounds", c.Rounds, "measurements of each server in each setting")
	return cmd
}

// benchFloorCommand is a part of bench sql: a server that is as fast as one
// can be. It is a command so that it has a process of its own.
func (p *program) benchFloorCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "floor HOST:PORT",
		Short:  "Answer every query with the same bytes",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := net.Listen("tcp", args[0])
			if err != nil {
				return err
			}
			return wire.Floor(l)
		},
	}
}
