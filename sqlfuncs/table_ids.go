package sqlfuncs

import (
	"errors"
	"io"

	"nextid/generator"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// idTables are the tables whose rows are ids: what postgres_fdw, dblink,
// FEDERATED and the like read.
var idTables = []table{
	{
		schema: "public", name: "ids", help: "one row a generator; reading a row draws an id",
		definition: " SELECT generators.name,\n    next_id(generators.name) AS id\n   FROM generators;",
		columns:    columnList("name:text! id:int8!"),
		keys:       []int{0}, scan: scanIDs,
	},
	{
		schema: "public", name: "id_batch", help: "WHERE name = … AND n = …: n rows, each a new id",
		columns: columnList("name:text! n:int8! id:int8!"),
		keys:    []int{0, 1}, scan: scanBatch,
	},
	{
		schema: "public", name: "id_ranges", help: "WHERE name = … AND n = …: contiguous runs that together hold n ids",
		columns: columnList("name:text! n:int8! first:int8! last:int8!"),
		keys:    []int{0, 1}, scan: scanRanges,
	},
	{
		schema: "public", name: "id_parts", help: "WHERE id = … [AND layout = …]: takes an id apart",
		columns: append(columnList("id:int8! layout:text"), partColumns...),
		keys:    []int{0, 1}, scan: scanParts,
	},
}

// generatorNames lists the names a scan is about: those that the WHERE asks
// for, else all in the store that the session may use.
func generatorNames(x *exec, wanted keyValues) ([]string, error) {
	var names []string
	if wanted.fixed {
		for _, v := range wanted.values {
			names = append(names, v.Str)
		}
		return names, nil
	}
	definitions, err := x.registry().Numbered(x.ctx)
	for _, d := range definitions {
		if sessionOf(x).may(d.Name) == nil {
			names = append(names, d.Name)
		}
	}
	return names, err
}

// scanIDs draws an id for each row when the row is read, not before: a LIMIT
// costs no more ids than it shows.
func scanIDs(x *exec, keys []keyValues) (rowIter, error) {
	names, err := generatorNames(x, keys[0])
	if err != nil {
		return nil, err
	}
	row := make([]datum.Value, 2)
	return funcRows(func(x *exec) ([]datum.Value, error) {
		if len(names) == 0 {
			return nil, io.EOF
		}
		name := names[0]
		names = names[1:]
		e, err := x.entry(name)
		if err != nil {
			return nil, err
		}
		id, err := x.nextID(e)
		row[0], row[1] = datum.MakeText(name), datum.MakeInt8(id)
		return row, err
	}), nil
}

// singleIDTable is NAME_id.
func (s *Server) singleIDTable(name, generatorName string) *table {
	return &table{
		schema: "public", name: name, oid: s.idTableOID(generatorName), kind: 'v', help: "one row: a new id of " + generatorName,
		definition: " SELECT next_id(" + quoteLiteral(generatorName) + "::text) AS id;",
		columns:    columnList("id:int8!"),
		scan: func(*exec, []keyValues) (rowIter, error) {
			done := false
			return funcRows(func(x *exec) ([]datum.Value, error) {
				if done {
					return nil, io.EOF
				}
				done = true
				e, err := x.entry(generatorName)
				if err != nil {
					return nil, err
				}
				id, err := x.nextID(e)
				x.idRow[0] = datum.MakeInt8(id)
				return x.idRow[:], err
			}), nil
		},
	}
}

// batches lists the (name, n) pairs of a WHERE on id_batch or id_ranges.
func batches(x *exec, keys []keyValues, table string) (runs []batch, err error) {
	if !keys[0].fixed || !keys[1].fixed {
		return nil, sqlstate.New(sqlstate.InvalidParameterValue, "%s needs conditions on name and n", table).
			WithHint("Write: SELECT … FROM %s WHERE name = 'orders' AND n = 100.", table)
	}
	for _, name := range keys[0].values {
		for _, n := range keys[1].values {
			if err := checkCount(x, n.Int); err != nil {
				return nil, err
			}
			e, err := x.entry(name.Str)
			if err != nil {
				return nil, err
			}
			runs = append(runs, batch{name: name, n: n, run: &idRun{entry: e, left: n.Int}})
		}
	}
	return runs, nil
}

type batch struct {
	name, n datum.Value
	run     *idRun
}

// checkCount refuses counts outside 1 … IDsPerCall.
func checkCount(x *exec, n int64) error {
	limit := sessionOf(x).server.limits.IDsPerCall
	if n >= 1 && n <= limit {
		return nil
	}
	err := sqlstate.New(sqlstate.InvalidParameterValue, "n must be between 1 and %d, not %d", limit, n)
	if n < 1 {
		return err.WithHint("n is how many ids are wanted.")
	}
	return err.WithHint("Call again for more ids, or raise ids_per_call in the configuration.")
}

func scanBatch(x *exec, keys []keyValues) (rowIter, error) {
	runs, err := batches(x, keys, "id_batch")
	if err != nil {
		return nil, err
	}
	row := make([]datum.Value, 3)
	var ids rowIter
	return funcRows(func(x *exec) ([]datum.Value, error) {
		for len(runs) > 0 {
			b := runs[0]
			if ids == nil {
				ids = b.run.rows()
			}
			r, err := ids.next(x)
			if errors.Is(err, io.EOF) {
				runs, ids = runs[1:], nil
				continue
			}
			if err != nil {
				return nil, err
			}
			row[0], row[1], row[2] = b.name, b.n, r[0]
			return row, nil
		}
		return nil, io.EOF
	}), nil
}

func scanRanges(x *exec, keys []keyValues) (rowIter, error) {
	runs, err := batches(x, keys, "id_ranges")
	if err != nil {
		return nil, err
	}
	row := make([]datum.Value, 4)
	var next func(x *exec) (generator.Range, error)
	return funcRows(func(x *exec) ([]datum.Value, error) {
		for len(runs) > 0 {
			b := runs[0]
			if next == nil {
				next = contiguousRuns(b.run)
			}
			r, err := next(x)
			if errors.Is(err, io.EOF) {
				runs, next = runs[1:], nil
				continue
			}
			if err != nil {
				return nil, err
			}
			row[0], row[1] = b.name, b.n
			row[2], row[3] = datum.MakeInt8(r.First), datum.MakeInt8(r.Last())
			return row, nil
		}
		return nil, io.EOF
	}), nil
}

// contiguousRuns draws runs whose ids follow one another without a hole. A
// generator with another step gives runs of one.
func contiguousRuns(run *idRun) func(x *exec) (generator.Range, error) {
	var rest generator.Range
	return func(x *exec) (generator.Range, error) {
		if rest.Count == 0 {
			var err error
			if rest, err = run.next(x, run.left); err != nil {
				return rest, err
			}
		}
		r := rest
		if r.Step != 1 {
			r.Count = 1
		}
		rest.First, rest.Count = rest.First+r.Count*rest.Step, rest.Count-r.Count
		return r, nil
	}
}

// scanParts answers id_parts: it explains the ids that the WHERE names.
func scanParts(x *exec, keys []keyValues) (rowIter, error) {
	if !keys[0].fixed {
		return nil, sqlstate.New(sqlstate.InvalidParameterValue, "id_parts needs a condition on id").
			WithHint("Write: SELECT * FROM id_parts WHERE id = 123.")
	}
	by := []datum.Value{{}}
	if keys[1].fixed {
		by = keys[1].values
	}
	var rows [][]datum.Value
	for _, id := range keys[0].values {
		for _, b := range by {
			parts, err := explain(x, id, b)
			if err != nil {
				return nil, err
			}
			layout := datum.MakeText(parts.Layout)
			if b.Valid {
				layout = b
			}
			rows = append(rows, append([]datum.Value{id, layout}, partValues(parts)...))
		}
	}
	return &sliceRows{rows: rows}, nil
}
