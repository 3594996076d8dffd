//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"nextid/benchmarks/attack"
	"nextid/benchmarks/report"
)

func (p *program) attackCommand() *cobra.Command {
	flags, server := &reportFlags{}, &serverFlag{}
	c := attack.Config{Length: 5 * time.Second, Rounds: 3}
	be, at := "", ""
	cmd := &cobra.Command{
		Use:   "attack",
		Short: "Measure what a well-behaved client notices while others attack the server",
		Long: "Ask a server for ids, in peace and during floods of connections, TLS handshakes and passwords,\n" +
			"unfinished messages, large statements and texts, and readers that do not read. What the machine\n" +
			"makes of each shows beside it: the same flood goes to another server on it first. The attackers\n" +
			"get only what processors others leave: on a busy machine they do little.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if be != "" {
				ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM)
				defer stop()
				did, err := attack.Be(ctx, be, at)
				fmt.Fprintln(p.stdout, did)
				return err
			}
			if flags.quick {
				c.Length, c.Rounds = time.Second, 1
			}
			return p.report(cmd, flags, func(ctx context.Context, progress *report.Progress) (r *report.Report, err error) {
				c.Progress = progress
				if c.Binary, err = server.find(); err != nil {
					return nil, err
				}
				if c.Self, err = os.Executable(); err != nil {
					return nil, err
				}
				return attack.Run(ctx, c)
			})
		},
	}
	flags.register(cmd)
	server.register(cmd)
	cmd.Flags().DurationVar(&c.Length, "length", c.Length, "`TIME` of an attack, of one on another server, and of the peace before them")
	cmd.Flags().IntVar(&c.Rounds, "rounds", c.Rounds, "how often each attack is measured")
	cmd.Flags().StringVar(&c.Only, "only", "", "only attacks with `TEXT` in their name")
	cmd.Flags().StringVar(&be, "be", "", "")
	cmd.Flags().StringVar(&at, "at", "", "")
	for _, name := range []string{"be", "at"} { // for itself
		_ = cmd.Flags().MarkHidden(name)
	}
	return cmd
}
