package cmd

import "github.com/spf13/cobra"

func (p *program) repairCommand() *cobra.Command {
	flags, dryRun := p.build.Flags(), false
	cmd := &cobra.Command{
		Use:   "repair [--data DIR | --store sqlite:FILE]",
		Short: "Make an embedded store usable again that a wrong clock has led into the future",
		Long: "Make an embedded store usable again after its server ran with a clock that was far ahead.\n" +
			"Stop the server and set the clock right first.\n\n" +
			"Ids never go back in time. Without a repair snowflakes would carry that future time, or none\n" +
			"would be left. repair gives up the worker ids that have reached it: no server will use the\n" +
			"rest of their time. Servers go on at the present time with worker ids that were never used.\n" +
			"No id is repeated, since an id contains its worker id.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := flags.Load(p.environ)
			if err != nil {
				return err
			}
			return config.Repair(cmd.Context(), p.stdout, dryRun)
		},
	}
	flags.Register(cmd.Flags(), "data", "store")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only say what would be done")
	return cmd
}
