package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"nextid/generator"
	"nextid/generator/layout"
	"nextid/generator/snowflake"
)

// isoMillis prints times as parse_id does: ISO 8601, UTC, milliseconds.
const isoMillis = "2006-01-02T15:04:05.000Z"

// parseFlags are the flags of the parse command.
type parseFlags struct {
	settings settingFlags
	layout   string
	name     string
	json     bool
}

// check accepts exactly one id, and one way to name its layout.
func (f *parseFlags) check(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return usageFailure(cmd, "which id?")
	case len(args) > 1:
		return usageFailure(cmd, fmt.Sprintf("unexpected argument %q", args[1]))
	case f.layout != "" && f.name != "":
		return usageFailure(cmd, "--layout and --name exclude each other")
	}
	return nil
}

func (p *program) parseCommand() *cobra.Command {
	flags := &parseFlags{}
	cmd := &cobra.Command{
		Use:   "parse ID",
		Short: "Take an id apart",
		Long: "Take an id apart: when, by which worker and as which one in its tick it was made. No server is\n" +
			"asked. The layout is --layout, or that of a generator (--name), which is read from the store\n" +
			"while no server uses it. --json prints what parse_id returns.",
		Args: flags.check,
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil {
				return &failure{
					what: fmt.Sprintf("%q is not an id", args[0]),
					hint: "An id is a whole number below 9223372036854775808.",
				}
			}
			l, err := p.parseLayout(cmd.Context(), flags)
			if err != nil {
				return err
			}
			parts, err := l.Explain(id)
			if err != nil {
				return err
			}
			return p.printParts(id, parts, flags.json)
		},
	}
	set := cmd.Flags()
	set.StringVar(&flags.layout, "layout", "", "`NAME` of the layout (default "+layout.Default+")")
	set.StringVar(&flags.name, "name", "", "`GENERATOR` in the store whose layout is used")
	set.BoolVar(&flags.json, "json", false, "print JSON")
	flags.settings.register(set, "data", "store")
	return cmd
}

// parseLayout is the layout that the command line names.
func (p *program) parseLayout(ctx context.Context, flags *parseFlags) (*layout.Layout, error) {
	if flags.name != "" {
		cfg, err := loadConfig(flags.settings.file(p.environ), p.environ, flags.settings.given)
		if err != nil {
			return nil, err
		}
		return storedLayout(ctx, cfg, flags.name)
	}
	l, err := layout.Preset(cmp.Or(flags.layout, layout.Default))
	if err != nil {
		return nil, &failure{what: err.Error(), hint: "Give a layout of this version, or the name of a generator with --name.", cause: err}
	}
	return l, nil
}

// storedLayout reads the layout of a generator from the store. The embedded
// store can be read by one process at a time only.
func storedLayout(ctx context.Context, cfg Config, name string) (*layout.Layout, error) {
	url := cfg.Store.in(cfg.Data)
	if _, err := os.Stat(url.File); !url.Shared() && errors.Is(err, fs.ErrNotExist) {
		return nil, &failure{
			what: fmt.Sprintf("there is no store %s to look for generator %q in", url, name), cause: err,
			hint: "Name it with --data or --store, or give the layout with --layout.",
		}
	}
	if url.Shared() {
		cfg.Data = "" // it is only read: no witness is kept
	}
	store, err := openStore(ctx, cfg, false, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, &failure{
			what: err.Error(), cause: err,
			hint: fmt.Sprintf("While a server uses the store, ask the server: SELECT parse_id(ID, '%s').", name),
		}
	}
	defer store.Close()
	d, err := store.Defined(ctx, name)
	if err != nil {
		return nil, err
	}
	if d.Kind != snowflake.KindName {
		return nil, &failure{
			what: fmt.Sprintf("generator %q is of kind %s", name, d.Kind),
			hint: "Ids of this kind are plain numbers and hold nothing else.",
		}
	}
	return definedLayout(d)
}

// definedLayout builds the layout that a snowflake's options pin.
func definedLayout(d generator.Definition) (*layout.Layout, error) {
	var o struct {
		Layout string
		Fields []layout.Field
		Epoch  time.Time
		Unit   string
	}
	if err := json.Unmarshal(d.Options, &o); err != nil {
		return nil, fmt.Errorf("stored options of generator %q: %w", d.Name, err)
	}
	unit, err := time.ParseDuration(o.Unit)
	if err != nil {
		return nil, fmt.Errorf("stored options of generator %q: %w", d.Name, err)
	}
	return layout.New(o.Layout, o.Fields, o.Epoch, unit)
}

// printedParts is the JSON form of generator.Parts, that of parse_id.
type printedParts struct {
	Kind       string `json:"kind"`
	Layout     string `json:"layout,omitempty"`
	Time       string `json:"time,omitempty"`
	Datacenter *int64 `json:"datacenter,omitempty"`
	Worker     *int64 `json:"worker,omitempty"`
	Rollback   *int64 `json:"rollback,omitempty"`
	Sequence   *int64 `json:"sequence,omitempty"`
}

func (p *program) printParts(id int64, parts generator.Parts, asJSON bool) error {
	printed := printedParts{
		Kind: parts.Kind, Layout: parts.Layout,
		Datacenter: parts.Datacenter, Worker: parts.Worker, Rollback: parts.Rollback, Sequence: parts.Sequence,
	}
	if parts.Time != nil {
		printed.Time = parts.Time.UTC().Format(isoMillis)
	}
	if asJSON {
		return json.NewEncoder(p.stdout).Encode(printed)
	}
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "id\t%d\nkind\t%s\nlayout\t%s\ntime\t%s\n", id, printed.Kind, printed.Layout, printed.Time)
	for _, field := range []struct {
		name  string
		value *int64
	}{
		{"datacenter", parts.Datacenter}, {"worker", parts.Worker}, {"rollback", parts.Rollback}, {"sequence", parts.Sequence},
	} {
		if field.value != nil {
			fmt.Fprintf(w, "%s\t%d\n", field.name, *field.value)
		}
	}
	return w.Flush()
}
