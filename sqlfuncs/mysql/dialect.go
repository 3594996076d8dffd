package mysql

import (
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/ids"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// Dialect implements engine.Dialect for MySQL and MariaDB, with the functions,
// tables and SHOW statements that only this dialect has. It does not change; all
// sessions share it.
type Dialect struct {
	Own    map[string][]*engine.Function // MySQL's functions by name
	Shows  map[string]shown              // by the words of SHOW
	Rows   map[string]rowMaker           // of those tables that have rows
	tables map[string]*engine.Table      // of information_schema, by lower-case name

	counters func() map[string]string // values of SHOW STATUS that the protocol counts; nil: none
}

// NewDialect makes the dialect for a server.
func NewDialect(counters func() map[string]string) *Dialect {
	tables := schemaTables()
	return &Dialect{
		Own:   engine.IndexFunctions(sessionFunctions, textFunctions, timeFunctions, conditionalFunctions, idFunctions),
		Shows: shows(tables), Rows: schemaRows(), tables: tables, counters: counters,
	}
}

// dialectOf returns the dialect of an execution.
func dialectOf(x *engine.Exec) *Dialect { return x.Dialect.(*Dialect) }

// dialectPlanned returns the dialect of a planner.
func dialectPlanned(p *engine.Planner) *Dialect { return p.Dialect.(*Dialect) }

// Traits implements engine.Dialect. The limit of recursions is the default of
// cte_max_recursion_depth and of MariaDB's max_recursive_iterations.
func (*Dialect) Traits() engine.Traits {
	return engine.Traits{IgnoreCase: true, Collations: true, NullsFirst: true, Origins: true, Lenient: true, Recursions: 1000}
}

// Cast implements engine.Dialect.
func (*Dialect) Cast(x *engine.Exec, v datum.Value, t datum.OID) (datum.Value, error) {
	return cast(x, v, t)
}

// Exact implements engine.Dialect.
func (*Dialect) Exact(p *engine.Planner) bool { return plannedState(p).Exact }

// NextValues implements engine.Dialect.
func (*Dialect) NextValues(p *engine.Planner, s *engine.Scope, c *syntax.SelectCore, e *syntax.NextValues) (*engine.Expr, error) {
	return ids.NextValues(p, s, c, e)
}

// NoColumn implements engine.Dialect.
func (*Dialect) NoColumn(c *syntax.Column, _ bool) error {
	return sqlstate.New(sqlstate.UndefinedColumn, "Unknown column '%s' in 'SELECT'", sqlstate.Cut(strings.Join(c.Name, "."), 128))
}

// NotGrouped implements engine.Dialect.
func (*Dialect) NotGrouped(label string) error {
	return sqlstate.New(sqlstate.Grouping, "'%s' isn't in GROUP BY", label).
		WithHint("nextid reads queries as with sql_mode ONLY_FULL_GROUP_BY: aggregate the column, or name it in GROUP BY.").WithMySQL(1055, "42000")
}
