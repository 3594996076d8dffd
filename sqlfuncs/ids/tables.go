package ids

import (
	"context"
	"errors"
	"io"
	"strings"

	"nextid/generator"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// idTables are the tables whose rows are ids: what postgres_fdw, dblink,
// FEDERATED and the like read.
var idTables = []engine.Table{
	{
		Schema: "public", Name: "ids", Help: "WHERE name = …: one row, a new id; without, the names, and no ids",
		Definition: " SELECT generators.name,\n    next_id(generators.name) AS id\n   FROM generators;",
		Columns:    engine.ColumnList("name:text! id:int8"),
		Keys:       []int{0}, Scan: scanIDs,
	},
	{
		Schema: "public", Name: "id_batch", Help: "WHERE name = … AND n = …: n rows, each a new id",
		Columns: engine.ColumnList("name:text! n:int8! id:int8!"),
		Keys:    []int{0, 1}, Scan: scanRuns("id_batch", 3, func(x *engine.Exec, run *idRun, row []datum.Value) error {
			id, err := run.Next(x, 1)
			row[2] = datum.MakeInt8(id.First)
			return err
		}),
	},
	{
		Schema: "public", Name: "id_ranges", Help: "WHERE name = … AND n = …: runs without holes that together hold n ids",
		Columns: engine.ColumnList("name:text! n:int8! first:int8! last:int8!"),
		Keys:    []int{0, 1}, Scan: scanRuns("id_ranges", 4, func(x *engine.Exec, run *idRun, row []datum.Value) error {
			r, err := run.contiguous(x)
			row[2], row[3] = datum.MakeInt8(r.First), datum.MakeInt8(r.Last())
			return err
		}),
	},
	{
		Schema: "public", Name: "id_fields", Help: "WHERE name = … AND field = …: one row, a new id whose field for the caller's bits holds that",
		Columns: engine.ColumnList("name:text! field:int8! id:int8!"),
		Keys:    []int{0, 1}, Scan: scanFields,
	},
	{
		Schema: "public", Name: "id_parts", Help: "WHERE id = … [AND layout = …]: takes an id apart",
		Columns: append(engine.ColumnList("id:int8! layout:text"), partColumns...),
		Keys:    []int{0, 1}, Scan: scanParts,
	},
}

// lookUp returns the entry of a name that a WHERE asks for, nil for a name that no generator
// can have, and for one that does not exist if it is not to be created.
func lookUp(x *engine.Exec, name string) (*generator.Entry, error) {
	if generator.CheckName(name) != nil {
		return nil, nil //nolint:nilerr // no generator can have the name
	}
	if !serverOf(x).NoTableCreate {
		return entry(x, name)
	}
	e, err := allowed(x, name)
	if Missing(err) {
		return nil, nil
	}
	return e, err
}

// scanIDs draws an id for each row when the row is read, not before: a LIMIT
// costs no more ids than it shows. Without a condition on the name it lists the
// names that the session may use, and draws nothing.
func scanIDs(x *engine.Exec, keys []engine.KeyValues) (engine.Rows, error) {
	row := []datum.Value{{}, datum.Null(datum.Int8)}
	names := keys[0].Values
	if !keys[0].Fixed {
		definitions, err := Registry(x).Numbered(x.Ctx)
		return engine.RowsFunc(func(x *engine.Exec) ([]datum.Value, error) {
			for len(definitions) > 0 {
				name := definitions[0].Name
				definitions = definitions[1:]
				if x.Host.Client().May(name) == nil {
					row[0] = datum.MakeText(name)
					return row, nil
				}
			}
			return nil, io.EOF
		}), err
	}
	return engine.RowsFunc(func(x *engine.Exec) ([]datum.Value, error) {
		for len(names) > 0 {
			row[0], names = names[0], names[1:]
			e, err := lookUp(x, row[0].Str)
			if err != nil {
				return nil, err
			}
			if e != nil {
				id, err := nextID(x, e)
				row[1] = datum.MakeInt8(id)
				return row, err
			}
		}
		return nil, io.EOF
	}), nil
}

// IDTable is NAME_id.
func IDTable(known *engine.Catalog, generatorName string) *engine.Table {
	return &engine.Table{
		Schema: "public", Name: generatorName + engine.IDTableSuffix, OID: known.OIDs.IDTable(generatorName), Kind: 'v', Help: "one row: a new id of " + generatorName,
		Definition: " SELECT next_id(" + syntax.QuoteLiteral(generatorName) + "::text) AS id;",
		Columns:    engine.ColumnList("id:int8!"),
		Scan: func(*engine.Exec, []engine.KeyValues) (engine.Rows, error) {
			done := false
			return engine.RowsFunc(func(x *engine.Exec) ([]datum.Value, error) {
				if done {
					return nil, io.EOF
				}
				done = true
				e, err := lookUp(x, generatorName)
				if err != nil {
					return nil, err
				}
				if e == nil {
					return nil, engine.NoRelation(generatorName + engine.IDTableSuffix)
				}
				id, err := nextID(x, e)
				x.IDRow[0] = datum.MakeInt8(id)
				return x.IDRow[:], err
			}), nil
		},
	}
}

// refuseField refuses runs of a generator whose ids have a field for the caller's bits:
// they hold 0 there. A database whose next_id(name, n) draws batches takes n for
// the count, where next_id of this server takes it for the field.
func refuseField(x *engine.Exec, e *generator.Entry) error {
	g, err := running(x, e)
	if err != nil {
		return err
	}
	f, ok := g.(generator.Fielder)
	if !ok {
		return nil
	}
	if _, bits := f.Field(); bits == 0 {
		return nil
	}
	return sqlstate.New(sqlstate.FeatureNotSupported, "a batch of generator %q would hold 0 in the field for the caller's bits", e.Name()).
		WithHint("Draw one id with its field: next_id_for('%s', field). For ids with 0 there: next_ids('%s', n).", e.Name(), e.Name())
}

// checkCount refuses counts outside 1 … IDsPerCall.
func checkCount(x *engine.Exec, n int64) error {
	limit := serverOf(x).PerCall
	if n >= 1 && n <= limit {
		return nil
	}
	err := sqlstate.New(sqlstate.InvalidParameterValue, "n must be between 1 and %d, not %d", limit, n)
	if n < 1 {
		return err.WithHint("n is how many ids are wanted.")
	}
	return err.WithHint("Call again for more ids, or raise ids_per_call in the configuration.")
}

// scanRuns makes the Scan of a table that draws runs of ids, one for each name and n of a
// WHERE. next fills in the columns of a row from the third on, or returns io.EOF after the
// last row of a run.
func scanRuns(table string, width int, next func(x *engine.Exec, run *idRun, row []datum.Value) error) func(*engine.Exec, []engine.KeyValues) (engine.Rows, error) {
	return func(x *engine.Exec, keys []engine.KeyValues) (engine.Rows, error) {
		if !keys[0].Fixed || !keys[1].Fixed {
			return nil, sqlstate.New(sqlstate.InvalidParameterValue, "%s needs conditions on name and n", table).
				WithHint("Write: SELECT … FROM %s WHERE name = 'orders' AND n = 100.", table)
		}
		counts := keys[1].Values
		for _, n := range counts {
			if err := checkCount(x, n.Int); err != nil && len(keys[0].Values) > 0 {
				return nil, err
			}
		}
		var entries []*generator.Entry
		for _, name := range keys[0].Values {
			e, err := lookUp(x, name.Str)
			if err == nil && e != nil && table == "id_ranges" {
				err = refuseField(x, e)
			}
			if err != nil {
				return nil, err
			}
			if e != nil {
				entries = append(entries, e)
			}
		}
		i, run, row := 0, idRun{}, make([]datum.Value, width)
		rows := func(x *engine.Exec) ([]datum.Value, error) {
			for ; i < len(entries)*len(counts); i++ {
				if run.entry == nil {
					run = idRun{entry: entries[i/len(counts)], left: counts[i%len(counts)].Int}
					row[0], row[1] = datum.MakeText(run.entry.Name()), datum.MakeInt8(run.left)
				}
				if err := next(x, &run, row); !errors.Is(err, io.EOF) {
					return row, err
				}
				run = idRun{}
			}
			return nil, io.EOF
		}
		return engine.ClosingRows{RowsFunc: rows, OnClose: func() { run.Close() }}, nil
	}
}

// eachPair yields a row for each pair of the values that a WHERE allows for two columns.
func eachPair(a, b []datum.Value, row func(x *engine.Exec, a, b datum.Value) ([]datum.Value, error)) engine.Rows {
	i := 0
	return engine.RowsFunc(func(x *engine.Exec) ([]datum.Value, error) {
		if i == len(a)*len(b) {
			return nil, io.EOF
		}
		i++
		return row(x, a[(i-1)/len(b)], b[(i-1)%len(b)])
	})
}

// scanFields draws an id with the caller's bits for each row when the row is read.
func scanFields(_ *engine.Exec, keys []engine.KeyValues) (engine.Rows, error) {
	if !keys[0].Fixed || !keys[1].Fixed {
		return nil, sqlstate.New(sqlstate.InvalidParameterValue, "id_fields needs conditions on name and field").
			WithHint("Write: SELECT id FROM id_fields WHERE name = 'posts' AND field = 713.")
	}
	return eachPair(keys[0].Values, keys[1].Values, func(x *engine.Exec, name, field datum.Value) ([]datum.Value, error) {
		id, err := drawWith(x, name.Str, field.Int)
		return []datum.Value{name, field, id}, err
	}), nil
}

// scanParts answers id_parts: it explains the ids that the WHERE names.
func scanParts(_ *engine.Exec, keys []engine.KeyValues) (engine.Rows, error) {
	if !keys[0].Fixed {
		return nil, sqlstate.New(sqlstate.InvalidParameterValue, "id_parts needs a condition on id").
			WithHint("Write: SELECT * FROM id_parts WHERE id = 123.")
	}
	by := []datum.Value{{}}
	if keys[1].Fixed {
		by = keys[1].Values
	}
	return eachPair(keys[0].Values, by, func(x *engine.Exec, id, by datum.Value) ([]datum.Value, error) {
		parts, err := explain(x, id, by, false)
		if !by.Valid {
			by = datum.MakeText(parts.Layout)
		}
		return append([]datum.Value{id, by}, partValues(parts)...), err
	}), nil
}

// Table finds a table by name. NAME_id is a table of one row for every
// generator name.
func Table(known *engine.Catalog, name syntax.Name) (*engine.Table, error) {
	if t := known.Table(name); t != nil {
		return t, nil
	}
	last := name.Last()
	public := len(name) == 1 || name[len(name)-2] == "public" || name[len(name)-2] == engine.NextidSchema
	if generatorName, ok := strings.CutSuffix(last, engine.IDTableSuffix); ok && public && generator.CheckName(generatorName) == nil {
		return IDTable(known, generatorName), nil
	}
	return nil, engine.NoRelation(strings.Join(name, ".")).
		WithHint("Tables to read ids from: ids, id_batch, id_ranges, id_fields, id_parts, and NAME_id for a generator NAME.")
}

// IsGenerator reports whether a name is one of a generator that exists. Only
// tables that are none of ours are looked up so.
func IsGenerator(p *engine.Planner, name string) bool {
	if p.Host.Registry().Lookup([]byte(name)) != nil {
		return true
	}
	p.Host.Waits()
	ctx, cancel := context.WithTimeout(context.Background(), lookupTimeout)
	defer cancel()
	_, err := p.Host.Registry().Existing(ctx, name)
	return err == nil
}
