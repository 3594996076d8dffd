package mysql

import (
	"maps"
	"slices"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/ids"
	"nextid/sqlfuncs/syntax"
)

// Dialect describes how MySQL and MariaDB read expressions, and what there is in the
// dialect beside the catalog of the server. It does not change.
type Dialect struct {
	functions map[string][]*engine.Function // MySQL's own
	special   map[string]specialCall
	shows     map[string]shown
	tables    map[string]*engine.Table // of information_schema, by lower-case name
	rows      map[string]rowMaker      // of the tables
}

// Functions are MySQL's own functions, by name. They are not to be changed.
func (d *Dialect) Functions() map[string][]*engine.Function { return d.functions }

// Shows are the words of the SHOW statements that are answered.
func (d *Dialect) Shows() []string { return slices.Collect(maps.Keys(d.shows)) }

// Tables are the tables of information_schema that have rows, in lower case.
func (d *Dialect) Tables() []string { return slices.Collect(maps.Keys(d.rows)) }

// NewDialect makes the dialect for a server.
func NewDialect() *Dialect {
	d := &Dialect{
		functions: engine.IndexFunctions(sessionFunctions, textFunctions, timeFunctions, conditionalFunctions, idFunctions),
		special:   specialCalls(), tables: schemaTables(), rows: schemaRows(),
	}
	d.shows = shows(d.tables)
	return d
}

// dialectOf is the dialect of the session for which a statement runs.
func dialectOf(x *engine.Exec) *Dialect { return x.Dialect.(*Dialect) }

// dialectPlanned is that of the session for which a statement is planned.
func dialectPlanned(p *engine.Planner) *Dialect { return p.Dialect.(*Dialect) }

// Analyse implements engine.Dialect.
func (*Dialect) Analyse(p *engine.Planner, s *engine.Scope, e syntax.Expr) (*engine.Expr, error) {
	return analyse(p, s, e)
}

// Choose implements engine.Dialect.
func (*Dialect) Choose(p *engine.Planner, e *syntax.FuncCall, name string, given []*engine.Expr, names []string) (*engine.Function, []*engine.Expr, error) {
	return choose(p, e, name, given, names)
}

// Operator implements engine.Dialect.
func (*Dialect) Operator(p *engine.Planner, op string, l, r *engine.Expr) (*engine.Expr, error) {
	return operator(p, op, l, r)
}

// Comparable implements engine.Dialect.
func (*Dialect) Comparable(p *engine.Planner, l, r *engine.Expr) (*engine.Expr, *engine.Expr, error) {
	return comparableTypes(p, l, r)
}

// Coerce implements engine.Dialect.
func (*Dialect) Coerce(p *engine.Planner, e *engine.Expr, t datum.OID) (*engine.Expr, error) {
	return coerce(p, e, t)
}

// Truth implements engine.Dialect.
func (*Dialect) Truth(p *engine.Planner, e *engine.Expr) (*engine.Expr, error) {
	return condition(p, e)
}

// Common implements engine.Dialect.
func (*Dialect) Common(types []datum.OID) datum.OID { return common(types) }

// Cast implements engine.Dialect.
func (*Dialect) Cast(x *engine.Exec, v datum.Value, t datum.OID) (datum.Value, error) {
	return cast(x, v, t)
}

// Exact implements engine.Dialect.
func (*Dialect) Exact(p *engine.Planner) bool { return plannedState(p).Reading.Exact }

// Output implements engine.Dialect.
func (*Dialect) Output(p *engine.Planner, out *engine.Output) error { return output(p, out) }

// Label implements engine.Dialect.
func (*Dialect) Label(t syntax.Target) string { return label(t) }

// NextValues implements engine.Dialect.
func (*Dialect) NextValues(p *engine.Planner, s *engine.Scope, c *syntax.SelectCore, e *syntax.NextValues) (*engine.Expr, error) {
	return ids.NextValues(p, s, c, e)
}
