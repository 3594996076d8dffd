//go:build unix

package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nextid/benchmarks/report"
	"nextid/benchmarks/torture"
)

func (p *program) tortureCommand() *cobra.Command {
	flags, server := &reportFlags{}, &serverFlag{}
	c := torture.Config{Nodes: 3, Clients: 64, Duration: time.Minute, Pause: 2 * time.Millisecond, Stores: []string{"postgres"}}
	cmd := &cobra.Command{
		Use:   "torture",
		Short: "Do to servers what goes wrong in production, and check every id",
		Long: "Run several servers on one store and let clients draw from them over both protocols, while servers\n" +
			"are killed, stopped, cut off and given wrong clocks, clients misbehave, and the store is killed and\n" +
			"cut off. Every id that a client got is written to a log and checked: none twice, and those of a\n" +
			"connection in order. The third server of a store is never killed: its memory, goroutines and\n" +
			"descriptors are watched, and must not grow.\n\n" +
			"  nextid-bench torture --store postgres --duration 1m\n" +
			"  nextid-bench torture --store postgres://nextid@db/nextid --nodes 5\n" +
			"  nextid-bench torture --store all --duration 1h --pause 50ms\n\n" +
			"A store is started here, from the program that is installed (" + strings.Join(torture.Stores()[:5], ", ") + "),\n" +
			"embedded in a single server (embedded), or given as a URL: prepared with nextid migrate store up, and\n" +
			"left alone but for five new generators. Network namespaces need root; clocks need gcc on Linux (amd64).\n" +
			"The exit code is 1 when an id came twice, a server did not come back or used more and more; the log is\n" +
			"kept then.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if c.Nodes < 1 || c.Clients < 1 || c.Duration <= 0 {
				return usageFailure(cmd, "--nodes, --clients and --duration must be positive")
			}
			if c.StoreRestart != "" && (len(c.Stores) != 1 || !strings.Contains(c.Stores[0], "://")) {
				return usageFailure(cmd, "--store-restart is for one --store, which is given by its URL")
			}
			if slices.Contains(c.Stores, "all") {
				c.Stores = torture.Stores()
			}
			c.Each = 1
			if flags.quick {
				c.Duration = min(c.Duration, 10*time.Second)
			}
			var verdict error
			err := p.report(cmd, flags, func(ctx context.Context, progress *report.Progress) (r *report.Report, err error) {
				c.Progress = progress
				if c.Binary, err = server.find(); err != nil {
					return nil, err
				}
				r, err = torture.Run(ctx, c)
				if errors.Is(err, torture.ErrBroken) { // after the report
					err, verdict = nil, err
				}
				return r, err
			})
			return errors.Join(err, verdict)
		},
	}
	flags.register(cmd)
	server.register(cmd)
	cmd.Flags().IntVar(&c.Nodes, "nodes", c.Nodes, "servers of each store")
	cmd.Flags().IntVar(&c.Clients, "clients", c.Clients, "connections at a time, in all")
	cmd.Flags().DurationVar(&c.Duration, "duration", c.Duration, "`TIME` of faults")
	cmd.Flags().DurationVar(&c.Pause, "pause", c.Pause, "`TIME` of a client between two draws")
	cmd.Flags().StringArrayVar(&c.Stores, "store", c.Stores, "`STORE` that servers share: "+strings.Join(torture.Stores(), ", ")+", a URL, or all; can be given several times")
	cmd.Flags().StringVar(&c.StoreRestart, "store-restart", "", "shell `COMMAND` that kills the store of a URL and starts it again; without it that fault is left out")
	cmd.Flags().StringVar(&c.Log, "log", "", "keep the log of all ids as `FILE`, and what the servers said beside it")
	return cmd
}
