package cmd

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"nextid/migrations/feed"
	"nextid/server"
)

// feedFlags holds the flags of migrate feed.
type feedFlags struct {
	dsn, column, name []string
	server            string
	feed.Options
}

func (p *program) migrateFeedCommand() *cobra.Command {
	cmd := parentCommand("feed", "Keep the columns' own sequences, and give each database blocks that no other has",
		"Give the sequence behind a serial or identity column (PostgreSQL), or in a DEFAULT (MariaDB), a block of\n"+
			"numbers that only this database has. The nextid servers move it to the next block before it is used up:\n\n"+
			"  nextid migrate feed up --dsn postgres://shop@a/shop --dsn postgres://shop@b/shop \\\n"+
			"    --server postgres://nextid@ids:5433/nextid --column orders.id --name orders\n\n"+
			"Passwords for the databases come from the URLs or from "+server.FeedPasswordEnv+", that for the server from its URL or\n"+
			server.FeedServerPasswordEnv+"; else, on PostgreSQL, from PGPASSWORD or ~/.pgpass. See docs/feed.md.")
	change := func(use, short string, run func(context.Context, feed.Options) error, more ...func(*cobra.Command, *feedFlags)) {
		f := &feedFlags{}
		c := &cobra.Command{
			Use: use + " --dsn URL ... --column TABLE.COLUMN --name GENERATOR", Short: short, Args: noArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return p.withFeed(cmd, f, run) },
		}
		f.register(c)
		for _, register := range more {
			register(c, f)
		}
		cmd.AddCommand(c)
	}
	withServer := func(c *cobra.Command, f *feedFlags) {
		c.Flags().StringVar(&f.server, "server", "postgres://nextid@127.0.0.1:5433/nextid", "`URL` of a nextid server, where the user is an admin")
	}
	blocks := func(c *cobra.Command, f *feedFlags) {
		c.Flags().DurationVar(&f.Ahead, "ahead", feed.DefaultAhead, "for how long a block is to last at the present rate; the next one comes when half is used")
		c.Flags().Int64Var(&f.Block, "block", 0, "numbers `N` in a block at least (default: 1000000, or less for a smallint or integer column)")
	}
	cron := func(c *cobra.Command, f *feedFlags) {
		c.Flags().BoolVar(&f.Cron, "cron", false, "the servers do not feed: cron runs nextid migrate feed once")
	}
	change("up", "Give each sequence a block, and have the servers feed it", feed.Up, withServer, blocks, cron)
	change("once", "Move the sequences that have used half of their block, as the servers do; for cron", feed.Once, withServer, blocks)
	change("down", "Make plain sequences of them; they go on where they are", feed.Down, withServer)
	change("print", "Print what up would run; looks at the databases and changes nothing", func(ctx context.Context, o feed.Options) error {
		o.Dry = true
		return feed.Up(ctx, o)
	}, blocks)
	change("status", "Show blocks and positions; exit code 1 unless each sequence is in a block of its own", p.feedStatus)
	return cmd
}

// register adds the flags that all commands of migrate feed have.
func (f *feedFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.dsn, "dsn", nil, "a database, as `URL`: postgres://USER@HOST/DATABASE or mysql://USER@HOST/DATABASE; once for each")
	cmd.Flags().StringArrayVar(&f.column, "column", nil, "`TABLE.COLUMN` or SCHEMA.TABLE.COLUMN, or the name of a sequence; may be repeated")
	cmd.Flags().StringArrayVar(&f.name, "name", nil, "`GENERATOR` that feeds it; once for each --column, in their order")
}

// withFeed checks the flags and calls run with their options.
func (p *program) withFeed(cmd *cobra.Command, f *feedFlags, run func(context.Context, feed.Options) error) error {
	switch {
	case len(f.dsn) == 0:
		return usageFailure(cmd, "--dsn URL of a database is missing")
	case len(f.column) == 0:
		return usageFailure(cmd, "--column TABLE.COLUMN is missing")
	case len(f.column) != len(f.name):
		return usageFailure(cmd, fmt.Sprintf("%d --column and %d --name: each column has the name of its generator", len(f.column), len(f.name)))
	case f.Ahead < 0 || f.Block < 0:
		return usageFailure(cmd, "--ahead and --block are not negative")
	}
	o := f.Options
	o.Out = p.stdout
	for _, dsn := range f.dsn {
		o.DSNs = append(o.DSNs, p.withPassword(dsn, server.FeedPasswordEnv))
	}
	for i, column := range f.column {
		o.Columns = append(o.Columns, feed.Column{Column: column, Generator: f.name[i]})
	}
	if f.server != "" {
		var err error
		if o.Server, err = feed.OpenServer(p.withPassword(f.server, server.FeedServerPasswordEnv)); err != nil {
			return err
		}
		defer o.Server.Close()
	}
	return run(cmd.Context(), o)
}

// feedStatus prints block and position of each sequence. It returns an error if
// sequences may collide or end.
func (p *program) feedStatus(ctx context.Context, o feed.Options) error {
	r, err := feed.Status(ctx, o)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "database\tcolumn\tgenerator\tfirst\tlast\tnext\tleft\tlasts\tmoved")
	for _, l := range r.Feeds {
		s := l.State
		lasts, moved := "-", "-"
		if n := s.Lasts(); n < 10_000*24*time.Hour {
			lasts = n.Round(time.Minute).String()
		}
		if !s.Note.Moved.IsZero() {
			moved = s.Note.Moved.Format(time.RFC3339)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%d\t%d\t%s\t%s\n", l.Database, l.Column, l.Generator, s.First, s.Last, s.Next, s.Left(), lasts, moved)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	p.printEach("problem", r.Problems)
	if n := len(r.Problems); n > 0 {
		return &server.Error{Message: fmt.Sprintf("%d sequences may collide or end", n), Hint: "See docs/feed.md."}
	}
	_, err = fmt.Fprintln(p.stdout, "each sequence is in a block of its own")
	return err
}
