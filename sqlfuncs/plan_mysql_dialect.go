package sqlfuncs

import (
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/syntax"
)

// mysqlDialect is how MySQL and MariaDB read expressions.
type mysqlDialect struct{}

func (mysqlDialect) analyse(p *planner, s *scope, e syntax.Expr) (*expr, error) {
	return p.analyseMySQL(s, e)
}

func (mysqlDialect) choose(p *planner, e *syntax.FuncCall, name string, given []*expr, names []string) (*function, []*expr, error) {
	return p.chooseMySQL(e, name, given, names)
}

func (mysqlDialect) isAggregate(p *planner, e *syntax.FuncCall) bool { return isAggregateMySQL(p, e) }

func (mysqlDialect) operator(p *planner, op string, l, r *expr) (*expr, error) {
	return p.operatorMySQL(op, l, r)
}

func (mysqlDialect) comparable(p *planner, l, r *expr) (*expr, *expr, error) {
	return p.comparableMySQL(l, r)
}

func (mysqlDialect) coerce(p *planner, e *expr, t datum.OID) (*expr, error) {
	return p.coerceMySQL(e, t)
}

func (mysqlDialect) truth(p *planner, e *expr) (*expr, error) { return p.truthMySQL(e) }

func (mysqlDialect) common(types []datum.OID) datum.OID { return commonMySQL(types) }

func (mysqlDialect) cast(x *exec, v datum.Value, t datum.OID) (datum.Value, error) {
	return x.mysqlCast(v, t)
}

func (mysqlDialect) exact(p *planner) bool { return plannedFor(p).mysql.reading.exact }

func (mysqlDialect) having(p *planner, s *scope, c *syntax.SelectCore, orderBy []syntax.OrderItem) *syntax.SelectCore {
	return p.havingMySQL(s, c, orderBy)
}

func (mysqlDialect) aliased(p *planner, level *scope, name string) (*expr, error) {
	return p.aliased(level, name)
}

func (mysqlDialect) output(p *planner, out *output) error { return p.outputMySQL(out) }

func (mysqlDialect) label(t syntax.Target) string { return labelMySQL(t) }

func (mysqlDialect) nextValues(p *planner, s *scope, c *syntax.SelectCore, e *syntax.NextValues) (*expr, error) {
	return nextValues(p, s, c, e)
}
