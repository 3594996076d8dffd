//go:build unix

package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"nextid/benchmarks/compare"
	"nextid/benchmarks/report"
)

func (p *program) compareCommand() *cobra.Command {
	flags, server := &reportFlags{}, &serverFlag{}
	c := compare.Config{Shards: 3}
	cmd := &cobra.Command{
		Use:   "compare",
		Short: "Compare where ids can come from: auto_increment, shards, UUIDs, Redis, nextid",
		Long: "Fill the same table with ids from auto_increment, shards with offsets, sequences, Redis, a\n" +
			"ticket table, UUIDs and nextid, and measure throughput, latency, CPU, size, order, and what a\n" +
			"failover and one more shard cost. Without --dsn it starts PostgreSQL, MariaDB and Redis, as far\n" +
			"as they are installed, on free ports of loopback and in a temporary directory:\n\n" +
			"  nextid-bench compare --quick --out report\n\n" +
			"Takes about ten minutes, with --quick less than three. Ctrl-C ends it with what it has measured.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if c.Shards < 2 {
				return usageFailure(cmd, "--shards must be 2 or more")
			}
			c.Plan = compare.Full
			if flags.quick {
				c.Plan = compare.Quick
			}
			return p.report(cmd, flags, func(ctx context.Context, progress *report.Progress) (r *report.Report, err error) {
				c.Progress = progress
				if c.Floor, err = os.Executable(); err != nil {
					return nil, err
				}
				if c.Binary, err = server.find(); err != nil {
					return nil, err
				}
				return compare.Run(ctx, c)
			})
		},
	}
	flags.register(cmd)
	server.register(cmd)
	cmd.Flags().IntVar(&c.Shards, "shards", c.Shards, "servers to start of PostgreSQL and of MariaDB")
	cmd.Flags().StringArrayVar(&c.DSN, "dsn", nil, "use this server: postgres://, mysql://, mariadb:// or redis:// `URL`; may be repeated,\n"+
		"each more of a kind is a shard. It makes a schema, database or key "+compare.Schema+" there, and\nremoves it")
	return cmd
}
