package mysql

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"nextid/generator"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// Maintain is CHECK, ANALYZE, OPTIMIZE, REPAIR and CHECKSUM TABLE (manual,
// "Table Statements"), which mysqlcheck sends. Tables that are computed are
// always sound, and there is nothing to rewrite.
func Maintain(p *engine.Planner, t *syntax.Maintain) *engine.QueryPlan {
	p.Private = true
	op := strings.ToLower(t.Verb)
	var rows [][]datum.Value
	for _, name := range t.Tables {
		database := databaseName(plannedState(p))
		if len(name) > 1 {
			database = sqlstate.Cut(name[len(name)-2], MaxDatabaseBytes)
		}
		label := database + "." + sqlstate.Cut(name.Last(), 128)
		_, err := p.Host.Table(p, name)
		switch {
		case op == "checksum":
			rows = append(rows, []datum.Value{datum.MakeText(label), datum.Null(datum.Int8)})
		case err != nil:
			rows = append(rows, textRow(label, op, "Error", "Table '"+label+"' doesn't exist"), textRow(label, op, "status", "Operation failed"))
		case op == "check":
			rows = append(rows, textRow(label, op, "status", "OK"))
		default:
			rows = append(rows, textRow(label, op, "note", "The storage engine for the table doesn't support "+op))
		}
	}
	columns := []engine.Column{engine.TextColumn("Table"), engine.TextColumn("Op"), engine.TextColumn("Msg_type"), engine.TextColumn("Msg_text")}
	if op == "checksum" {
		columns = []engine.Column{engine.TextColumn("Table"), {Name: "Checksum", Type: datum.Int8, TypeMod: -1, Len: 8}}
	}
	return &engine.QueryPlan{Columns: columns, Open: func(*engine.Exec) (engine.Rows, error) { return &engine.SliceRows{Rows: rows}, nil }}
}

// CallProcedure refuses CALL: there are functions only.
func CallProcedure(p *engine.Planner, t *syntax.CallProcedure) error {
	database, name := databaseName(plannedState(p)), sqlstate.Cut(t.Name.Last(), 64)
	if len(t.Name) > 1 {
		database = sqlstate.Cut(t.Name[len(t.Name)-2], MaxDatabaseBytes)
	}
	e := sqlstate.New(sqlstate.UndefinedFunction, "PROCEDURE %s.%s does not exist", database, name).WithMySQL(1305, "42000")
	if overloads(p, strings.ToLower(name)) != nil {
		return engine.At(t.Pos, e.WithHint("It is a function: SELECT %s(…).", name))
	}
	return engine.At(t.Pos, e.WithHint("nextid has functions only: SELECT next_id('orders')."))
}

// Help is HELP 'topic', as the mysql client sends it (manual, "HELP"): about
// nextid's own functions.
func Help(p *engine.Planner, t *syntax.Help) *engine.QueryPlan {
	pattern := strings.ToLower(t.Topic)
	var found []string
	for _, name := range slices.Sorted(maps.Keys(p.Catalog.Functions)) {
		if helpOf(p, name) != "" && (pattern == "contents" || pattern == "nextid" || name == pattern || likeName(name, pattern)) {
			found = append(found, name)
		}
	}
	var rows [][]datum.Value
	columns := []engine.Column{engine.TextColumn("name"), engine.TextColumn("is_it_category")}
	switch {
	case pattern == "contents" || pattern == "nextid":
		columns = append([]engine.Column{engine.TextColumn("source_category_name")}, columns...)
		for _, name := range found {
			rows = append(rows, textRow(t.Topic, name, "N"))
		}
	case len(found) == 1:
		columns = []engine.Column{engine.TextColumn("name"), engine.TextColumn("description"), engine.TextColumn("example")}
		rows = append(rows, textRow(found[0], helpOf(p, found[0])+"\n", "SELECT "+found[0]+"(…);\n"))
	default:
		for _, name := range found {
			rows = append(rows, textRow(name, "N"))
		}
	}
	return &engine.QueryPlan{Columns: columns, Open: func(*engine.Exec) (engine.Rows, error) { return &engine.SliceRows{Rows: rows}, nil }}
}

// helpOf describes one of nextid's own functions, a line for each form; it is
// "" for the others.
func helpOf(p *engine.Planner, name string) string {
	var lines []string
	for _, f := range p.Catalog.Functions[name] {
		if f.Schema == engine.NextidSchema && f.Help != "" {
			lines = append(lines, name+"("+strings.Join(argNames(f), ", ")+"): "+f.Help)
		}
	}
	return strings.Join(lines, "\n")
}

func argNames(f *engine.Function) []string {
	names := make([]string, len(f.Args))
	for i, a := range f.Args {
		if names[i] = a.Name; a.Name == "" {
			names[i] = datum.FormatType(a.Type, -1)
		}
	}
	return names
}

// likeName matches a name with a pattern of % and _.
func likeName(name, pattern string) bool {
	if len(pattern) > generator.MaxNameBytes {
		return false
	}
	re, err := engine.LikeToRegexp(pattern, `\`)
	if err != nil {
		return false
	}
	compiled, err := regexp.Compile("(?s)" + re)
	return err == nil && compiled.MatchString(name)
}
