package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"nextid/migrations/feed"
	"nextid/server"
)

func (p *program) migrateFeedCommand() *cobra.Command {
	parent := databaseCommand{
		parentCommand("feed", "Keep the columns' own sequences, and give each database blocks that no other has",
			"Give the sequence behind a serial or identity column (PostgreSQL), or in a DEFAULT (MariaDB), a block of\n"+
				"numbers that only this database has. The nextid servers move it to the next block before it is used up:\n\n"+
				"  nextid migrate feed up --dsn postgres://shop@a/shop --dsn postgres://shop@b/shop \\\n"+
				"    --server postgres://nextid@ids:5433/nextid --column orders.id --name orders\n\n"+
				"Passwords for the databases come from the URLs or from "+server.FeedPasswordEnv+", that for the server from its URL or\n"+
				server.FeedServerPasswordEnv+"; else, on PostgreSQL, from PGPASSWORD or ~/.pgpass. See docs/feed.md."),
		" of a database", "a database, as `URL`: postgres://USER@HOST/DATABASE or mysql://USER@HOST/DATABASE; once for each",
	}
	printUp := func(ctx context.Context, o feed.Options) error {
		o.Dry = true
		return feed.Up(ctx, o)
	}
	for _, c := range []struct {
		use, short          string
		run                 func(context.Context, feed.Options) error
		server, block, cron bool // the flags that the command has
	}{
		{"up", "Give each sequence a block, and have the servers feed it", feed.Up, true, true, true},
		{"once", "Move the sequences that have used half of their block, as the servers do; for cron", feed.Once, true, true, false},
		{"down", "Make plain sequences of them; they go on where they are", feed.Down, true, false, false},
		{"print", "Print what up would run; looks at the databases and changes nothing", printUp, false, true, false},
		{"status", "Show blocks and positions; exit code 1 unless each sequence is in a block of its own", feed.PrintStatus, false, false, false},
	} {
		var columns, names []string
		var url string
		o := feed.Options{Out: p.stdout}
		sub := parent.add(c.use+" --dsn URL ... --column TABLE.COLUMN --name GENERATOR", c.short, func(cmd *cobra.Command, dsns []string) error {
			switch {
			case len(columns) == 0:
				return usageFailure(cmd, "--column TABLE.COLUMN is missing")
			case len(columns) != len(names):
				return usageFailure(cmd, fmt.Sprintf("%d --column and %d --name: each column has the name of its generator", len(columns), len(names)))
			case o.Ahead < 0 || o.Block < 0:
				return usageFailure(cmd, "--ahead and --block are not negative")
			}
			o.DSNs = p.withPassword(server.FeedPasswordEnv, dsns...)
			for i, column := range columns {
				o.Columns = append(o.Columns, feed.Column{Column: column, Generator: names[i]})
			}
			if c.server {
				var err error
				if o.Server, err = feed.OpenServer(p.withPassword(server.FeedServerPasswordEnv, url)[0]); err != nil {
					return err
				}
				defer o.Server.Close()
			}
			return c.run(cmd.Context(), o)
		})
		flags := sub.Flags()
		flags.StringArrayVar(&columns, "column", nil, "`TABLE.COLUMN` or SCHEMA.TABLE.COLUMN, or the name of a sequence; may be repeated")
		flags.StringArrayVar(&names, "name", nil, "`GENERATOR` that feeds it; once for each --column, in their order")
		if c.server {
			flags.StringVar(&url, "server", "postgres://nextid@127.0.0.1:5433/nextid", "`URL` of a nextid server, where the user is an admin")
		}
		if c.block {
			flags.DurationVar(&o.Ahead, "ahead", feed.DefaultAhead, "for how long a block is to last at the present rate; the next one comes when half is used")
			flags.Int64Var(&o.Block, "block", 0, "numbers `N` in a block at least (default: 1000000, or less for a smallint or integer column)")
		}
		if c.cron {
			flags.BoolVar(&o.Cron, "cron", false, "the servers do not feed: cron runs nextid migrate feed once")
		}
	}
	return parent.Command
}
