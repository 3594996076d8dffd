package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"nextid/server"
	"nextid/wire/auth"
)

// passwdOptions holds the flags of passwd.
type passwdOptions struct {
	settings           *server.Flags
	admin, noAdmin     bool
	remove, noPassword bool
	only               string
}

func (p *program) passwdCommand() *cobra.Command {
	o := &passwdOptions{settings: p.build.Flags()}
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
			return p.passwd(cmd, args[0], o)
		},
	}
	flags := cmd.Flags()
	o.settings.Register(flags, "data", "users", "mysql_native_password")
	flags.BoolVar(&o.admin, "admin", false, "the user may create, alter and drop generators")
	flags.BoolVar(&o.noAdmin, "no-admin", false, "the user may not, or no longer, do so")
	flags.StringVar(&o.only, "only", "", "the generators that the user may draw from: `NAMES` with commas between them, * at the end of one for any rest; all for every generator")
	flags.BoolVar(&o.noPassword, "no-password", false, "add a user without a password, for client certificates or peer")
	flags.BoolVar(&o.remove, "delete", false, "remove the user")
	return cmd
}

// passwd implements the command. It asks for the password before it locks the file.
func (p *program) passwd(cmd *cobra.Command, name string, o *passwdOptions) error {
	if err := auth.CheckUserName(name); err != nil {
		return usageFailure(cmd, err.Error())
	}
	if o.admin && o.noAdmin || o.remove && (o.admin || o.noAdmin || o.noPassword || o.only != "") {
		return usageFailure(cmd, "these flags exclude each other")
	}
	if err := auth.CheckGenerators(o.only); err != nil {
		return usageFailure(cmd, "--only: "+err.Error())
	}
	config, err := o.settings.Load(p.environ)
	if err != nil {
		return err
	}
	file := config.Users
	if file == server.UsersAuto || file == server.UsersOff {
		file = filepath.Join(config.Data, server.UsersName)
	}
	if _, _, err := readUsersFile(file); err != nil {
		return err
	}
	var password string
	if !o.remove && !o.noPassword {
		if password, err = p.readPassword(cmd.Context(), name); err != nil {
			return err
		}
	}
	// Another passwd may have changed the file meanwhile: edit reads it again.
	var did string
	err = server.EditPrivate(file, func() (text []byte, err error) {
		text, did, err = editUsers(file, name, password, config.NativePassword, o)
		return text, err
	})
	return p.done(err, "%s in %s\n", did, file)
}

// editUsers adds, changes or removes the user, and says what it did.
func editUsers(file, name, password string, native bool, o *passwdOptions) (content []byte, did string, err error) {
	text, users, err := readUsersFile(file)
	if err != nil {
		return nil, "", err
	}
	var user *auth.User
	if !o.remove {
		if user, err = changedUser(users.Lookup(name), name, password, native, o); err != nil {
			return nil, "", err
		}
	}
	edited, found, err := auth.Edit(text, name, user)
	if err != nil {
		return nil, "", server.ParseFailure(file, err)
	}
	switch {
	case !o.remove:
		did = fmt.Sprintf("%s %s %q", map[bool]string{true: "changed", false: "added"}[found], kindOfUser(user), name)
	case !found:
		err = &server.Error{Message: fmt.Sprintf("there is no user %q in %s", name, file), Hint: "Names are written exactly as they are, with their case."}
	case users.Len() == 1:
		err = &server.Error{
			Message: fmt.Sprintf("user %q is the only one in %s, and a users file without users is refused", name, file),
			Hint:    "Add another user first. To accept every login, start the server with --users off.",
		}
	default:
		did = fmt.Sprintf("removed user %q", name)
	}
	return []byte(edited), did, err
}

func kindOfUser(u *auth.User) string {
	kind := "user"
	if u.Admin {
		kind = "administrator"
	}
	if u.SCRAM == nil && u.SHA2 == nil {
		kind += " without a password"
	}
	return kind
}

// readUsersFile reads the users file. A missing file is empty.
func readUsersFile(file string) (text string, users *auth.Users, err error) {
	content, err := server.ReadPrivate("users file", file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", auth.NewUsers(nil, nil), server.CheckReplaceable("users file", file)
	} else if err != nil {
		return "", nil, err
	}
	if users, err = auth.ParseUsers(string(content)); err != nil {
		return "", nil, server.ParseFailure(file, err)
	}
	return string(content), users, nil
}

// changedUser returns the user that the flags and the new password describe. old is
// nil for a new user.
func changedUser(old *auth.User, name, password string, native bool, o *passwdOptions) (*auth.User, error) {
	if old == nil {
		old = &auth.User{}
	}
	user := &auth.User{Name: name, Admin: (old.Admin || o.admin) && !o.noAdmin, Generators: old.Generators}
	switch o.only {
	case "":
	case "all":
		user.Generators = nil
	default:
		user.Generators = strings.Split(o.only, ",")
	}
	if o.noPassword {
		return user, nil
	}
	user.SCRAM, user.SHA2 = old.SCRAM, old.SHA2
	if err := user.SetPassword(password, native); err != nil {
		return nil, &server.Error{Message: err.Error(), Hint: "Nothing was changed."}
	}
	return user, nil
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
		return "", &server.Error{Message: "the two passwords differ", Hint: "Nothing was changed."}
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
		return "", &server.Error{Message: "interrupted", Hint: "Nothing was changed."}
	}
}

func readingFailed(err error) error {
	return &server.Error{Message: "read the password: " + err.Error(), Cause: err}
}
