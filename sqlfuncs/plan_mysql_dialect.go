package sqlfuncs

import (
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/ids"
	"nextid/sqlfuncs/syntax"
)

// mysqlDialect is how MySQL and MariaDB read expressions, and what there is in the
// dialect beside the catalog of the server. It does not change.
type mysqlDialect struct {
	functions map[string][]*engine.Function // MySQL's own
	special   map[string]specialCall
	shows     map[string]shown
	tables    map[string]*engine.Table // of information_schema, by lower-case name
	rows      map[string]rowMaker      // of the tables
}

// newMySQLDialect makes the dialect for a server.
func newMySQLDialect() *mysqlDialect {
	d := &mysqlDialect{
		functions: engine.IndexFunctions(mysqlSessionFunctions, mysqlTextFunctions, mysqlTimeFunctions,
			mysqlConditionalFunctions, mysqlJSONFunctions, mysqlIDFunctions),
		special: specialCalls(), tables: schemaTables(), rows: schemaRows(),
	}
	d.shows = shows(d.tables)
	return d
}

// dialectOf is the dialect of the session for which a statement runs.
func dialectOf(x *engine.Exec) *mysqlDialect { return x.Dialect.(*mysqlDialect) }

// dialectPlanned is that of the session for which a statement is planned.
func dialectPlanned(p *engine.Planner) *mysqlDialect { return p.Dialect.(*mysqlDialect) }

func (*mysqlDialect) Analyse(p *engine.Planner, s *engine.Scope, e syntax.Expr) (*engine.Expr, error) {
	return analyseMySQL(p, s, e)
}

func (*mysqlDialect) Choose(p *engine.Planner, e *syntax.FuncCall, name string, given []*engine.Expr, names []string) (*engine.Function, []*engine.Expr, error) {
	return chooseMySQL(p, e, name, given, names)
}

func (*mysqlDialect) IsAggregate(p *engine.Planner, e *syntax.FuncCall) bool {
	return isAggregateMySQL(p, e)
}

func (*mysqlDialect) Operator(p *engine.Planner, op string, l, r *engine.Expr) (*engine.Expr, error) {
	return operatorMySQL(p, op, l, r)
}

func (*mysqlDialect) Comparable(p *engine.Planner, l, r *engine.Expr) (*engine.Expr, *engine.Expr, error) {
	return comparableMySQL(p, l, r)
}

func (*mysqlDialect) Coerce(p *engine.Planner, e *engine.Expr, t datum.OID) (*engine.Expr, error) {
	return coerceMySQL(p, e, t)
}

func (*mysqlDialect) Truth(p *engine.Planner, e *engine.Expr) (*engine.Expr, error) {
	return truthMySQL(p, e)
}

func (*mysqlDialect) Common(types []datum.OID) datum.OID { return commonMySQL(types) }

func (*mysqlDialect) Cast(x *engine.Exec, v datum.Value, t datum.OID) (datum.Value, error) {
	return mysqlCast(x, v, t)
}

func (*mysqlDialect) Exact(p *engine.Planner) bool { return plannedState(p).reading.exact }

func (*mysqlDialect) Having(p *engine.Planner, s *engine.Scope, c *syntax.SelectCore, orderBy []syntax.OrderItem) *syntax.SelectCore {
	return havingMySQL(p, s, c, orderBy)
}

func (*mysqlDialect) Aliased(p *engine.Planner, level *engine.Scope, name string) (*engine.Expr, error) {
	return aliased(p, level, name)
}

func (*mysqlDialect) Output(p *engine.Planner, out *engine.Output) error { return outputMySQL(p, out) }

func (*mysqlDialect) Label(t syntax.Target) string { return labelMySQL(t) }

func (*mysqlDialect) NextValues(p *engine.Planner, s *engine.Scope, c *syntax.SelectCore, e *syntax.NextValues) (*engine.Expr, error) {
	return ids.NextValues(p, s, c, e)
}
