package main

import "github.com/spf13/cobra"

// benchCommands are the commands below nextid bench: one line for each thing
// to measure or to prove. What they do is in benchmarks/.
var benchCommands = append(benchServers, (*program).benchLocalCommand, (*program).benchRenderCommand)

func (p *program) benchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure servers, and prove what they promise",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, command := range benchCommands {
		cmd.AddCommand(command(p))
	}
	return cmd
}
