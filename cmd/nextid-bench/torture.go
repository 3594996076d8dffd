//go:build unix

package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nextid/benchmarks/report"
	"nextid/benchmarks/torture"
)

func (p *program) tortureCommand() *cobra.Command {
	flags, server := &reportFlags{}, &serverFlag{}
	c := torture.Config{Nodes: 3, Clients: 64, Duration: time.Minute}
	cmd := &cobra.Command{
		Use:   "torture",
		Short: "Do to servers what goes wrong in production, and check every id",
		Long: "Run several servers on one store and let clients draw from them, while servers are killed, stopped,\n" +
			"cut off and given wrong clocks, and the store is killed and cut off. Every id that a client got\n" +
			"is written to a log and checked: none twice, and those of a connection in order.\n\n" +
			"  nextid-bench torture --store postgres --duration 1m\n" +
			"  nextid-bench torture --store postgres://nextid@db/nextid --nodes 5\n\n" +
			"The store is started here, from the program that is installed (" + strings.Join(torture.Stores(), ", ") + "), or\n" +
			"given as a URL: prepared with nextid migrate store up, and left alone but for three new generators.\n" +
			"Network namespaces need root; clocks need gcc on Linux (amd64). The exit code is 1 when an id came\n" +
			"twice; the log is kept then.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if c.Nodes < 1 || c.Clients < 1 || c.Duration <= 0 {
				return usageFailure(cmd, "--nodes, --clients and --duration must be positive")
			}
			if c.StoreRestart != "" && !strings.Contains(c.Store, "://") {
				return usageFailure(cmd, "--store-restart is for a --store that is given by its URL")
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
	cmd.Flags().IntVar(&c.Nodes, "nodes", c.Nodes, "servers")
	cmd.Flags().IntVar(&c.Clients, "clients", c.Clients, "connections at a time")
	cmd.Flags().DurationVar(&c.Duration, "duration", c.Duration, "`TIME` of faults")
	cmd.Flags().StringVar(&c.Store, "store", "postgres", "`STORE` that the servers share: "+strings.Join(torture.Stores(), ", ")+", or a URL")
	cmd.Flags().StringVar(&c.StoreRestart, "store-restart", "", "shell `COMMAND` that kills the store of a URL and starts it again; without it that fault is left out")
	cmd.Flags().StringVar(&c.Log, "log", "", "keep the log of all ids as `FILE`, and what the servers said beside it")
	return cmd
}
