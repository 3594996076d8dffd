//go:build unix

package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"nextid/benchmarks/report"
	"nextid/benchmarks/rig"
	"nextid/benchmarks/wire"
)

func (p *program) sqlCommand() *cobra.Command {
	flags, server, floors, beside := &reportFlags{}, &serverFlag{}, false, ""
	c := wire.Config{Length: 700 * time.Millisecond, Rounds: 3, Names: 20_000, Many: 1_000_000, Idle: 10_000}
	cmd := &cobra.Command{
		Use:   "sql",
		Short: "Measure the server alone, beside nextval, NEXT VALUE FOR and INCR",
		Long: "Start nextid and, where they are installed, PostgreSQL, MariaDB and Redis, on free ports of\n" +
			"loopback and in a temporary directory, and ask each for numbers: simple, prepared and\n" +
			"pipelined, over both protocols, TCP and Unix sockets. Takes about three minutes.\n" +
			"With --floors, the bounds of nextid's speed instead: what is asked, what was measured.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if floors {
				if done, err := rig.OwnNetwork(); done || err != nil {
					return err
				}
			}
			if flags.quick {
				c.Length, c.Rounds = 300*time.Millisecond, 1
			}
			return p.report(cmd, flags, func(ctx context.Context, progress *report.Progress) (r *report.Report, err error) {
				c.Progress = progress
				if c.Binary, err = server.find(); err != nil {
					return nil, err
				}
				if c.Floor, err = os.Executable(); err != nil {
					return nil, err
				}
				if floors && beside != "" {
					if beside, err = filepath.Abs(beside); err != nil { // it starts in a directory of its own
						return nil, err
					}
				}
				if floors {
					return wire.Floors(ctx, c, beside)
				}
				return wire.Run(ctx, c)
			})
		},
	}
	flags.register(cmd)
	server.register(cmd)
	cmd.Flags().BoolVar(&floors, "floors", false, "measure the bounds")
	cmd.Flags().StringVar(&beside, "beside", "", "with --floors, another build of nextid to compare with: its program `FILE`")
	cmd.Flags().StringVar(&c.Only, "only", "", "with --floors, only lines with `TEXT` in them")
	cmd.Flags().DurationVar(&c.Length, "length", c.Length, "`TIME` of one measurement")
	cmd.Flags().IntVar(&c.Rounds, "rounds", c.Rounds, "measurements of each server in each setting")
	return cmd
}

// floorCommand is a part of nextid-bench sql: a server that is as fast as one
// can be. It is a command so that it has a process of its own.
func (p *program) floorCommand() *cobra.Command {
	mysql := false
	cmd := &cobra.Command{
		Use:    "floor HOST:PORT",
		Short:  "Answer every query with the same bytes",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := net.Listen("tcp", args[0])
			if err != nil {
				return err
			}
			return wire.Floor(l, mysql, runtime.GOMAXPROCS(0))
		},
	}
	cmd.Flags().BoolVar(&mysql, "mysql", false, "speak MySQL's protocol instead of PostgreSQL's")
	return cmd
}
