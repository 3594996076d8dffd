package sqlfuncs

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// procInfo is a row of pg_proc, read.
type procInfo struct {
	oid      uint32
	schema   uint32
	name     string
	in       []datum.OID
	all      []datum.OID // with OUT arguments
	modes    string      // i, o, b, v, t for each of all
	names    []string
	defaults int
	result   datum.OID
	set      bool
	kind     string // f, p, a, w
	row      []datum.Value
}

// procIndex is pg_proc by OID and by name.
type procIndex struct {
	byOID  map[uint32]*procInfo
	byName map[string][]*procInfo
}

var procs = sync.OnceValue(func() procIndex {
	t := tables[pgCatalog+".pg_proc"]
	x := procIndex{byOID: map[uint32]*procInfo{}, byName: map[string][]*procInfo{}}
	for _, row := range staticCatalog(t).rows {
		p := readProc(t, row)
		x.byOID[p.oid] = p
		x.byName[p.name] = append(x.byName[p.name], p)
	}
	return x
})

func readProc(t *table, row []datum.Value) *procInfo {
	get := func(column string) datum.Value { return row[t.column(column)] }
	p := &procInfo{
		oid: uint32(get("oid").Int), schema: uint32(get("pronamespace").Int), name: get("proname").Str,
		defaults: int(get("pronargdefaults").Int), result: datum.OID(get("prorettype").Int), set: get("proretset").Int == 1,
		kind: get("prokind").Str, row: row,
	}
	for _, v := range get("proargtypes").Elems {
		p.in = append(p.in, datum.OID(v.Int))
	}
	p.all, p.modes = p.in, strings.Repeat("i", len(p.in))
	if all := get("proallargtypes"); all.Valid {
		p.all, p.modes = nil, ""
		for i, v := range all.Elems {
			p.all = append(p.all, datum.OID(v.Int))
			p.modes += get("proargmodes").Elems[i].Str
		}
	} else if get("provariadic").Int != 0 {
		p.modes = p.modes[:len(p.modes)-1] + "v"
	}
	p.names = make([]string, len(p.all))
	for i, v := range get("proargnames").Elems {
		p.names[i] = v.Str
	}
	return p
}

func procByOID(oid uint32) *procInfo { return procs().byOID[oid] }

// procsNamed finds functions by a name with or without schema.
func procsNamed(parts []string) []*procInfo {
	found := procs().byName[parts[len(parts)-1]]
	if len(parts) == 1 {
		return found
	}
	schema := parts[len(parts)-2]
	return slices.DeleteFunc(slices.Clone(found), func(p *procInfo) bool {
		return p.schema != schemaOIDs[schema] && (schema != nextidSchema || p.schema != schemaOIDs["public"])
	})
}

// procedureOID finds a function by its signature: next_id(text).
func procedureOID(signature string) (uint32, bool) {
	name, list, ok := strings.Cut(signature, "(")
	types, known := parseTypes(strings.TrimSuffix(strings.TrimSpace(list), ")"))
	parts := splitIdentifier(strings.TrimSpace(name))
	if !ok || !known || len(parts) == 0 {
		return 0, false
	}
	for _, p := range procsNamed(parts) {
		if slices.Equal(p.in, types) {
			return p.oid, true
		}
	}
	return 0, false
}

// arguments is what pg_get_function_arguments prints.
func (p *procInfo) arguments(defaults bool) string {
	var list []string
	in := 0
	for i, t := range p.all {
		mode := p.modes[i]
		if mode == 't' {
			continue
		}
		text := map[byte]string{'o': "OUT ", 'b': "INOUT ", 'v': "VARIADIC "}[mode]
		if p.names[i] != "" {
			text += quoteIdent(p.names[i]) + " "
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

// returns is what pg_get_function_result prints.
func (p *procInfo) returns() string {
	var columns []string
	for i, t := range p.all {
		if p.modes[i] == 't' {
			columns = append(columns, quoteIdent(p.names[i])+" "+formatType(t, -1))
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

// definition is what pg_get_functiondef prints.
func (p *procInfo) definition() (string, error) {
	if p.kind == "a" {
		return "", sqlstate.New(sqlstate.WrongObjectType, "%q is an aggregate function", p.name)
	}
	t := tables[pgCatalog+".pg_proc"]
	get := func(column string) datum.Value { return p.row[t.column(column)] }
	schema := pgCatalog
	for name, oid := range schemaOIDs {
		if oid == p.schema {
			schema = name
		}
	}
	var options []string
	add := func(column string, words map[string]string) {
		if word := words[get(column).Str]; word != "" {
			options = append(options, word)
		}
	}
	add("provolatile", map[string]string{"i": "IMMUTABLE", "s": "STABLE"})
	add("proparallel", map[string]string{"s": "PARALLEL SAFE", "r": "PARALLEL RESTRICTED"})
	if get("proisstrict").Int == 1 {
		options = append(options, "STRICT")
	}
	language, _ := nameOfRow("pg_language", "lanname", uint32(get("prolang").Int))
	text := fmt.Sprintf("CREATE OR REPLACE FUNCTION %s.%s(%s)\n RETURNS %s\n LANGUAGE %s\n", quoteIdent(schema), quoteIdent(p.name),
		p.arguments(true), p.returns(), language)
	if len(options) > 0 {
		text += " " + strings.Join(options, " ") + "\n"
	}
	return text + "AS $function$" + get("prosrc").Str + "$function$\n", nil
}

// procText makes a function that tells something about a function.
func procText(name string, tell func(p *procInfo) (string, error)) function {
	return catalogFunc(name, datum.Text, []datum.OID{datum.Oid}, func(_ *exec, a []datum.Value) (datum.Value, error) {
		p := procByOID(uint32(a[0].Int))
		if p == nil {
			return datum.Null(datum.Text), nil
		}
		text, err := tell(p)
		return datum.MakeText(text), err
	})
}

var procFunctions = []function{
	procText("pg_get_function_arguments", func(p *procInfo) (string, error) { return p.arguments(true), nil }),
	procText("pg_get_function_identity_arguments", func(p *procInfo) (string, error) { return p.arguments(false), nil }),
	procText("pg_get_function_result", func(p *procInfo) (string, error) { return p.returns(), nil }),
	procText("pg_get_functiondef", (*procInfo).definition),
	nothing("pg_get_function_sqlbody", datum.Text, datum.Oid),
	catalogFunc("pg_get_function_arg_default", datum.Text, []datum.OID{datum.Oid, datum.Int4},
		func(_ *exec, a []datum.Value) (datum.Value, error) {
			p, n := procByOID(uint32(a[0].Int)), int(a[1].Int)
			if p == nil || n < 1 || n > len(p.in) || n <= len(p.in)-p.defaults {
				return datum.Null(datum.Text), nil
			}
			return datum.MakeText("NULL::" + formatType(p.in[n-1], -1)), nil
		}),
}
