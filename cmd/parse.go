package cmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
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

// parseFlags holds the flags of the parse command.
type parseFlags struct {
	settings     *server.Flags
	layout, name string
}

func (p *program) parseCommand() *cobra.Command {
	flags, asJSON := &parseFlags{settings: p.build.Flags()}, false
	cmd := &cobra.Command{
		Use:   "parse ID",
		Short: "Take an id apart",
		Long: "Take an id apart: its time, its worker id and its sequence number. No server is asked. The\n" +
			"layout is --layout, or that of a generator (--name), which is read from the store while no\n" +
			"server uses it; its text form and scatter are undone. UUIDs, ULIDs, KSUIDs, XIDs and TypeIDs\n" +
			"need no layout. --json prints what parse_id returns.",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return usageFailure(cmd, "ID is missing")
			case len(args) > 1:
				return usageFailure(cmd, fmt.Sprintf("unexpected argument %q", args[1]))
			case flags.layout != "" && flags.name != "":
				return usageFailure(cmd, "--layout and --name exclude each other")
			}
			parts, err := p.explain(cmd.Context(), flags, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				_, err := fmt.Fprintln(p.stdout, ids.PartsJSON(parts))
				return err
			}
			return printParts(p.stdout, args[0], parts)
		},
	}
	set := cmd.Flags()
	set.StringVar(&flags.layout, "layout", "", "`NAME` of the layout (default "+layout.Default+")")
	set.StringVar(&flags.name, "name", "", "`GENERATOR` in the store whose layout is used")
	set.BoolVar(&asJSON, "json", false, "print JSON")
	flags.settings.Register(set, "data", "store")
	return cmd
}

// explain takes an id apart by the generator or the layout that the flags name.
// Without these flags the form of a text determines its kind.
func (p *program) explain(ctx context.Context, flags *parseFlags, id string) (generator.Parts, error) {
	if flags.name != "" {
		d, err := p.storedDefinition(ctx, flags)
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
	for _, kind := range p.build.Kinds(server.Parts{Layout: layout.Default}) {
		if k, texts := generator.KindAs[generator.TextKind](kind); texts && kind.Name() == d.Kind {
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

// storedDefinition reads the definition of flags.name from the store. An embedded
// store can be opened by one process at a time.
func (p *program) storedDefinition(ctx context.Context, flags *parseFlags) (generator.Definition, error) {
	cfg, err := flags.settings.Load(p.environ)
	if err != nil {
		return generator.Definition{}, err
	}
	url := cfg.Store.In(cfg.Data)
	if _, err := os.Stat(url.File); !url.Shared() && errors.Is(err, fs.ErrNotExist) {
		return generator.Definition{}, &server.Error{
			Message: fmt.Sprintf("there is no store %s to look for generator %q in", url, flags.name), Cause: err,
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
			Hint: fmt.Sprintf("While a server uses the store, ask the server: SELECT parse_id(ID, '%s').", flags.name),
		}
	}
	defer store.Close()
	return store.Defined(ctx, flags.name)
}

// printParts prints the parts of an id as a table.
func printParts(to io.Writer, id string, parts generator.Parts) error {
	at := ""
	if parts.Time != nil {
		at = parts.Time.UTC().Format("2006-01-02T15:04:05.000Z") // as parse_id does
	}
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
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
