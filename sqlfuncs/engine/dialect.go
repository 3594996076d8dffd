package engine

import (
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/syntax"
)

// Dialect reads, converts and names expressions. PostgreSQL implements it here,
// package mysql for MySQL. A Dialect does not change, and all sessions share it.
type Dialect interface {
	// Traits returns the small differences between dialects.
	Traits() Traits
	// Analyse plans the expressions that only this dialect has or that it reads
	// differently. It returns nil, nil for all others.
	Analyse(p *Planner, s *Scope, e syntax.Expr) (*Expr, error)
	// Functions returns the functions of a name.
	Functions(p *Planner, name string) []*Function
	// Choose finds the function of a call and converts its arguments. names are
	// those of named arguments, "" for the others.
	Choose(p *Planner, e *syntax.FuncCall, name string, given []*Expr, names []string) (*Function, []*Expr, error)
	// Operator builds l op r.
	Operator(p *Planner, op string, l, r *Expr) (*Expr, error)
	// Comparable converts both sides of op to the type in which they are compared.
	Comparable(p *Planner, op string, l, r *Expr) (*Expr, *Expr, error)
	// Coerce converts an expression to a type.
	Coerce(p *Planner, e *Expr, t datum.OID, ctx datum.CastContext) (*Expr, error)
	// Truth makes a condition of an analysed expression. clause names the clause
	// in which it stands, for the error.
	Truth(p *Planner, e *Expr, clause string) (*Expr, error)
	// Common returns the type of CASE, COALESCE and UNION.
	Common(types []datum.OID) (datum.OID, error)
	// Cast converts a value that is not NULL, at run time.
	Cast(x *Exec, v datum.Value, t datum.OID) (datum.Value, error)
	// Exact reports whether the connection's collation compares bytes. The planner
	// calls it only with the trait Collations.
	Exact(p *Planner) bool
	// Output completes the columns of a select list.
	Output(p *Planner, out *Output) error
	// Label names the result column of an expression without alias.
	Label(t syntax.Target, x *Expr) string
	// NextValues plans SELECT NEXT n VALUES FROM name.
	NextValues(p *Planner, s *Scope, c *syntax.SelectCore, e *syntax.NextValues) (*Expr, error)
	// NoColumn returns the error for a column that FROM does not have. inTable
	// reports that FROM has the column's table.
	NoColumn(c *syntax.Column, inTable bool) error
	// NotGrouped returns the error for a column that is neither in GROUP BY nor in
	// an aggregate.
	NotGrouped(label string) error
}

// Traits are the small differences between dialects.
type Traits struct {
	// IgnoreCase compares names of columns and tables without case. nextid's tables
	// are then found in every database.
	IgnoreCase bool
	// WholeRows lets the name of a table stand for its row.
	WholeRows bool
	// Collations compares texts without regard to case, or by bytes where Exact
	// reports true.
	Collations bool
	// NullsFirst sorts NULLs before all values.
	NullsFirst bool
	// Origins describes result columns by their table and alias, and texts by their
	// length. A bare NULL has a type of its own.
	Origins bool
	// Lenient accepts what PostgreSQL refuses: constants in ORDER BY, DISTINCT
	// aggregates in another order, USING over different types, recursive terms of
	// other types, HAVING without groups. A setval that changes nothing gives a warning.
	Lenient bool
	// Recursions limits the steps of a recursive query; 0: only memory limits them.
	Recursions int
}

// PostgreSQL is the dialect of PostgreSQL. Its methods are in the files of the
// planner that call them.
type PostgreSQL struct{}

// Traits implements Dialect.
func (PostgreSQL) Traits() Traits { return Traits{WholeRows: true} }

// Analyse implements Dialect: the engine reads all expressions as PostgreSQL does.
func (PostgreSQL) Analyse(*Planner, *Scope, syntax.Expr) (*Expr, error) { return nil, nil }

// Exact implements Dialect.
func (PostgreSQL) Exact(*Planner) bool { return true }

// Output implements Dialect.
func (PostgreSQL) Output(*Planner, *Output) error { return nil }

// NextValues implements Dialect. PostgreSQL's parser has no such statement.
func (PostgreSQL) NextValues(_ *Planner, _ *Scope, _ *syntax.SelectCore, e *syntax.NextValues) (*Expr, error) {
	return nil, Unsupported(e.Pos, "NEXT VALUES")
}
