package cmd

import (
	"fmt"

	"github.com/spf13/cobra"
)

// migrateCommand is the parent of the commands that change a database's
// schema: one below it for each purpose.
func (p *program) migrateCommand() *cobra.Command {
	cmd := parentCommand("migrate", "Create, upgrade or remove what nextid needs in a database", "")
	cmd.AddCommand(p.migrateStoreCommand(), p.migrateForeignCommand(), p.migrateShardsCommand(), p.migrateFeedCommand())
	return cmd
}

// parentCommand returns a command that only shows the commands below it.
func parentCommand(use, short, long string) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Long: long, Args: noArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
}

// printEach prints what a status has found, a line each.
func (p *program) printEach(kind string, found []string) {
	for _, text := range found {
		fmt.Fprintf(p.stdout, "%s: %s\n", kind, text)
	}
}
