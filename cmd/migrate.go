package cmd

import (
	"github.com/spf13/cobra"
)

// migrateCommand is the parent of the commands that change a database's
// schema: one below it for each purpose.
func (p *program) migrateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Create, upgrade or remove what nextid needs in a database",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(p.migrateStoreCommand(), p.migrateForeignCommand(), p.migrateShardsCommand(), p.migrateFeedCommand())
	return cmd
}
