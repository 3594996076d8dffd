package cmd

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"nextid/server"
)

// migrateCommand returns the parent of the commands that change a database's
// schema. There is one for each purpose.
func (p *program) migrateCommand() *cobra.Command {
	cmd := parentCommand("migrate", "Create, upgrade or remove what nextid needs in a database", "")
	cmd.AddCommand(p.migrateStoreCommand(), p.migrateForeignCommand(), p.migrateShardsCommand(), p.migrateFeedCommand())
	return cmd
}

// parentCommand returns a command that only shows the commands below it.
func parentCommand(use, short, long string) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Long: long, Args: noArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
}

// databaseCommand is a parent command of commands with the flag --dsn.
type databaseCommand struct {
	*cobra.Command
	of    string // completes the error "--dsn URL is missing"
	usage string // of the flag
}

// add adds a command that calls run with the URLs of --dsn.
func (d databaseCommand) add(use, short string, run func(cmd *cobra.Command, dsns []string) error) *cobra.Command {
	var dsns []string
	sub := &cobra.Command{Use: use, Short: short, Args: noArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		if len(dsns) == 0 {
			return usageFailure(cmd, "--dsn URL"+d.of+" is missing")
		}
		return run(cmd, dsns)
	}}
	sub.Flags().StringArrayVar(&dsns, "dsn", nil, d.usage)
	d.AddCommand(sub)
	return sub
}

// withPassword returns URLs with the password in a variable, where they have none.
func (p *program) withPassword(variable string, urls ...string) (all []string) {
	for _, url := range urls {
		all = append(all, server.StoreURL{URL: url}.WithPassword(server.LookupEnv(p.environ, variable)))
	}
	return all
}

// progressLine returns a function that replaces the last line of the terminal, or nil
// if standard error is no terminal.
func (p *program) progressLine() func(line string) {
	terminal, ok := p.stderr.(*os.File)
	if !ok || !term.IsTerminal(int(terminal.Fd())) {
		return nil
	}
	const erase = "\r\x1b[K" // ECMA-48, EL
	return func(line string) { fmt.Fprint(terminal, erase+line) }
}
