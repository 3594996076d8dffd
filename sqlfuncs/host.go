package sqlfuncs

import (
	"time"

	"nextid/generator"
	"nextid/sqlfuncs/account"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/syntax"
)

// Host is what a session lends to the statements that are planned and run for
// it.
type Host interface {
	// Env is what the text forms of values depend on.
	Env() *datum.Env
	// Started is the time at which a statement that begins now starts.
	Started() time.Time
	// Memory is the account of what the session's statements hold.
	Memory() *account.Session
	// Planned counts bytes that the plan being made holds.
	Planned(n int) error
	// Admin reports whether the session may call functions for administrators.
	Admin() bool
	// Table finds a table that a statement names.
	Table(p *planner, name syntax.Name) (*table, error)
}

// catalog is what statements can name: functions, and tables that are always
// there.
type catalog struct {
	functions map[string][]*function
	domains   map[string]datum.OID // types that are found with their schema only, and what is under them
}

// dialect is how a dialect other than PostgreSQL's reads expressions.
type dialect interface {
	// analyse analyses an expression that means something else in the dialect;
	// it returns nil, nil for the others.
	analyse(p *planner, s *scope, e syntax.Expr) (*expr, error)
	// choose finds the function of a call and converts its arguments.
	choose(p *planner, e *syntax.FuncCall, name string, given []*expr, names []string) (*function, []*expr, error)
	// isAggregate reports whether a call is one of an aggregate.
	isAggregate(p *planner, e *syntax.FuncCall) bool
	// operator builds l op r.
	operator(p *planner, op string, l, r *expr) (*expr, error)
	// comparable converts both sides to the type in which they are compared.
	comparable(p *planner, l, r *expr) (*expr, *expr, error)
	// coerce converts an expression to a type.
	coerce(p *planner, e *expr, t datum.OID) (*expr, error)
	// truth makes a condition of any value.
	truth(p *planner, e *expr) (*expr, error)
	// common is the type of CASE, COALESCE and UNION.
	common(types []datum.OID) datum.OID
	// cast converts a value.
	cast(x *exec, v datum.Value, t datum.OID) (datum.Value, error)
	// exact reports whether the connection's collation compares bytes.
	exact(p *planner) bool
	// having rewrites a query before it is analysed.
	having(p *planner, s *scope, c *syntax.SelectCore, orderBy []syntax.OrderItem) *syntax.SelectCore
	// aliased finds a name of the select list, nil if there is none.
	aliased(p *planner, level *scope, name string) (*expr, error)
	// output settles the columns of a select list.
	output(p *planner, out *output) error
	// label names a result column without alias.
	label(t syntax.Target) string
	// nextValues is SELECT NEXT n VALUES FROM name.
	nextValues(p *planner, s *scope, c *syntax.SelectCore, e *syntax.NextValues) (*expr, error)
}

// numberRun yields numbers of a series in runs, io.EOF after the last.
type numberRun interface {
	next(x *exec, max int64) (generator.Range, error)
}
