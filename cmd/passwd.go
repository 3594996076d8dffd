package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"nextid/server"
	"nextid/wire/auth"
)

func (p *program) passwdCommand() *cobra.Command {
	settings := p.build.Flags()
	var change server.UserChange
	cmd := &cobra.Command{
		Use:   "passwd USER",
		Short: "Add a user, change a password or remove a user",
		Long: "Write a user into the users file: the one of --users, else the file \"users\" in the data\n" +
			"directory, which the server reads when it is there. The password is asked for on a terminal,\n" +
			"else it is the first line of standard input. Only verifiers are kept: SCRAM-SHA-256 for\n" +
			"PostgreSQL's clients, caching_sha2_password for MySQL's.\n\n" +
			"A running server reads the file again on SIGHUP.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageFailure(cmd, "give one USER")
			}
			return p.passwd(cmd, args[0], settings, change)
		},
	}
	flags := cmd.Flags()
	settings.Register(flags, "data", "users", "mysql_native_password")
	flags.BoolVar(&change.Admin, "admin", false, "the user may create, alter and drop generators")
	flags.BoolVar(&change.NoAdmin, "no-admin", false, "the user may not, or no longer, do so")
	flags.StringVar(&change.Only, "only", "", "the generators that the user may draw from: `NAMES` with commas between them, * at the end of one for any rest; all for every generator")
	flags.BoolVar(&change.NoPassword, "no-password", false, "add a user without a password, for client certificates or peer")
	flags.BoolVar(&change.Remove, "delete", false, "remove the user")
	return cmd
}

// passwd implements the command. It asks for the password before ChangeUser locks the
// file.
func (p *program) passwd(cmd *cobra.Command, name string, settings *server.Flags, change server.UserChange) error {
	if err := auth.CheckUserName(name); err != nil {
		return usageFailure(cmd, err.Error())
	}
	if change.Admin && change.NoAdmin || change.Remove && (change.Admin || change.NoAdmin || change.NoPassword || change.Only != "") {
		return usageFailure(cmd, "these flags exclude each other")
	}
	if err := auth.CheckGenerators(change.Only); err != nil {
		return usageFailure(cmd, "--only: "+err.Error())
	}
	config, err := settings.Load(p.environ)
	if err != nil {
		return err
	}
	if err := config.CheckUsers(); err != nil {
		return err
	}
	if !change.Remove && !change.NoPassword {
		if change.Password, err = p.readPassword(cmd.Context(), name); err != nil {
			return err
		}
	}
	did, err := config.ChangeUser(name, change)
	return p.done(err, "%s\n", did)
}

// readPassword asks for a password twice on a terminal, without echo. From other
// standard inputs it takes the first line.
func (p *program) readPassword(ctx context.Context, name string) (string, error) {
	terminal, ok := p.stdin.(*os.File)
	if !ok || !term.IsTerminal(int(terminal.Fd())) {
		const most = auth.MaxPassword + 2 // one more than allowed, and the end of the line
		line, err := bufio.NewReader(io.LimitReader(p.stdin, most)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", readingFailed(err)
		}
		return strings.TrimRight(line, "\r\n"), nil
	}
	var answers [2]string
	for i, prompt := range []string{fmt.Sprintf("Password for %s: ", name), "The same again: "} {
		var err error
		if answers[i], err = p.ask(ctx, terminal, prompt); err != nil {
			return "", err
		}
	}
	if answers[0] != answers[1] {
		return "", &server.Error{What: "the two passwords differ", Hint: "Nothing was changed."}
	}
	return answers[0], nil
}

// ask reads one line of a terminal without echo.
func (p *program) ask(ctx context.Context, terminal *os.File, prompt string) (string, error) {
	fd := int(terminal.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", readingFailed(err)
	}
	fmt.Fprint(p.stderr, prompt)
	defer fmt.Fprintln(p.stderr)
	var text []byte
	answered := make(chan struct{})
	go func() { // on Ctrl-C it goes on until the process ends
		text, err = term.ReadPassword(fd)
		close(answered)
	}()
	select {
	case <-answered:
		if err != nil {
			return "", readingFailed(err)
		}
		return string(text), nil
	case <-ctx.Done():
		_ = term.Restore(fd, before) // turn the echo on again
		return "", &server.Error{What: "interrupted", Hint: "Nothing was changed."}
	}
}

func readingFailed(err error) error {
	return &server.Error{What: "read the password: " + err.Error(), Err: err}
}
