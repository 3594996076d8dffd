package cmd

import (
	"fmt"
	"os"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"nextid/migrations/shards"
	"nextid/server"
)

// shardsFlags are the flags of migrate shards.
type shardsFlags struct {
	dsn    []string
	script string
	scope  string
	shards.Options
}

func (f *shardsFlags) registerDSN(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.dsn, "dsn", nil, "a shard, as `URL`: mysql://USER@HOST/DATABASE or postgres://USER@HOST/DATABASE; once for each")
	cmd.Flags().StringArrayVar(&f.Exclude, "exclude", nil, "leave `NAME` alone: a table, table.column, sequence or schema; may be repeated")
}

func (f *shardsFlags) registerChange(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.script, "script", "", "`FILE` of SQL that makes the tables; it runs on each database that becomes a shard")
	cmd.Flags().DurationVar(&f.Wait, "wait", time.Minute, "how long to wait for sessions that are older than the change, and for locks")
	cmd.Flags().BoolVar(&f.Kill, "kill", false, "end the older sessions that are left then")
	cmd.Flags().BoolVar(&f.Guard, "guard", false, "MySQL and MariaDB: make triggers that refuse ids of sessions with other settings")
	cmd.Flags().StringVar(&f.scope, "scope", "", "of the settings of MySQL and MariaDB: persist, global or session (default: persist where that is possible, else global)")
}

// urls are the given URLs with the password from the environment.
func (p *program) urls(given ...string) []string {
	var urls []string
	for _, url := range given {
		urls = append(urls, server.StoreURL{URL: url}.WithPassword(server.LookupEnv(p.environ, server.ShardsPasswordEnv)))
	}
	return urls
}

// options reads the rest of the flags.
func (p *program) shardsOptions(cmd *cobra.Command, f *shardsFlags) (shards.Options, error) {
	o := f.Options
	o.Out = p.stdout
	if len(f.dsn) == 0 {
		return o, usageFailure(cmd, "--dsn URL of a shard is missing")
	}
	switch o.Scope = shards.Scope(f.scope); o.Scope {
	case "", shards.Persist, shards.Global, shards.Session:
	default:
		return o, usageFailure(cmd, "--scope is one of persist, global and session")
	}
	if f.script != "" {
		text, err := os.ReadFile(f.script)
		if err != nil {
			return o, err
		}
		o.Script = string(text)
	}
	return o, nil
}

func (p *program) migrateShardsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "shards",
		Short: "Let several databases draw ids by themselves that never collide",
		Long: "Set auto_increment_increment and auto_increment_offset on MySQL and MariaDB, or INCREMENT BY of\n" +
			"the sequences on PostgreSQL, so that no two databases draw the same id:\n\n" +
			"  nextid migrate shards up      --dsn mysql://root@a/shop --dsn mysql://root@b/shop --dsn mysql://root@c/shop\n" +
			"  nextid migrate shards status  --dsn … --dsn … --dsn …\n" +
			"  nextid migrate shards reshard --dsn … --dsn … --dsn … --add mysql://root@d/shop\n\n" +
			"Passwords come from the URLs or from " + server.ShardsPasswordEnv + ". See docs/shards.md.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(p.shardsUpCommand(), p.shardsDownCommand(), p.shardsStatusCommand(), p.shardsPrintCommand(), p.reshardCommand())
	return cmd
}

func (p *program) shardsUpCommand() *cobra.Command {
	f := &shardsFlags{}
	cmd := &cobra.Command{
		Use:   "up --dsn URL --dsn URL ...",
		Short: "Give each database its offset, and move its counters above all ids so far",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := p.shardsOptions(cmd, f)
			if err != nil {
				return err
			}
			return shards.Up(cmd.Context(), p.urls(f.dsn...), o)
		},
	}
	f.registerDSN(cmd)
	f.registerChange(cmd)
	f.registerIncrement(cmd)
	return cmd
}

func (f *shardsFlags) registerIncrement(cmd *cobra.Command) {
	cmd.Flags().Int64Var(&f.Increment, "increment", 0, "`N` of all shards (default: as many as there are); a greater one leaves room for more")
}

func registerDry(cmd *cobra.Command, dry *bool) {
	cmd.Flags().BoolVar(dry, "dry-run", false, "print what would be run and where, and change nothing")
}

func (p *program) shardsDownCommand() *cobra.Command {
	f := &shardsFlags{}
	var dry bool
	cmd := &cobra.Command{
		Use:   "down --dsn URL --dsn URL ...",
		Short: "Bring the settings back that were before up; the databases' new ids can collide then",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := p.shardsOptions(cmd, f)
			if err != nil {
				return err
			}
			if dry {
				o = o.Dry(p.stdout)
			}
			return shards.Down(cmd.Context(), p.urls(f.dsn...), o)
		},
	}
	f.registerDSN(cmd)
	registerDry(cmd, &dry)
	return cmd
}

func (p *program) shardsPrintCommand() *cobra.Command {
	f := &shardsFlags{}
	cmd := &cobra.Command{
		Use:   "print --dsn URL --dsn URL ...",
		Short: "Print what up would run; looks at the databases and changes nothing",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := p.shardsOptions(cmd, f)
			if err != nil {
				return err
			}
			return shards.Up(cmd.Context(), p.urls(f.dsn...), o.Dry(p.stdout))
		},
	}
	f.registerDSN(cmd)
	f.registerChange(cmd)
	f.registerIncrement(cmd)
	return cmd
}

func (p *program) reshardCommand() *cobra.Command {
	f := &shardsFlags{}
	var add string
	var dry bool
	cmd := &cobra.Command{
		Use:   "reshard --dsn URL ... --add URL",
		Short: "Add a database while the shards are in use",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := p.shardsOptions(cmd, f)
			if err != nil {
				return err
			}
			if add == "" {
				return usageFailure(cmd, "--add URL of the new shard is missing")
			}
			if dry {
				o = o.Dry(p.stdout)
			}
			return shards.Reshard(cmd.Context(), p.urls(f.dsn...), p.urls(add)[0], o)
		},
	}
	f.registerDSN(cmd)
	cmd.Flags().StringVar(&add, "add", "", "the new shard, as `URL`")
	f.registerChange(cmd)
	registerDry(cmd, &dry)
	return cmd
}

func (p *program) shardsStatusCommand() *cobra.Command {
	f := &shardsFlags{}
	var rows bool
	cmd := &cobra.Command{
		Use:   "status --dsn URL --dsn URL ...",
		Short: "Show settings and next ids; exit code 1 unless no two shards draw the same id",
		Long: "Show settings and next ids. Ends with exit code 1 when two shards will draw the same id, when rows have\n" +
			"one twice, or when something was not looked at. Changes nothing.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := p.shardsOptions(cmd, f)
			if err != nil {
				return err
			}
			switch {
			case rows:
				o.Rows = shards.RowsAll
			case cmd.Flags().Changed("rows"):
				o.Rows = shards.RowsNone
			}
			r, err := shards.Status(cmd.Context(), p.urls(f.dsn...), o)
			if err != nil {
				return err
			}
			return p.printShards(r, o)
		},
	}
	f.registerDSN(cmd)
	cmd.Flags().BoolVar(&rows, "rows", false, "look at all rows, however long it takes; --rows=false: at none (default: at the newest, for 5 s a table)")
	return cmd
}

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
	for _, problem := range r.Problems {
		fmt.Fprintf(p.stdout, "problem: %s\n", problem)
	}
	for _, missed := range r.Missed {
		fmt.Fprintf(p.stdout, "not looked at: %s\n", missed)
	}
	for _, name := range o.Exclude {
		fmt.Fprintf(p.stdout, "left out: %s\n", name)
	}
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
