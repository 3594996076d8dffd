package pgcatalog

import (
	"slices"
	"strconv"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/ids"
	"nextid/sqlfuncs/syntax"
)

// Functions returns the functions on the system catalogs that clients call.
func Functions() []engine.Function {
	return slices.Concat(sessionFunctions, typeFunctions, regFunctions, visibilityFunctions, definitionFunctions, descriptionFunctions,
		privilegeFunctions, aclFunctions, sizeFunctions, encodingFunctions, schemaFunctions)
}

// function makes a function on the catalogs: stable, and NULL for NULL arguments.
func function(name string, result datum.OID, types []datum.OID, eval func(x *engine.Exec, a []datum.Value) (datum.Value, error)) engine.Function {
	return engine.Function{Name: name, Args: engine.Args(types...), Result: result, Volatile: engine.Stable, Does: engine.Eval(eval)}
}

// nothing makes a function about objects that nextid does not have. It returns NULL
// for all arguments.
func nothing(name string, result datum.OID, types ...datum.OID) engine.Function {
	return function(name, result, types, func(*engine.Exec, []datum.Value) (datum.Value, error) { return datum.Null(result), nil })
}

// always makes a function that returns the same value for all arguments.
func always(name string, v datum.Value, types ...datum.OID) engine.Function {
	return function(name, v.Type, types, func(*engine.Exec, []datum.Value) (datum.Value, error) { return v, nil })
}

// rowsFunc makes a function that returns rows: "name:type name:type".
func rowsFunc(name, columns string, rows func(a []datum.Value) [][]datum.Value, types ...datum.OID) engine.Function {
	return engine.Function{
		Name: name, Args: engine.Args(types...), Result: datum.Record, Columns: engine.OutColumns(columns), Volatile: engine.Stable,
		Does: engine.Set(func(_ *engine.Exec, a []datum.Value) (engine.Rows, error) {
			return &engine.SliceRows{Rows: rows(a)}, nil
		}),
	}
}

// typeFunctions holds format_type.
var typeFunctions = []engine.Function{
	{
		Name: "format_type", Args: engine.Args(datum.Oid, datum.Int4), Result: datum.Text, Volatile: engine.Stable, Nullable: true,
		Does: engine.Eval(func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
			if !a[0].Valid {
				return datum.Null(datum.Text), nil
			}
			if name, ok := systemOf(x).rowTypeName(uint32(a[0].Int)); ok {
				return datum.MakeText(name), nil
			}
			mod := int32(-1)
			if a[1].Valid {
				mod = int32(a[1].Int)
			}
			return datum.MakeText(formatType(datum.OID(a[0].Int), mod)), nil
		}),
	},
}

// formatType implements format_type for all types of the catalogs.
func formatType(oid datum.OID, mod int32) string {
	if _, ok := datum.TypeInfo(oid); ok || oid == 0 {
		return datum.FormatType(oid, mod)
	}
	t, ok := pgTypes().byOID[oid]
	limit := ""
	if mod >= 0 {
		limit = "(" + strconv.Itoa(int(mod)) + ")"
	}
	switch {
	case t.name == "timetz":
		return "time" + limit + " with time zone"
	case !ok:
		return "???"
	case strings.HasPrefix(t.name, "_") && t.elem != 0:
		return formatType(t.elem, mod) + "[]"
	case t.ns == schemaOIDs["information_schema"]:
		return "information_schema." + t.name
	}
	return syntax.QuoteIdent(t.name)
}

// regFunctions lists the functions that find an object by its name.
var regFunctions = []engine.Function{
	toReg("to_regclass", datum.RegClass), toReg("to_regtype", datum.RegType), toReg("to_regproc", datum.RegProc),
	toReg("to_regprocedure", datum.RegProcedure), toReg("to_regnamespace", datum.RegNamespace), toReg("to_regrole", datum.RegRole),
}

// toReg returns an object by its name; NULL if there is none.
func toReg(name string, t datum.OID) engine.Function {
	return function(name, t, []datum.OID{datum.Text}, func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
		if t == datum.RegClass {
			r, err := relationByName(x, a[0].Str)
			if r == nil || err != nil {
				return datum.Null(t), err
			}
			return datum.Value{Type: t, Valid: true, Int: int64(r.OID)}, nil
		}
		oid, ok := x.Env().Names.ObjectOID(t, a[0].Str)
		return datum.Value{Type: t, Valid: ok, Int: int64(oid)}, nil
	})
}

// relationByName returns a table, a view or a sequence, nil if there is none of that
// name.
func relationByName(x *engine.Exec, name string) (*relation, error) {
	parts := syntax.SplitIdentifier(name)
	if len(parts) == 0 {
		return nil, nil
	}
	if t := x.Host.Catalog().Table(parts); t != nil {
		return &relation{Table: t}, nil
	}
	dynamic, err := dynamicRelations(x)
	if err != nil {
		return nil, err
	}
	r := dynamic.byName[parts[len(parts)-1]]
	if r != nil && len(parts) > 1 && parts[len(parts)-2] != r.Schema {
		r = nil
	}
	return r, nil
}

// relationByOID returns a relation, nil if there is none.
func relationByOID(x *engine.Exec, oid uint32) (*relation, error) {
	if t := x.Host.Catalog().TableByOID(oid); t != nil {
		return &relation{Table: t}, nil
	}
	dynamic, err := dynamicRelations(x)
	if err != nil {
		return nil, err
	}
	return dynamic.byOID[oid], nil
}

// schemaOIDs maps the schemas to their OIDs: PostgreSQL's for its schemas, and the
// one before nextid's tables.
var schemaOIDs = map[string]uint32{engine.PGCatalog: 11, "public": 2200, "information_schema": 13207, engine.NextidSchema: 16383}

// ObjectOID implements datum.Names. A regclass that is no table and a valid name of
// a generator is a sequence. So nextval('orders'::regclass) also works for a
// generator that does not exist yet.
func (s *System) ObjectOID(t datum.OID, name string) (uint32, bool) {
	parts := syntax.SplitIdentifier(name)
	if len(parts) == 0 {
		return 0, false
	}
	switch t {
	case datum.RegClass:
		if tab, err := ids.Table(s.known, parts); err == nil {
			return tab.OID, true
		}
		if sequence, err := ids.SequenceName(name); err == nil {
			return s.known.OIDs.Sequence(sequence)
		}
	case datum.RegNamespace:
		oid, ok := schemaOIDs[parts[0]]
		return oid, ok
	case datum.RegType:
		name = strings.TrimPrefix(name, engine.PGCatalog+".")
		if oid, ok := datum.TypeByName(name); ok {
			return uint32(oid), ok
		}
		if t, ok := pgTypes().byName[parts[len(parts)-1]]; ok {
			return uint32(t.oid), ok
		}
		if r := s.known.Table(parts); r != nil {
			return r.OID | rowTypeOIDs, true
		}
	case datum.RegRole:
		for _, r := range s.roles() {
			if r.name == parts[0] {
				return r.oid, true
			}
		}
	case datum.RegProc:
		if found := s.procsNamed(parts); len(found) == 1 {
			return found[0].oid, true
		}
	case datum.RegProcedure:
		return s.procedureOID(name)
	}
	return 0, false
}

// ObjectName implements datum.Names.
func (s *System) ObjectName(t datum.OID, oid uint32) (string, bool) {
	switch t {
	case datum.RegClass:
		if tab := s.known.TableByOID(oid); tab != nil {
			if tab.Schema == "information_schema" {
				return tab.Schema + "." + syntax.QuoteIdent(tab.Name), true
			}
			return syntax.QuoteIdent(tab.Name), true
		}
		name, ok := s.known.OIDs.Name(oid)
		return syntax.QuoteIdent(name), ok
	case datum.RegNamespace:
		if name := schemaName(oid); name != "" {
			return name, true
		}
	case datum.RegType:
		if _, ok := pgTypes().byOID[datum.OID(oid)]; ok {
			return formatType(datum.OID(oid), -1), true
		}
		if name, ok := s.rowTypeName(oid); ok {
			return name, true
		}
	case datum.RegRole:
		if name, ok := s.roleName(oid); ok {
			return syntax.QuoteIdent(name), true
		}
	case datum.RegProc, datum.RegProcedure:
		if p := s.procs().byOID[oid]; p != nil {
			name := syntax.QuoteIdent(p.name)
			if t == datum.RegProcedure {
				name += "(" + strings.Join(typeNames(p.in), ",") + ")"
			}
			return name, true
		}
	case datum.RegOperator:
		return s.operatorName(oid)
	}
	return strconv.FormatUint(uint64(oid), 10), false
}

// typeNames returns the names of types.
func typeNames(types []datum.OID) []string {
	out := make([]string, len(types))
	for i, t := range types {
		out[i] = formatType(t, -1)
	}
	return out
}

// rowNamed returns the OID of the row with a name in a catalog file.
func (s *System) rowNamed(catalog, column, name string) (uint32, bool) {
	t := s.table(catalog)
	for _, row := range s.staticRows(t).find(t.Column(column), []datum.Value{datum.MakeText(name)}) {
		return uint32(row[t.Column("oid")].Int), true
	}
	return 0, false
}

// rowOf returns the row with an OID in a catalog file, or nil.
func (s *System) rowOf(t *engine.Table, oid uint32) []datum.Value {
	for _, row := range s.staticRows(t).find(t.Column("oid"), []datum.Value{oidValue(datum.OID(oid))}) {
		return row
	}
	return nil
}

// nameOfRow returns the quoted name of the row with an OID in a catalog file.
func (s *System) nameOfRow(catalog, column string, oid uint32) (string, bool) {
	t := s.table(catalog)
	row := s.rowOf(t, oid)
	if row == nil {
		return "", false
	}
	return syntax.QuoteIdent(row[t.Column(column)].Str), true
}

// operatorName returns an operator as regoperator prints it.
func (s *System) operatorName(oid uint32) (string, bool) {
	t := s.table("pg_operator")
	row := s.rowOf(t, oid)
	if row == nil {
		return "", false
	}
	name := row[t.Column("oprname")].Str
	operand := func(column string) string {
		if v := row[t.Column(column)].Int; v != 0 {
			return formatType(datum.OID(v), -1)
		}
		return "NONE"
	}
	return name + "(" + operand("oprleft") + "," + operand("oprright") + ")", true
}

// parseTypes parses a list of type names; NONE means no type.
func parseTypes(list string) ([]datum.OID, bool) {
	var out []datum.OID
	if strings.TrimSpace(list) == "" {
		return nil, true
	}
	for name := range strings.SplitSeq(list, ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		oid, ok := datum.TypeByName(name)
		if !ok && name != "none" {
			return nil, false
		}
		out = append(out, oid)
	}
	return out, true
}
