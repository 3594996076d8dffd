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
	"strconv"

	"github.com/spf13/cobra"

	"nextid/generator"
	"nextid/generator/code"
	"nextid/generator/layout"
	"nextid/generator/snowflake"
	"nextid/generator/uuid"
	"nextid/server"
	"nextid/sqlfuncs/ids"
)

func (p *program) parseCommand() *cobra.Command {
	var layoutName, name string
	settings, asJSON := p.build.Flags(), false
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
			case layoutName != "" && name != "":
				return usageFailure(cmd, "--layout and --name exclude each other")
			}
			var parts generator.Parts
			var err error
			if name == "" {
				parts, err = explain(args[0], layoutName)
			} else {
				var config server.Config
				if config, err = settings.Load(p.environ); err == nil {
					parts, err = p.explainDefined(cmd.Context(), config, name, args[0])
				}
			}
			switch {
			case err != nil:
				return err
			case asJSON:
				p.printf("%s\n", ids.PartsJSON(parts))
			default:
				p.printParts(args[0], parts)
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&layoutName, "layout", "", "`NAME` of the layout (default "+layout.Default+")")
	flags.StringVar(&name, "name", "", "`GENERATOR` in the store whose layout is used")
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	settings.Register(flags, "data", "store")
	return cmd
}

// explain takes an id apart. The form of a text determines its kind, and a number has
// the layout of that name.
func explain(id, layoutName string) (generator.Parts, error) {
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
	l, err := layout.Preset(cmp.Or(layoutName, layout.Default))
	if err != nil {
		return generator.Parts{}, &server.Error{Message: err.Error(), Hint: "Give a layout of this version, or the name of a generator with --name.", Cause: err}
	}
	return l.Explain(n)
}

// explainDefined takes an id of a generator of the store apart, without a running
// generator.
func (p *program) explainDefined(ctx context.Context, config server.Config, name, id string) (generator.Parts, error) {
	d, err := storedDefinition(ctx, config, name)
	if err != nil {
		return generator.Parts{}, err
	}
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

// storedDefinition reads the definition of a generator from the store. An embedded
// store can be opened by one process at a time.
func storedDefinition(ctx context.Context, config server.Config, name string) (generator.Definition, error) {
	url := config.Store.In(config.Data)
	if _, err := os.Stat(url.File); !url.Shared() && errors.Is(err, fs.ErrNotExist) {
		return generator.Definition{}, &server.Error{
			Message: fmt.Sprintf("there is no store %s to look for generator %q in", url, name), Cause: err,
			Hint: "Name it with --data or --store, or give the layout with --layout.",
		}
	}
	if url.Shared() {
		config.Data = "" // only a server keeps high-water marks
	}
	store, err := config.OpenStore(ctx, slog.New(slog.DiscardHandler))
	if err != nil {
		return generator.Definition{}, &server.Error{
			Message: err.Error(), Cause: err,
			Hint: fmt.Sprintf("While a server uses the store, ask the server: SELECT parse_id(ID, '%s').", name),
		}
	}
	defer store.Close()
	return store.Defined(ctx, name)
}

// printParts prints the parts of an id as a table.
func (p *program) printParts(id string, parts generator.Parts) {
	table := []string{"id\t" + id}
	add := func(name, value string) {
		if value != "" {
			table = append(table, name+"\t"+value)
		}
	}
	number := func(name string, value *int64) {
		if value != nil {
			add(name, strconv.FormatInt(*value, 10))
		}
	}
	add("kind", parts.Kind)
	add("layout", parts.Layout)
	if parts.Time != nil {
		add("time", parts.Time.UTC().Format("2006-01-02T15:04:05.000Z")) // as parse_id does
	}
	number("datacenter", parts.Datacenter)
	number("worker", parts.Worker)
	number("rollback", parts.Rollback)
	number("sequence", parts.Sequence)
	number("field", parts.Field)
	p.printTable(table...)
}
