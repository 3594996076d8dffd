package cmd

import (
	"strings"

	"nextid/server"

	"github.com/spf13/cobra"
)

func (p *program) storeCopyCommand() *cobra.Command {
	flags, to := p.build.Flags(), ""
	cmd := &cobra.Command{
		Use:   "copy [--data DIR | --store sqlite:FILE] --to URL",
		Short: "Copy the embedded store of a stopped server to a shared one, and go on there",
		Long: "Copy the names and reservations of an embedded store, whose server has been stopped, to a\n" +
			"shared store that is empty (after nextid migrate store up). No id is repeated: each generator\n" +
			"goes on in the shared store where it ended, and the embedded store issues no more ids. The copy\n" +
			"is read back and compared. No server starts on a copy that was interrupted: run the command\n" +
			"again. The password of the shared store comes from the URL or from " + storePasswordEnv + ".",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := flags.Load(p.environ)
			if err != nil {
				return err
			}
			target := config
			if to == "" {
				return usageFailure(cmd, "--to URL is missing")
			}
			if target.Store, err = p.build.StoreURL(to); err != nil {
				return usageFailure(cmd, "--to "+err.Error())
			}
			if !target.Store.Shared() || config.Store.Shared() || config.Store.Scheme == server.StoreMemory {
				return usageFailure(cmd, "an embedded store is copied to a shared one: --data DIR --to "+p.build.Schemes()[0])
			}
			return server.CopyStore(cmd.Context(), config, target, p.stdout)
		},
	}
	flags.Register(cmd.Flags(), "data", "store", "store_unsafe")
	cmd.Flags().StringVar(&to, "to", "", "the shared store, as `URL`: "+strings.Join(p.build.Schemes(), ", "))
	return cmd
}
