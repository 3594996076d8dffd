package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nextid/migrations/appdb"
	"nextid/migrations/foreign"
	"nextid/server"
)

// foreignFlags holds the flags of migrate foreign up and print. Some are fields of
// the Config.
type foreignFlags struct {
	foreign.Config
	server       string
	fill, layout []string
}

func (f *foreignFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.server, "server", "",
		"`URL` of the nextid server as the database reaches it (default: as installed, else postgres://nextid@127.0.0.1:5433/nextid); HOST:PORT,HOST:PORT tries several, ?NAME=VALUE sets an option of libpq or postgres_fdw. "+
			"For MySQL and MariaDB mysql://nextid@127.0.0.1:3307/nextid, and ?engine=federated or spider")
	flags.StringArrayVar(&f.Grant, "grant", nil, "`ROLE` that may call the functions, or PUBLIC; MySQL: USER or USER@HOST; may be repeated")
	flags.StringArrayVar(&f.layout, "layout", nil, "PostgreSQL: tell nextid.id_floor the layout of a generator, as `GENERATOR=LAYOUT`; may be repeated. The server's own are known")
	flags.BoolVar(&f.FunctionsOnly, "functions-only", false, "PostgreSQL: install only nextid.id_time, id_floor, id_ceil, field and partition_ddl, which ask no server")
	flags.StringArrayVar(&f.fill, "fill", nil, "MySQL: make a trigger that fills `TABLE.COLUMN=GENERATOR`; may be repeated")
}

// config returns what up installs.
func (f *foreignFlags) config(environ []string) (c foreign.Config, err error) {
	c = f.Config
	c.Password = server.LookupEnv(environ, server.ForeignPasswordEnv)
	c.KeepPassword = !slices.ContainsFunc(environ, func(pair string) bool { return strings.HasPrefix(pair, server.ForeignPasswordEnv+"=") })
	if c.Layouts, err = parseAll(f.layout, foreign.ParseLayout); err != nil {
		return c, err
	}
	if c.Fill, err = parseAll(f.fill, foreign.ParseFill); err == nil && f.server != "" {
		c.Server, err = foreign.ParseServer(f.server)
	}
	return c, err
}

// parseAll parses texts until one fails.
func parseAll[T any](texts []string, parse func(string) (T, error)) (all []T, err error) {
	for _, text := range texts {
		one, err := parse(text)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

func (p *program) migrateForeignCommand() *cobra.Command {
	parent := databaseCommand{
		parentCommand("foreign", "Let an application's database ask nextid for DEFAULT values",
			"Install, in the database of an application, a foreign server and functions that draw ids:\n\n"+
				"  nextid migrate foreign up --dsn postgres://postgres@db/shop --server postgres://nextid@ids:5433/nextid --grant shop\n"+
				"  CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT nextid.next_id('orders'));\n\n"+
				"In MySQL and MariaDB a trigger fills the column:\n\n"+
				"  nextid migrate foreign up --dsn mysql://root@db/shop --server mysql://nextid@ids:3307/nextid --fill orders.id=orders\n\n"+
				"The password for the server comes from "+server.ForeignPasswordEnv+"; that for the database from the URL,\n"+
				"PGPASSWORD, ~/.pgpass or MYSQL_PWD. See docs/foreign.md."),
		" of the application's database", "the application's database, postgres://USER@HOST/DATABASE or mysql://USER@HOST/DATABASE as `URL`; may be repeated",
	}
	var flags foreignFlags
	up := parent.add("up --dsn URL", "Install or upgrade, and apply address, password and grants", func(cmd *cobra.Command, dsns []string) error {
		config, err := flags.config(p.environ)
		if err != nil {
			return err
		}
		return eachForeign(cmd.Context(), dsns, func(name string, db *foreign.Database) error { return p.foreignUp(cmd.Context(), name, db, config) })
	})
	flags.register(up.Flags())
	up.Flags().BoolVar(&flags.Unasked, "unasked", false, "apply address and password although the server does not answer")
	parent.add("down --dsn URL", "Remove everything that up installed, unless something uses it", func(cmd *cobra.Command, dsns []string) error {
		return eachForeign(cmd.Context(), dsns, func(name string, db *foreign.Database) error {
			return p.done(db.Down(cmd.Context()), "%s: removed\n", name)
		})
	})
	parent.add("status --dsn URL", "Show what is installed, and whether the server answers the database", func(cmd *cobra.Command, dsns []string) error {
		return eachForeign(cmd.Context(), dsns, func(name string, db *foreign.Database) error {
			s, err := db.Status(cmd.Context())
			if err != nil {
				return err
			}
			return s.Print(p.stdout, name)
		})
	}).Long = "Show what is installed, and whether the server answers the database. Draws no id. Ends with exit\n" +
		"code 1 unless everything is installed and the server answers."
	flags.register(parent.add("print --dsn URL", "Print the SQL that up runs, without connecting", func(_ *cobra.Command, dsns []string) error {
		config, err := flags.config(p.environ)
		if err != nil {
			return err
		}
		for _, dsn := range dsns {
			sql, err := foreign.SQL(dsn, config)
			if err != nil {
				return err
			}
			p.printf("%s", sql)
		}
		return nil
	}).Flags())
	return parent.Command
}

// eachForeign calls do for one database after the other, with a name for messages.
// An error does not stop the others.
func eachForeign(ctx context.Context, dsns []string, do func(name string, db *foreign.Database) error) (all error) {
	for _, dsn := range dsns {
		name := appdb.NameOf(dsn)
		db, err := foreign.Open(ctx, dsn)
		if err == nil {
			err = errors.Join(do(name, db), db.Close())
		}
		all = errors.Join(all, appdb.Hints{}.At(name, err))
	}
	return all
}

// foreignUp installs in a database, and prints whether the server answers.
func (p *program) foreignUp(ctx context.Context, name string, db *foreign.Database, config foreign.Config) error {
	config.Note = func(problem string) { p.printf("%s: note: %s\n", name, server.OneLine(problem)) }
	if err := db.Up(ctx, config); err != nil {
		return err
	}
	s, err := db.Status(ctx)
	if err != nil {
		return err
	}
	text := "functions installed"
	if !s.FunctionsOnly() {
		text = fmt.Sprintf("installed; %s answers: %s", s.Server, s.Answer())
	}
	p.printf("%s: %s\n", name, text)
	return nil
}
