package pgcatalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// proc describes a function for pg_proc.
type proc struct {
	oid, schema uint32
	name        string
	in          []datum.OID
	all         []datum.OID // with OUT arguments
	modes       string      // i, o, b, v, t for each of all
	names       []string    // of all; nil if they have no names
	defaults    int         // number of arguments at the end of in that are optional
	result      datum.OID
	variadic    datum.OID // type of the repeated argument, or 0
	set         bool
	rows        int // estimated number of rows of a set
	kind        byte
	volatile    byte
	parallel    byte
	strict      bool
	help        string
}

// procIndex holds the functions of pg_proc, also by OID and by name.
type procIndex struct {
	list   []*proc
	byOID  map[uint32]*proc
	byName map[string][]*proc
}

// firstProcOID is the first OID of the functions that PostgreSQL does not have.
const firstProcOID = 20000

// readProcs lists the functions that can be called, and the functions that rows of
// pg_type and pg_cast name. Functions that PostgreSQL has, too, get PostgreSQL's
// OIDs and types.
func (s *System) readProcs() procIndex {
	x := procIndex{byOID: map[uint32]*proc{}, byName: map[string][]*proc{}}
	add := func(p *proc) {
		x.list = append(x.list, p)
		x.byOID[p.oid] = p
		x.byName[p.name] = append(x.byName[p.name], p)
	}
	named := maps.Clone(pgTypes().procs)
	head, rows := readTSV("pg_cast.tsv")
	for _, row := range rows {
		if function := row[slices.Index(head, "castfunc")]; function != "" {
			named[uint32(parseOID(function))] = true
		}
	}
	t := s.table("pg_proc")
	for _, row := range fileRows(t) {
		if p := knownProc(t, row); named[p.oid] || s.callable(p) {
			add(p)
		}
	}
	for i, f := range s.known.AllFunctions() {
		if f.Schema == engine.PGCatalog && (syntax.IsKeyword(f.Name) || x.byName[f.Name] != nil) {
			continue // COALESCE and CURRENT_USER are syntax
		}
		p := ownProc(f)
		p.oid = uint32(firstProcOID + i)
		add(p)
	}
	return x
}

// callable reports whether nextid can plan a call with arguments of p's types.
func (s *System) callable(p *proc) bool {
	types := slices.Clone(p.in)
	if p.variadic != 0 {
		types = append(types[:len(types)-1], p.variadic, p.variadic)
	}
	call := &syntax.FuncCall{Name: syntax.Name{engine.PGCatalog, p.name}}
	if p.kind == 'w' {
		call.Over = &syntax.Window{}
	}
	for i, t := range types {
		switch pgTypes().byOID[t].name {
		case "any", "anyelement", "anynonarray", "anycompatible":
			types[i] = datum.Int4
		case "anyarray", "anycompatiblearray":
			types[i] = datum.Int4Array
		}
		if _, ok := datum.TypeInfo(types[i]); !ok {
			return false // there is no value of the type
		}
		call.Args = append(call.Args, syntax.Arg{Value: &syntax.Param{Number: i + 1}})
	}
	planner := engine.NewPlanner(planning{known: s.known}, engine.PostgreSQL{}, "")
	planner.Declared = types
	_, err := planner.Query(&syntax.Select{Body: &syntax.SelectCore{Targets: []syntax.Target{{Expr: call}}}}, nil)
	return err == nil
}

// planning is the Host of plans that do not run. It has no limits.
type planning struct {
	engine.Host
	known *engine.Catalog
}

func (planning) Planned(int) error          { return nil }
func (planning) MayPlan() error             { return nil }
func (h planning) Catalog() *engine.Catalog { return h.known }

// knownProc reads a row of pg_proc.tsv.
func knownProc(t *engine.Table, row []datum.Value) *proc {
	get := func(column string) datum.Value { return row[t.Column(column)] }
	p := &proc{
		oid: uint32(get("oid").Int), schema: schemaOIDs[engine.PGCatalog], name: get("proname").Str,
		in: oidsOf(get("proargtypes")), all: oidsOf(get("proallargtypes")), defaults: int(get("pronargdefaults").Int),
		result: datum.OID(get("prorettype").Int), variadic: datum.OID(get("provariadic").Int),
		set: get("proretset").Int == 1, rows: int(get("prorows").Float), kind: get("prokind").Str[0],
		volatile: get("provolatile").Str[0], parallel: get("proparallel").Str[0], strict: get("proisstrict").Int == 1,
	}
	for _, mode := range get("proargmodes").Elems {
		p.modes += mode.Str
	}
	for _, name := range get("proargnames").Elems {
		p.names = append(p.names, name.Str)
	}
	if p.all == nil {
		p.all, p.modes = p.in, strings.Repeat("i", len(p.in))
	}
	return p
}

// oidsOf returns the elements of an array of OIDs.
func oidsOf(array datum.Value) (oids []datum.OID) {
	for _, v := range array.Elems {
		oids = append(oids, datum.OID(v.Int))
	}
	return oids
}

// ownProc describes a function that PostgreSQL does not have.
func ownProc(f *engine.Function) *proc {
	p := &proc{
		schema: schemaOIDs[f.Schema], name: f.Name, result: f.Result, set: f.ReturnsSet(), kind: 'f', volatile: byte(f.Volatile), parallel: 'u',
		strict: !f.Nullable, help: f.Help,
	}
	if f.Schema == engine.NextidSchema {
		p.schema = schemaOIDs["public"] // as if an extension had made it
	}
	if f.IsAggregate() {
		p.kind = 'a'
	}
	if p.result == datum.Invalid {
		p.result = datum.Record
	}
	named := false
	add := func(mode byte, name string, typ datum.OID) {
		p.all, p.modes, p.names = append(p.all, typ), p.modes+string(mode), append(p.names, name)
		named = named || name != ""
	}
	for i, a := range f.Args {
		typ, mode := a.Type, byte('i')
		if f.Variadic && i == len(f.Args)-1 { // pg_proc has an array for the repeated argument
			mode, p.variadic = 'v', typ
			info, _ := datum.TypeInfo(typ)
			if info.Array != 0 {
				typ = info.Array
			} else if info.Elem != 0 {
				p.variadic = info.Elem
			}
		}
		add(mode, a.Name, typ)
		p.in = append(p.in, typ)
		if a.Optional {
			p.defaults++
		}
	}
	for _, c := range f.Columns {
		switch {
		case f.ReturnsSet():
			add('t', c.Name, c.Type)
		case p.result == datum.Record:
			add('o', c.Name, c.Type)
		}
	}
	if f.ReturnsSet() {
		p.rows = 1000
	}
	if !named {
		p.names = nil
	}
	return p
}

func procRows(s *System, t *engine.Table) [][]datum.Value {
	rows := make([][]datum.Value, len(s.procs().list))
	for i, p := range s.procs().list {
		rows[i] = p.row(t)
	}
	return rows
}

// row returns the row of pg_proc.
func (p *proc) row(t *engine.Table) []datum.Value {
	pairs := []any{
		"oid", p.oid, "proname", p.name, "pronamespace", p.schema, "proowner", ownerOID, "prolang", internalLanguage, "procost", 1,
		"prorows", p.rows, "provariadic", p.variadic, "prokind", p.kind, "proisstrict", p.strict, "proretset", p.set,
		"provolatile", p.volatile, "proparallel", p.parallel, "pronargs", len(p.in), "pronargdefaults", p.defaults,
		"prorettype", p.result, "proargtypes", oidArray(datum.OidVector, p.in), "prosrc", p.name,
	}
	if strings.Trim(p.modes, "i") != "" {
		letter := func(mode byte) datum.Value { return datum.MakeString(datum.Char, string(mode)) }
		pairs = append(pairs, "proallargtypes", oidArray(datum.OidArray, p.all), "proargmodes", arrayOf(datum.CharArray, []byte(p.modes), letter))
	}
	if p.names != nil {
		pairs = append(pairs, "proargnames", arrayOf(datum.TextArray, p.names, datum.MakeText))
	}
	if p.defaults > 0 {
		list := typeNames(p.in[len(p.in)-p.defaults:])
		for i := range list {
			list[i] = "NULL::" + list[i]
		}
		pairs = append(pairs, "proargdefaults", datum.MakeString(datum.PgNodeTree, strings.Join(list, ", ")))
	}
	return t.Row(pairs...)
}

// oidArray makes an array of OIDs.
func oidArray(t datum.OID, oids []datum.OID) datum.Value {
	return arrayOf(t, oids, oidValue)
}

func oidValue(oid datum.OID) datum.Value {
	return datum.Value{Type: datum.Oid, Valid: true, Int: int64(oid)}
}

// arrayOf makes an array of type t.
func arrayOf[T any](t datum.OID, list []T, value func(T) datum.Value) datum.Value {
	elems := make([]datum.Value, len(list))
	for i, v := range list {
		elems[i] = value(v)
	}
	return datum.MakeArray(t, elems)
}

// procByOID returns the function with an OID, or nil.
func procByOID(x *engine.Exec, oid uint32) *proc { return systemOf(x).procs().byOID[oid] }

// procsNamed returns the functions of a name, with or without a schema. The schemas
// nextid and public are the same for functions.
func (s *System) procsNamed(parts []string) []*proc {
	found := s.procs().byName[parts[len(parts)-1]]
	if len(parts) == 1 {
		return found
	}
	schema := parts[len(parts)-2]
	return slices.DeleteFunc(slices.Clone(found), func(p *proc) bool {
		return p.schema != schemaOIDs[schema] && (schema != engine.NextidSchema || p.schema != schemaOIDs["public"])
	})
}

// procedureOID finds a function by its signature, such as next_id(text).
func (s *System) procedureOID(signature string) (uint32, bool) {
	name, list, ok := strings.Cut(signature, "(")
	types, known := parseTypes(strings.TrimSuffix(strings.TrimSpace(list), ")"))
	parts := syntax.SplitIdentifier(strings.TrimSpace(name))
	if !ok || !known || len(parts) == 0 {
		return 0, false
	}
	for _, p := range s.procsNamed(parts) {
		if slices.Equal(p.in, types) {
			return p.oid, true
		}
	}
	return 0, false
}

// arguments returns the result of pg_get_function_arguments, or without defaults
// that of pg_get_function_identity_arguments.
func (p *proc) arguments(defaults bool) string {
	var list []string
	in := 0
	for i, t := range p.all {
		mode := p.modes[i]
		if mode == 't' {
			continue
		}
		text := map[byte]string{'o': "OUT ", 'b': "INOUT ", 'v': "VARIADIC "}[mode]
		if p.names != nil && p.names[i] != "" {
			text += syntax.QuoteIdent(p.names[i]) + " "
		}
		text += formatType(t, -1)
		if mode != 'o' {
			if in++; defaults && in > len(p.in)-p.defaults {
				text += " DEFAULT NULL::" + formatType(t, -1)
			}
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// returns returns the result of pg_get_function_result.
func (p *proc) returns() string {
	var columns []string
	for i, t := range p.all {
		if p.modes[i] == 't' {
			columns = append(columns, syntax.QuoteIdent(p.names[i])+" "+formatType(t, -1))
		}
	}
	switch {
	case columns != nil:
		return "TABLE(" + strings.Join(columns, ", ") + ")"
	case p.set:
		return "SETOF " + formatType(p.result, -1)
	}
	return formatType(p.result, -1)
}

// definition returns the result of pg_get_functiondef.
func (p *proc) definition() (string, error) {
	if p.kind == 'a' {
		return "", sqlstate.New(sqlstate.WrongObjectType, "%q is an aggregate function", p.name)
	}
	var options []string
	if word := map[byte]string{'i': "IMMUTABLE", 's': "STABLE"}[p.volatile]; word != "" {
		options = append(options, word)
	}
	if word := map[byte]string{'s': "PARALLEL SAFE", 'r': "PARALLEL RESTRICTED"}[p.parallel]; word != "" {
		options = append(options, word)
	}
	if p.strict {
		options = append(options, "STRICT")
	}
	text := fmt.Sprintf("CREATE OR REPLACE FUNCTION %s.%s(%s)\n RETURNS %s\n LANGUAGE internal\n", syntax.QuoteIdent(schemaName(p.schema)), syntax.QuoteIdent(p.name),
		p.arguments(true), p.returns())
	if len(options) > 0 {
		text += " " + strings.Join(options, " ") + "\n"
	}
	return text + "AS $function$" + p.name + "$function$\n", nil
}

// procText makes a function that returns a text about a function.
func procText(name string, describe func(p *proc) (string, error)) engine.Function {
	return function(name, datum.Text, []datum.OID{datum.Oid}, func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
		p := procByOID(x, uint32(a[0].Int))
		if p == nil {
			return datum.Null(datum.Text), nil
		}
		text, err := describe(p)
		return datum.MakeText(text), err
	})
}

var procFunctions = []engine.Function{
	procText("pg_get_function_arguments", func(p *proc) (string, error) { return p.arguments(true), nil }),
	procText("pg_get_function_identity_arguments", func(p *proc) (string, error) { return p.arguments(false), nil }),
	procText("pg_get_function_result", func(p *proc) (string, error) { return p.returns(), nil }),
	procText("pg_get_functiondef", (*proc).definition),
	nothing("pg_get_function_sqlbody", datum.Text, datum.Oid),
}
