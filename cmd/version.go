package cmd

import (
	"fmt"
	"nextid/server"
	"runtime"

	"github.com/spf13/cobra"
)

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Args:  noArgs,
		RunE:  func(*cobra.Command, []string) error { return p.printVersion() },
	}
}

func (p *program) printVersion() error {
	_, err := fmt.Fprintf(p.stdout, "nextid %s (%s, %s/%s, commit %s)\n",
		server.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, server.Commit())
	return err
}
