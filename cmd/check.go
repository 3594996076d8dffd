package cmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"nextid/server"
)

func (p *program) checkConfigCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "check-config --config FILE",
		Short: "Check a configuration file",
		Long: "Check a configuration file and the files that it names (users, host rules, certificates,\n" +
			"passwords), and print everything that is wrong with them, one mistake a line, or ok. Run it\n" +
			"as the user that runs the server. It reads neither the environment nor the store.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "" {
				return usageFailure(cmd, "--config FILE is missing")
			}
			c, err := p.build.LoadFile(file)
			mistakes, wrong := errors.AsType[server.Mistakes](err)
			if err != nil && !wrong {
				return err
			}
			if found := c.Check(mistakes); len(found) > 0 {
				return found
			}
			_, err = fmt.Fprintln(p.stdout, "ok")
			return err
		},
	}
	cmd.Flags().StringVar(&file, "config", "", "the `FILE` to check")
	return cmd
}
