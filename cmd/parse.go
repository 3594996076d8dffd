package cmd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"nextid/generator"
	"nextid/generator/layout"
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
			"need no layout. --json prints what parse_id returns. Write -- before a negative id.",
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
					parts, err = config.Explain(cmd.Context(), name, args[0])
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
			What: fmt.Sprintf("%q is not an id", id),
			Hint: "An id is a whole number below 9223372036854775808, a UUID, ULID, KSUID, XID or TypeID, or a code of a generator (--name).",
		}
	}
	l, err := layout.Preset(cmp.Or(layoutName, layout.Default))
	if err != nil {
		return generator.Parts{}, &server.Error{What: err.Error(), Hint: "Give a layout of this version, or the name of a generator with --name.", Err: err}
	}
	return l.Explain(n)
}

// shownParts lists the keys of parse_id that the table of an id shows.
var shownParts = []string{"kind", "layout", "time", "datacenter", "worker", "rollback", "sequence", "field"}

// printParts prints the parts of an id as a table.
func (p *program) printParts(id string, parts generator.Parts) {
	var values map[string]json.RawMessage
	_ = json.Unmarshal([]byte(ids.PartsJSON(parts)), &values) // it is JSON
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "id\t%s\n", id)
	for _, name := range shownParts {
		if value, ok := values[name]; ok {
			fmt.Fprintf(w, "%s\t%s\n", name, strings.Trim(string(value), `"`))
		}
	}
	_ = w.Flush() // run reports the error
}
