package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"nextid/benchmarks/local"
	"nextid/benchmarks/report"
)

func (p *program) localCommand() *cobra.Command {
	flags := &reportFlags{}
	c := local.Config{Length: time.Millisecond, Rounds: 200}
	cmd := &cobra.Command{
		Use:   "local",
		Short: "Measure the generators in this process, beside other Go libraries",
		Long: "Draw ids in a loop, without wire and SQL: snowflakes, numbers, batches, UUIDs, ULIDs and XIDs of\n" +
			"nextid, bwmarrin/snowflake, sony/sonyflake, google/uuid, oklog/ulid and rs/xid, with one and two\n" +
			"goroutines. Takes about half a minute.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags.quick {
				c.Rounds = 5
			}
			return p.report(cmd, flags, func(ctx context.Context, progress *report.Progress) (*report.Report, error) {
				c.Progress = progress
				return local.Run(ctx, c)
			})
		},
	}
	flags.register(cmd)
	cmd.Flags().DurationVar(&c.Length, "length", c.Length, "`TIME` of one measurement")
	cmd.Flags().IntVar(&c.Rounds, "rounds", c.Rounds, "measurements of each generator")
	return cmd
}
