package pgcatalog

import (
	"fmt"
	"slices"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

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
	schema := engine.PGCatalog
	for name, oid := range schemaOIDs {
		if oid == p.schema {
			schema = name
		}
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
	text := fmt.Sprintf("CREATE OR REPLACE FUNCTION %s.%s(%s)\n RETURNS %s\n LANGUAGE internal\n", syntax.QuoteIdent(schema), syntax.QuoteIdent(p.name),
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
