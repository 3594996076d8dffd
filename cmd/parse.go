package cmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"nextid/generator"
	"nextid/generator/code"
	"nextid/generator/layout"
	"nextid/generator/snowflake"
	"nextid/generator/uuid"
	"nextid/server"
	"nextid/sqlfuncs/ids"
)

// isoMillis is the format of times in parse_id: ISO 8601, UTC, milliseconds.
const isoMillis = "2006-01-02T15:04:05.000Z"

// parseFlags holds the flags of the parse command.
type parseFlags struct {
	settings *server.Flags
	layout   string
	name     string
	json     bool
}

// check accepts one id, and at most one of --layout and --name.
func (f *parseFlags) check(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return usageFailure(cmd, "ID is missing")
	case len(args) > 1:
		return usageFailure(cmd, fmt.Sprintf("unexpected argument %q", args[1]))
	case f.layout != "" && f.name != "":
		return usageFailure(cmd, "--layout and --name exclude each other")
	}
	return nil
}

func (p *program) parseCommand() *cobra.Command {
	flags := &parseFlags{settings: p.build.Flags()}
	cmd := &cobra.Command{
		Use:   "parse ID",
		Short: "Take an id apart",
		Long: "Take an id apart: its time, its worker id and its sequence number. No server is asked. The\n" +
			"layout is --layout, or that of a generator (--name), which is read from the store while no\n" +
			"server uses it; its text form and scatter are undone. UUIDs, ULIDs, KSUIDs, XIDs and TypeIDs\n" +
			"need no layout. --json prints what parse_id returns.",
		Args: flags.check,
		RunE: func(cmd *cobra.Command, args []string) error {
			parts, err := p.explain(cmd.Context(), flags, args[0])
			if err != nil {
				return err
			}
			return p.printParts(args[0], parts, flags.json)
		},
	}
	set := cmd.Flags()
	set.StringVar(&flags.layout, "layout", "", "`NAME` of the layout (default "+layout.Default+")")
	set.StringVar(&flags.name, "name", "", "`GENERATOR` in the store whose layout is used")
	set.BoolVar(&flags.json, "json", false, "print JSON")
	flags.settings.Register(set, "data", "store")
	return cmd
}

// explain takes an id apart by the generator or the layout that the flags name.
// Without these flags the form of a text determines its kind.
func (p *program) explain(ctx context.Context, flags *parseFlags, id string) (generator.Parts, error) {
	if flags.name != "" {
		cfg, err := flags.settings.Load(p.environ)
		if err != nil {
			return generator.Parts{}, err
		}
		d, err := storedDefinition(ctx, cfg, flags.name)
		if err != nil {
			return generator.Parts{}, err
		}
		return p.explainDefined(ctx, d, id)
	}
	n, err := strconv.ParseInt(id, 10, 64)
	if u, ok := uuid.Parse(id); ok {
		return u.Explain(), nil
	}
	if parts, ok := uuid.ExplainText(id); ok && (err != nil || len(id) > 19) { // parse_id takes up to 19 digits for a number, too
		return parts, nil //nolint:nilerr // it is no number
	}
	if err != nil {
		return generator.Parts{}, &server.Error{
			Message: fmt.Sprintf("%q is not an id", id),
			Hint:    "An id is a whole number below 9223372036854775808, a UUID, ULID, KSUID, XID or TypeID, or a code of a generator (--name).",
		}
	}
	l, err := layout.Preset(cmp.Or(flags.layout, layout.Default))
	if err != nil {
		return generator.Parts{}, &server.Error{Message: err.Error(), Hint: "Give a layout of this version, or the name of a generator with --name.", Cause: err}
	}
	return l.Explain(n)
}

// explainDefined takes an id of a generator apart, without a running generator.
func (p *program) explainDefined(ctx context.Context, d generator.Definition, id string) (generator.Parts, error) {
	kinds := p.build.Kinds(layout.Default)
	if i := slices.IndexFunc(kinds, func(k generator.Kind) bool { return k.Name() == d.Kind }); i >= 0 {
		if k, ok := generator.KindAs[generator.TextKind](kinds[i]); ok {
			gen, err := k.Open(ctx, d) // kinds of texts need no store
			if err != nil {
				return generator.Parts{}, err
			}
			return gen.(generator.CodeGenerator).ExplainCode(id)
		}
	}
	reader, err := code.NewReader(d.Options)
	if err != nil {
		return generator.Parts{}, err
	}
	if d.Kind != snowflake.KindName && reader.Plain() {
		return generator.Parts{}, &server.Error{
			Message: fmt.Sprintf("generator %q is of kind %s", d.Name, d.Kind),
			Hint:    "Ids of this kind are plain numbers and hold nothing else.",
		}
	}
	n, err := reader.Number(id)
	if err != nil {
		return generator.Parts{}, err
	}
	if d.Kind != snowflake.KindName {
		return generator.Parts{Kind: d.Kind, Sequence: &n}, nil
	}
	var pinned layout.Pinned
	if err = json.Unmarshal(d.Options, &pinned); err == nil {
		var l *layout.Layout
		if l, err = pinned.Build(); err == nil {
			return l.Explain(n)
		}
	}
	return generator.Parts{}, fmt.Errorf("stored options of generator %q: %w", d.Name, err)
}

// storedDefinition reads a generator's definition from the store. An embedded store
// can be opened by one process at a time.
func storedDefinition(ctx context.Context, cfg server.Config, name string) (generator.Definition, error) {
	url := cfg.Store.In(cfg.Data)
	if _, err := os.Stat(url.File); !url.Shared() && errors.Is(err, fs.ErrNotExist) {
		return generator.Definition{}, &server.Error{
			Message: fmt.Sprintf("there is no store %s to look for generator %q in", url, name), Cause: err,
			Hint: "Name it with --data or --store, or give the layout with --layout.",
		}
	}
	if url.Shared() {
		cfg.Data = "" // only a server keeps high-water marks
	}
	store, err := cfg.OpenStore(ctx, slog.New(slog.DiscardHandler))
	if err != nil {
		return generator.Definition{}, &server.Error{
			Message: err.Error(), Cause: err,
			Hint: fmt.Sprintf("While a server uses the store, ask the server: SELECT parse_id(ID, '%s').", name),
		}
	}
	defer store.Close()
	return store.Defined(ctx, name)
}

// printParts prints the parts of an id as a table, or as parse_id does.
func (p *program) printParts(id string, parts generator.Parts, asJSON bool) error {
	if asJSON {
		_, err := fmt.Fprintln(p.stdout, ids.PartsJSON(parts))
		return err
	}
	at := ""
	if parts.Time != nil {
		at = parts.Time.UTC().Format(isoMillis)
	}
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	for _, field := range [][2]string{{"id", id}, {"kind", parts.Kind}, {"layout", parts.Layout}, {"time", at}} {
		if field[1] != "" {
			fmt.Fprintf(w, "%s\t%s\n", field[0], field[1])
		}
	}
	for _, field := range []struct {
		name  string
		value *int64
	}{
		{"datacenter", parts.Datacenter}, {"worker", parts.Worker}, {"rollback", parts.Rollback}, {"sequence", parts.Sequence}, {"field", parts.Field},
	} {
		if field.value != nil {
			fmt.Fprintf(w, "%s\t%d\n", field.name, *field.value)
		}
	}
	return w.Flush()
}
