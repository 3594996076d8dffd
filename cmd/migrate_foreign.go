package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"nextid/generator/layout"
	"nextid/migrations/appdb"
	"nextid/migrations/foreign"
	"nextid/server"
)

// foreignFlags holds the flags of migrate foreign.
type foreignFlags struct {
	server  string
	grant   []string
	fill    []string
	layout  []string
	unasked bool
	only    bool // install only functions that ask no server
}

// register adds the flags of the commands up and print.
func (f *foreignFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.server, "server", "",
		"`URL` of the nextid server as the database reaches it (default: as installed, else postgres://nextid@127.0.0.1:5433/nextid); HOST:PORT,HOST:PORT tries several, ?NAME=VALUE sets an option of libpq or postgres_fdw. "+
			"For MySQL and MariaDB mysql://nextid@127.0.0.1:3307/nextid, and ?engine=federated or spider")
	cmd.Flags().StringArrayVar(&f.grant, "grant", nil, "`ROLE` that may call the functions, or PUBLIC; MySQL: USER or USER@HOST; may be repeated")
	cmd.Flags().StringArrayVar(&f.layout, "layout", nil, "PostgreSQL: tell nextid.id_floor the layout of a generator, as `GENERATOR=LAYOUT`; may be repeated. The server's own are known")
	cmd.Flags().BoolVar(&f.only, "functions-only", false, "PostgreSQL: install only nextid.id_time, id_floor, id_ceil, field and partition_ddl, which ask no server")
	cmd.Flags().StringArrayVar(&f.fill, "fill", nil, "MySQL: make a trigger that fills `TABLE.COLUMN=GENERATOR`; may be repeated")
}

// config returns what up installs.
func (f *foreignFlags) config(environ []string) (foreign.Config, error) {
	c := foreign.Config{
		Password: server.LookupEnv(environ, server.ForeignPasswordEnv), Grant: f.grant, Unasked: f.unasked,
		DefaultLayout: layout.Default, ReadLayout: readLayout, FunctionsOnly: f.only,
	}
	for _, l := range layout.Presets() {
		c.Layouts = append(c.Layouts, foreignLayout(strings.ToLower(l.Name), l))
	}
	for _, text := range f.layout {
		generator, name, ok := strings.Cut(text, "=")
		l, err := layout.Preset(name)
		if !ok || err != nil {
			return c, &foreign.Error{What: fmt.Sprintf("--layout %q is not GENERATOR=LAYOUT with a known layout", text), Hint: "Write --layout orders=twitter. nextid.layouts lists the layouts."}
		}
		c.Generators = append(c.Generators, foreignLayout(generator, l))
	}
	c.KeepPassword = !slices.ContainsFunc(environ, func(pair string) bool { return strings.HasPrefix(pair, server.ForeignPasswordEnv+"=") })
	for _, text := range f.fill {
		fill, err := foreign.ParseFill(text)
		if err != nil {
			return c, err
		}
		c.Fill = append(c.Fill, fill)
	}
	if f.server == "" {
		return c, nil
	}
	var err error
	c.Server, err = foreign.ParseServer(f.server)
	return c, err
}

// readLayout reads the layout in the options of a generator. ok is false if its
// numbers do not contain the time in plain form.
func readLayout(generator string, options []byte) (found foreign.Layout, ok bool) {
	var o struct {
		layout.Pinned
		Scatter json.RawMessage `json:"scatter"`
	}
	if json.Unmarshal(options, &o) != nil || o.Scatter != nil {
		return found, false
	}
	l, err := o.Build()
	if err != nil {
		return found, false
	}
	return foreignLayout(generator, l), true
}

// foreignLayout converts a layout for package foreign.
func foreignLayout(name string, l *layout.Layout) foreign.Layout {
	f := foreign.Layout{For: name, Name: l.Name, Epoch: l.Epoch, Unit: l.Unit, Signed: l.Signed}
	for _, field := range l.Fields {
		f.Fields = append(f.Fields, foreign.Field{Kind: string(field.Kind), Bits: field.Bits})
	}
	return f
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
	var toUp, toPrint foreignFlags
	up := parent.add("up --dsn URL", "Install or upgrade, and apply address, password and grants", func(cmd *cobra.Command, dsns []string) error {
		config, err := toUp.config(p.environ)
		if err != nil {
			return err
		}
		return eachForeign(cmd.Context(), dsns, func(dsn string, db foreign.Database) error { return p.foreignUp(cmd.Context(), dsn, db, config) })
	})
	toUp.register(up)
	up.Flags().BoolVar(&toUp.unasked, "unasked", false, "apply address and password although the server does not answer")
	parent.add("down --dsn URL", "Remove everything that up installed, unless something uses it", func(cmd *cobra.Command, dsns []string) error {
		return eachForeign(cmd.Context(), dsns, func(dsn string, db foreign.Database) error {
			if err := db.Down(cmd.Context()); err != nil {
				return err
			}
			_, err := fmt.Fprintf(p.stdout, "%s: removed\n", foreign.Redact(dsn))
			return err
		})
	})
	parent.add("status --dsn URL", "Show what is installed, and whether the server answers the database", func(cmd *cobra.Command, dsns []string) error {
		return eachForeign(cmd.Context(), dsns, func(dsn string, db foreign.Database) error {
			s, err := db.Status(cmd.Context())
			if err != nil {
				return err
			}
			return p.printForeignStatus(dsn, s)
		})
	}).Long = "Show what is installed, and whether the server answers the database. Draws no id. Ends with exit\n" +
		"code 1 unless everything is installed and the server answers."
	toPrint.register(parent.add("print --dsn URL", "Print the SQL that up runs, without connecting", func(_ *cobra.Command, dsns []string) error {
		config, err := toPrint.config(p.environ)
		if err != nil {
			return err
		}
		for _, dsn := range dsns {
			sql, err := foreign.SQL(dsn, config)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprint(p.stdout, sql); err != nil {
				return err
			}
		}
		return nil
	}))
	return parent.Command
}

// foreignUp installs in a database, and prints whether the server answers.
func (p *program) foreignUp(ctx context.Context, dsn string, db foreign.Database, config foreign.Config) error {
	config.Note = func(problem string) {
		fmt.Fprintf(p.stdout, "%s: note: %s\n", foreign.Redact(dsn), server.OneLine(problem))
	}
	if err := db.Up(ctx, config); err != nil {
		return err
	}
	s, err := db.Status(ctx)
	if err != nil {
		return err
	}
	text := "functions installed"
	if !s.FunctionsOnly() {
		text = fmt.Sprintf("installed; %s answers: %s", s.Server, foreignAnswer(s))
	}
	_, err = fmt.Fprintf(p.stdout, "%s: %s\n", foreign.Redact(dsn), text)
	return err
}

// eachForeign calls do for one database after the other. An error names its database
// and does not stop the others.
func eachForeign(ctx context.Context, dsns []string, do func(dsn string, db foreign.Database) error) (all error) {
	for _, dsn := range dsns {
		db, err := foreign.Open(ctx, dsn)
		if err == nil {
			err = errors.Join(do(dsn, db), db.Close())
		}
		all = errors.Join(all, appdb.Hints{}.At(foreign.Redact(dsn), err))
	}
	return all
}

// foreignAnswer returns whether the server answered the database, as text.
func foreignAnswer(s foreign.Status) string {
	if s.Asked != nil {
		return "no: " + server.OneLine(s.Asked.Error())
	}
	return fmt.Sprintf("in %s", s.Took.Round(10*time.Microsecond))
}

// printForeignStatus prints the state of a database. It returns an error unless
// everything is installed and the server answers.
func (p *program) printForeignStatus(dsn string, s foreign.Status) error {
	installed := fmt.Sprintf("version %d of %d", s.Version, s.Newest)
	switch {
	case s.FunctionsOnly():
		installed = "functions only"
	case s.Dumped:
		installed = "from a dump without rows, so the version is not known"
	case s.Version == 0:
		installed = "nothing"
	}
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "database\t%s\ninstalled\t%s\n", foreign.Redact(dsn), installed)
	if s.Version > 0 || s.Dumped {
		fmt.Fprintf(w, "server\t%s\nanswers\t%s\n", s.Server, foreignAnswer(s))
	}
	if err := w.Flush(); err != nil || s.Current() {
		return err
	}
	p.printEach("problem", s.Problems)
	switch {
	case len(s.Problems) > 0:
		return &foreign.Error{What: fmt.Sprintf("%d columns are not filled", len(s.Problems)), Hint: "See docs/foreign.md."}
	case s.Dumped:
		return &foreign.Error{What: "the version of what is installed is not known", Hint: "Run nextid migrate foreign up: it notes the version, and installs what is missing."}
	case s.Version < s.Newest:
		return &foreign.Error{What: "not up to date", Hint: "Run nextid migrate foreign up."}
	case s.Version > s.Newest:
		return &foreign.Error{What: "installed by a newer nextid", Hint: "Use that one."}
	default:
		return &foreign.Error{What: "the server does not answer the database", Hint: appdb.HintOf(s.Asked)}
	}
}
