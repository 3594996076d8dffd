package cmd

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"nextid/migrations/shards"
	"nextid/server"
)

func (p *program) migrateShardsCommand() *cobra.Command {
	parent := databaseCommand{
		parentCommand("shards", "Let several databases draw ids by themselves that never collide",
			"Set auto_increment_increment and auto_increment_offset on MySQL and MariaDB, or INCREMENT BY of\n"+
				"the sequences on PostgreSQL, so that no two databases draw the same id:\n\n"+
				"  nextid migrate shards up      --dsn mysql://root@a/shop --dsn mysql://root@b/shop --dsn mysql://root@c/shop\n"+
				"  nextid migrate shards status  --dsn … --dsn … --dsn …\n"+
				"  nextid migrate shards reshard --dsn … --dsn … --dsn … --add mysql://root@d/shop\n\n"+
				"Passwords come from the URLs or from "+server.ShardsPasswordEnv+". See docs/shards.md."),
		" of a shard", "a shard, as `URL`: mysql://USER@HOST/DATABASE or postgres://USER@HOST/DATABASE; once for each",
	}
	printUp := func(ctx context.Context, urls []string, o shards.Options) error {
		return shards.Up(ctx, urls, o.Dry(p.stdout))
	}
	for _, c := range []struct {
		use, short  string
		run         func(context.Context, []string, shards.Options) error // nil: shards.Reshard
		change, dry bool                                                  // the flags that the command has
	}{
		{"up --dsn URL --dsn URL ...", "Give each database its offset, and move its counters above all ids so far", shards.Up, true, false},
		{"down --dsn URL --dsn URL ...", "Bring the settings back that were before up; the databases' new ids can collide then", shards.Down, false, true},
		{"print --dsn URL --dsn URL ...", "Print what up would run; looks at the databases and changes nothing", printUp, true, false},
		{"reshard --dsn URL ... --add URL", "Add a database while the shards are in use", nil, true, true},
		{"status --dsn URL --dsn URL ...", "Show settings and next ids; exit code 1 unless no two shards draw the same id", shards.PrintStatus, false, false},
	} {
		o := shards.Options{Out: p.stdout}
		var add string
		var dry, rows bool
		sub := parent.add(c.use, c.short, func(cmd *cobra.Command, dsns []string) error {
			o.Progress = p.progressLine()
			if dry {
				o = o.Dry(p.stdout)
			}
			if rows {
				o.Rows = shards.RowsAll
			} else if cmd.Flags().Changed("rows") {
				o.Rows = shards.RowsNone
			}
			urls := p.withPassword(server.ShardsPasswordEnv, dsns...)
			switch {
			case c.run != nil:
				return c.run(cmd.Context(), urls, o)
			case add == "":
				return usageFailure(cmd, "--add URL of the new shard is missing")
			}
			return shards.Reshard(cmd.Context(), urls, p.withPassword(server.ShardsPasswordEnv, add)[0], o)
		})
		flags := sub.Flags()
		flags.StringArrayVar(&o.Exclude, "exclude", nil, "leave `NAME` alone: a table, table.column, sequence or schema, as psql's \\d takes it; may be repeated")
		if c.change {
			flags.DurationVar(&o.Wait, "wait", time.Minute, "how long to wait for sessions that are older than the change, and for locks")
			flags.BoolVar(&o.Kill, "kill", false, "end the older sessions that are left then")
		}
		if c.dry {
			flags.BoolVar(&dry, "dry-run", false, "print what would be run and where, and change nothing")
		}
		switch sub.Name() {
		case "up", "print":
			flags.Int64Var(&o.Increment, "increment", 0, "`N` of all shards (default: as many as there are); a greater one allows more shards later")
		case "reshard":
			flags.StringVar(&add, "add", "", "the new shard, as `URL`")
		case "status":
			flags.BoolVar(&rows, "rows", false, "look at all rows, however long it takes; --rows=false: at none (default: at the newest, for 5 s a table)")
			sub.Long = "Show settings and next ids. Ends with exit code 1 when two shards will draw the same id, when rows have\n" +
				"one twice, or when something was not looked at. Changes nothing."
		}
	}
	return parent.Command
}
