package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nextid/dsn"
	"nextid/generator"
	"nextid/generator/store/shared"
	"nextid/server"
)

// storePasswordEnv is the variable of the setting store_password.
const storePasswordEnv = server.EnvPrefix + "STORE_PASSWORD"

// migrateTimeout bounds one command on one database.
const migrateTimeout = time.Minute

func (p *program) migrateStoreCommand() *cobra.Command {
	parent := databaseCommand{
		parentCommand("store", "Prepare a database that several servers share as their store",
			"Create, upgrade or remove the tables or keys of a shared store (serve --store URL):\n\n"+
				"  nextid migrate store up --dsn postgres://postgres@db/nextid --grant nextid\n\n"+
				"serve needs no right to create anything: --grant gives its user SELECT, INSERT and UPDATE. The password comes from the URL or from\n"+
				storePasswordEnv+". See docs/stores.md."),
		"", "the database, as `URL`: " + strings.Join(p.build.Schemes(), ", ") + "; may be repeated",
	}
	// add adds a command that calls run for each --dsn.
	add := func(use, short string, run func(context.Context, server.StoreURL, shared.Schema) error) *cobra.Command {
		return parent.add(use+" --dsn URL", short, func(cmd *cobra.Command, dsns []string) error {
			for _, url := range dsns {
				if err := p.withSchema(cmd, url, run); err != nil {
					return err
				}
			}
			return nil
		})
	}
	var users []string
	up := add("up", "Install or upgrade what servers need", func(ctx context.Context, u server.StoreURL, s shared.Schema) error {
		return p.storeUp(ctx, u, s, users)
	})
	up.Flags().StringArrayVar(&users, "grant", nil, "let this `USER` of the database (in MySQL NAME or NAME@HOST) do what servers do, and no more; may be repeated")
	add("down", "Remove it, and with it everything that keeps ids unique", func(ctx context.Context, u server.StoreURL, s shared.Schema) error {
		return p.done(s.Down(ctx), "%s: removed\n", u)
	})
	add("status", "Show what is installed; exit code 1 unless that is everything", p.storeStatus)
	add("print", "Print what up does, without connecting", func(_ context.Context, _ server.StoreURL, s shared.Schema) error {
		text, err := s.Print()
		return p.done(err, "%s", text)
	})
	parent.AddCommand(p.storeCopyCommand())
	return parent.Command
}

// withSchema calls run with the schema of one database.
func (p *program) withSchema(cmd *cobra.Command, url string, run func(context.Context, server.StoreURL, shared.Schema) error) error {
	u, err := p.build.StoreURL(url)
	if err != nil {
		return usageFailure(cmd, "--dsn: "+err.Error())
	}
	if !u.Shared() {
		return usageFailure(cmd, "--dsn: serve prepares the embedded store by itself")
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), migrateTimeout)
	defer cancel()
	schema, err := p.build.Store(u.Scheme).Schema(u.WithPassword(server.LookupEnv(p.environ, storePasswordEnv)))
	if err != nil {
		return fmt.Errorf("%s: %w", u, err)
	}
	defer schema.Close()
	err = run(ctx, u, schema)
	switch {
	case err == nil:
		return nil
	case !dsn.Unreachable(err):
		return fmt.Errorf("%s: %w", u, dsn.Plain(err))
	}
	if e, ok := errors.AsType[*generator.Error](err); ok {
		err = e.Cause
	}
	return &server.Error{
		What: fmt.Sprintf("cannot reach %s: %v", u, dsn.Plain(err)), Err: err,
		Hint: "Check that the database runs and that host and port are right. Nothing was changed.",
	}
}

func (p *program) storeUp(ctx context.Context, u server.StoreURL, s shared.Schema, users []string) error {
	granter, grants := s.(shared.Granter)
	if len(users) > 0 && !grants {
		return &server.Error{What: u.Scheme + " has no rights that nextid could give", Hint: "Leave --grant out, and allow the user of the servers to read and write by the means of " + u.Scheme + "."}
	}
	if err := s.Up(ctx); err != nil {
		return err
	}
	p.printf("%s: installed\n", u)
	for _, user := range users {
		if err := granter.Grant(ctx, user); err != nil {
			return fmt.Errorf("grant to %s: %w", user, err)
		}
		p.printf("%s: %s may read and write\n", u, user)
	}
	return nil
}

func (p *program) storeStatus(ctx context.Context, u server.StoreURL, s shared.Schema) error {
	text, complete, err := s.Status(ctx)
	if err != nil {
		return err
	}
	p.printf("%s: %s\n", u, text)
	if !complete {
		err = &server.Error{What: "not everything is installed", Hint: "Run nextid migrate store up."}
	}
	return err
}

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
