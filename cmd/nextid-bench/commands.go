//go:build linux

package main

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nextid/benchmarks/compare"
	"nextid/benchmarks/load"
	"nextid/benchmarks/report"
	"nextid/benchmarks/torture"
	"nextid/benchmarks/wire"
)

func compareCommand() *cobra.Command {
	c := compare.Config{Shards: 3, Plan: compare.Full}
	cmd := measured(&cobra.Command{
		Use:   "compare",
		Short: "Compare where ids can come from: auto_increment, shards, UUIDs, Redis, nextid",
		Long: "Fill the same table with ids from auto_increment, shards with offsets, sequences, Redis, a\n" +
			"ticket table, UUIDs and nextid, and measure throughput, latency, CPU, order, and what an outage of\n" +
			"nextid and a failover cost. It starts PostgreSQL, MariaDB and Redis, as far as they are installed,\n" +
			"on free ports of loopback and in a temporary directory:\n\n" +
			"  nextid-bench compare --quick --out report\n\n" +
			"Takes about twenty minutes, with --quick at most three: what has not begun by then is named in the\n" +
			"report. Ctrl-C and SIGTERM end it with what it has measured.",
	}, func(ctx context.Context, setup load.Setup, quick bool) (*report.Report, error) {
		if c.Shards < 2 {
			return nil, errors.New("--shards must be 2 or more")
		}
		if quick {
			c.Plan = compare.Quick
		}
		c.Setup = setup
		return compare.Run(ctx, c)
	})
	cmd.Flags().IntVar(&c.Shards, "shards", c.Shards, "servers to start of PostgreSQL and of MariaDB")
	return cmd
}

func sqlCommand() *cobra.Command {
	floors := false
	c := wire.Config{Length: 700 * time.Millisecond, Rounds: 3, Names: 20_000, Many: 1_000_000, Idle: 10_000, Crowd: 1000}
	cmd := measured(&cobra.Command{
		Use:   "sql",
		Short: "Measure the server alone, beside nextval, NEXT VALUE FOR and INCR",
		Long: "Start nextid and, where they are installed, PostgreSQL, MariaDB and Redis, on free ports of\n" +
			"loopback and in a temporary directory, and ask each for numbers: simple, prepared and\n" +
			"pipelined, over both protocols, TCP and Unix sockets. Takes about five minutes.\n" +
			"With --floors, the bounds of nextid's speed instead: what is asked, what was measured.",
	}, func(ctx context.Context, setup load.Setup, quick bool) (r *report.Report, err error) {
		if quick {
			c.Length, c.Rounds = 300*time.Millisecond, 1
		}
		c.Setup = setup
		if !floors {
			return wire.Run(ctx, c)
		}
		if c.Beside != "" { // nextid starts in a directory of its own
			if c.Beside, err = filepath.Abs(c.Beside); err != nil {
				return nil, err
			}
		}
		return wire.Floors(ctx, c)
	})
	cmd.Flags().BoolVar(&floors, "floors", false, "measure the bounds")
	cmd.Flags().StringVar(&c.Beside, "beside", "", "with --floors, another build of nextid to compare with: its program `FILE`")
	cmd.Flags().StringVar(&c.Only, "only", "", "with --floors, only lines with `TEXT` in them")
	cmd.Flags().IntVar(&c.Rounds, "rounds", c.Rounds, "measurements of each server in each setting")
	return cmd
}

// floorCommand returns the command of a server that sends fixed bytes. nextid-bench
// sql starts it in a process of its own, as the lower bound of any server's time.
func floorCommand() *cobra.Command {
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
			return load.Floor(l, mysql)
		},
	}
	cmd.Flags().BoolVar(&mysql, "mysql", false, "speak MySQL's protocol instead of PostgreSQL's")
	return cmd
}

func tortureCommand() *cobra.Command {
	c := torture.Config{Nodes: 3, Clients: 64, Duration: time.Minute, Pause: 2 * time.Millisecond, Stores: []string{"postgres"}, Each: 1}
	cmd := measured(&cobra.Command{
		Use:   "torture",
		Short: "Do to servers what goes wrong in production, and check every id",
		Long: "Run several servers on one store and let clients draw from them over both protocols, while servers\n" +
			"are killed, stopped, cut off and given wrong clocks, clients misbehave, and the store is killed and\n" +
			"cut off. Every id that a client got is written to a log and checked: none twice, and those of a\n" +
			"connection in order. The third server of a store is never killed: its memory, goroutines and\n" +
			"descriptors are watched, and must not grow.\n\n" +
			"  nextid-bench torture --store postgres --duration 1m\n" +
			"  nextid-bench torture --store all --duration 1h --pause 50ms\n\n" +
			"A store is started here, from the program that is installed (" + strings.Join(torture.Stores()[:5], ", ") + ";\n" +
			"as clusters " + strings.Join(torture.Clusters(), ", ") + "),\n" +
			"or embedded in a single server (embedded). Clocks need gcc on Linux (amd64).\n" +
			"The exit code is 1 when an id came twice, a server did not come back or used more and more; the log is\n" +
			"kept then.",
	}, func(ctx context.Context, setup load.Setup, quick bool) (*report.Report, error) {
		if c.Nodes < 1 || c.Clients < 1 || c.Duration <= 0 {
			return nil, errors.New("--nodes, --clients and --duration must be positive")
		}
		if slices.Contains(c.Stores, "all") {
			c.Stores = torture.Stores()
		}
		if quick {
			c.Duration = min(c.Duration, 10*time.Second)
		}
		c.Setup = setup
		return torture.Run(ctx, c)
	})
	cmd.Flags().IntVar(&c.Nodes, "nodes", c.Nodes, "servers of each store")
	cmd.Flags().IntVar(&c.Clients, "clients", c.Clients, "connections at a time, in all")
	cmd.Flags().DurationVar(&c.Duration, "duration", c.Duration, "`TIME` of faults")
	cmd.Flags().DurationVar(&c.Pause, "pause", c.Pause, "`TIME` of a client between two draws")
	cmd.Flags().StringArrayVar(&c.Stores, "store", c.Stores, "`STORE` that servers share: "+strings.Join(slices.Concat(torture.Stores(), torture.Clusters()), ", ")+", or all (of one process); can be given several times")
	cmd.Flags().StringVar(&c.Log, "log", "", "keep the log of all ids as `FILE`, and what the servers said beside it")
	return cmd
}
