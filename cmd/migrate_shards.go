package cmd

import (
	"fmt"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nextid/migrations/shards"
	"nextid/server"
)

// shardsFlags holds the flags of migrate shards.
type shardsFlags struct {
	dsn                  []string
	add                  string
	dry, rows, rowsGiven bool
	shards.Options
}

// registerChange adds the flags of commands that turn a database into a shard.
func (f *shardsFlags) registerChange(set *pflag.FlagSet) {
	set.DurationVar(&f.Wait, "wait", time.Minute, "how long to wait for sessions that are older than the change, and for locks")
	set.BoolVar(&f.Kill, "kill", false, "end the older sessions that are left then")
}

func (f *shardsFlags) registerIncrement(set *pflag.FlagSet) {
	f.registerChange(set)
	set.Int64Var(&f.Increment, "increment", 0, "`N` of all shards (default: as many as there are); a greater one allows more shards later")
}

func (f *shardsFlags) registerDry(set *pflag.FlagSet) {
	set.BoolVar(&f.dry, "dry-run", false, "print what would be run and where, and change nothing")
}

// urls returns the URLs with the password from the environment, where they have
// none.
func (p *program) urls(given ...string) []string {
	var urls []string
	for _, url := range given {
		urls = append(urls, p.withPassword(url, server.ShardsPasswordEnv))
	}
	return urls
}

// withPassword returns the URL with the password in a variable, unless it has one.
func (p *program) withPassword(url, variable string) string {
	return server.StoreURL{URL: url}.WithPassword(server.LookupEnv(p.environ, variable))
}

// shardsOptions returns the options that the flags give.
func (p *program) shardsOptions(cmd *cobra.Command, f *shardsFlags) (shards.Options, error) {
	o := f.Options
	o.Out, o.Progress = p.stdout, p.progressLine()
	if len(f.dsn) == 0 {
		return o, usageFailure(cmd, "--dsn URL of a shard is missing")
	}
	switch {
	case f.rows:
		o.Rows = shards.RowsAll
	case f.rowsGiven:
		o.Rows = shards.RowsNone
	}
	if f.dry {
		o = o.Dry(p.stdout)
	}
	return o, nil
}

func (p *program) migrateShardsCommand() *cobra.Command {
	cmd := parentCommand("shards", "Let several databases draw ids by themselves that never collide",
		"Set auto_increment_increment and auto_increment_offset on MySQL and MariaDB, or INCREMENT BY of\n"+
			"the sequences on PostgreSQL, so that no two databases draw the same id:\n\n"+
			"  nextid migrate shards up      --dsn mysql://root@a/shop --dsn mysql://root@b/shop --dsn mysql://root@c/shop\n"+
			"  nextid migrate shards status  --dsn … --dsn … --dsn …\n"+
			"  nextid migrate shards reshard --dsn … --dsn … --dsn … --add mysql://root@d/shop\n\n"+
			"Passwords come from the URLs or from "+server.ShardsPasswordEnv+". See docs/shards.md.")
	// one adds a command with its flags. run gets the URLs of the shards.
	one := func(use, short string, run func(cmd *cobra.Command, f *shardsFlags, urls []string, o shards.Options) error, register ...func(*shardsFlags, *pflag.FlagSet)) *cobra.Command {
		f := &shardsFlags{}
		sub := &cobra.Command{Use: use, Short: short, Args: noArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			f.rowsGiven = cmd.Flags().Changed("rows")
			o, err := p.shardsOptions(cmd, f)
			if err != nil {
				return err
			}
			return run(cmd, f, p.urls(f.dsn...), o)
		}}
		set := sub.Flags()
		set.StringArrayVar(&f.dsn, "dsn", nil, "a shard, as `URL`: mysql://USER@HOST/DATABASE or postgres://USER@HOST/DATABASE; once for each")
		set.StringArrayVar(&f.Exclude, "exclude", nil, "leave `NAME` alone: a table, table.column, sequence or schema, as psql's \\d takes it; may be repeated")
		for _, more := range register {
			more(f, set)
		}
		cmd.AddCommand(sub)
		return sub
	}
	one("up --dsn URL --dsn URL ...", "Give each database its offset, and move its counters above all ids so far",
		func(cmd *cobra.Command, _ *shardsFlags, urls []string, o shards.Options) error {
			return shards.Up(cmd.Context(), urls, o)
		}, (*shardsFlags).registerIncrement)
	one("down --dsn URL --dsn URL ...", "Bring the settings back that were before up; the databases' new ids can collide then",
		func(cmd *cobra.Command, _ *shardsFlags, urls []string, o shards.Options) error {
			return shards.Down(cmd.Context(), urls, o)
		}, (*shardsFlags).registerDry)
	one("print --dsn URL --dsn URL ...", "Print what up would run; looks at the databases and changes nothing",
		func(cmd *cobra.Command, _ *shardsFlags, urls []string, o shards.Options) error {
			return shards.Up(cmd.Context(), urls, o.Dry(p.stdout))
		}, (*shardsFlags).registerIncrement)
	one("reshard --dsn URL ... --add URL", "Add a database while the shards are in use",
		func(cmd *cobra.Command, f *shardsFlags, urls []string, o shards.Options) error {
			if f.add == "" {
				return usageFailure(cmd, "--add URL of the new shard is missing")
			}
			return shards.Reshard(cmd.Context(), urls, p.urls(f.add)[0], o)
		}, func(f *shardsFlags, set *pflag.FlagSet) { set.StringVar(&f.add, "add", "", "the new shard, as `URL`") },
		(*shardsFlags).registerChange, (*shardsFlags).registerDry)
	one("status --dsn URL --dsn URL ...", "Show settings and next ids; exit code 1 unless no two shards draw the same id",
		func(cmd *cobra.Command, _ *shardsFlags, urls []string, o shards.Options) error {
			r, err := shards.Status(cmd.Context(), urls, o)
			if err != nil {
				return err
			}
			return p.printShards(r, o)
		}, func(f *shardsFlags, set *pflag.FlagSet) {
			set.BoolVar(&f.rows, "rows", false, "look at all rows, however long it takes; --rows=false: at none (default: at the newest, for 5 s a table)")
		}).Long = "Show settings and next ids. Ends with exit code 1 when two shards will draw the same id, when rows have\n" +
		"one twice, or when something was not looked at. Changes nothing."
	return cmd
}

// printShards prints a report. It returns an error if there are problems, or if
// something was not checked.
func (p *program) printShards(r shards.Report, o shards.Options) error {
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "shard\tdatabase\tserver\tcolumn\toffset\tincrement\tnext id")
	for i, s := range r.States {
		number := "-"
		if s.Member != nil {
			number = fmt.Sprintf("%d of %d", s.Member.Number, s.Member.Of)
		}
		row := func(column string, draws shards.Progression, next string) {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\t%s\n", number, r.Names[i], s.Title, column, draws.Offset, draws.Increment, next)
		}
		if len(s.Lines) == 0 {
			row("-", s.Setting, "-")
		}
		for _, l := range s.Lines {
			row(l.Name, l.Draws, strconv.FormatInt(l.Next, 10))
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i, s := range r.States {
		for _, note := range s.Notes {
			fmt.Fprintf(p.stdout, "note: %s: %s\n", r.Names[i], note)
		}
	}
	p.printEach("problem", r.Problems)
	p.printEach("not looked at", r.Missed)
	p.printEach("left out", o.Exclude)
	switch {
	case len(r.Problems) > 0:
		what := fmt.Sprintf("%d problems", len(r.Problems))
		if len(r.Problems) == 1 {
			what = "1 problem"
		}
		return &server.Error{Message: what, Hint: "See docs/shards.md."}
	case len(r.Missed) > 0:
		return &server.Error{
			Message: "no two shards were seen to draw the same id, but not everything was looked at",
			Hint:    "--rows looks at all rows, --exclude NAME leaves something out.",
		}
	}
	text := "no two shards draw the same id"
	if o.Rows == shards.RowsNone {
		text = "no two shards will draw the same id; rows were not looked at (--rows=false)"
	}
	_, err := fmt.Fprintln(p.stdout, text)
	return err
}
