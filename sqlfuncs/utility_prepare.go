package sqlfuncs

import (
	"errors"
	"io"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/mysql"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// prepare plans PREPARE name AS statement. The inner statement is analysed
// when PREPARE runs.
func prepare(p *engine.Planner, st *Statement, t *syntax.Prepare) error {
	st.tag = "PREPARE"
	var types []datum.OID
	for _, tn := range t.Types {
		oid, _, err := p.TypeName(tn)
		if err != nil {
			return err
		}
		types = append(types, oid)
	}
	st.utility = utilityFunc(func(x *engine.Exec) error {
		s := sessionOf(x)
		if _, ok := s.prepared[t.Name]; ok {
			return alreadyPrepared(t.Name)
		}
		tree, err := s.parseOne(t.Text) // parsed again, so that positions refer to the inner text
		if err != nil {
			return err
		}
		inner, err := s.plan(tree, t.Text, t.Text, types)
		if err != nil {
			return err
		}
		return s.keep(t.Name, inner, st.Text)
	})
	return nil
}

// deallocatePlan plans DEALLOCATE name and DEALLOCATE ALL.
func deallocatePlan(st *Statement, t *syntax.Deallocate) {
	st.tag = "DEALLOCATE"
	if t.Name == "" {
		st.tag = "DEALLOCATE ALL"
	}
	st.utility = utilityFunc(func(x *engine.Exec) error {
		if t.Name == "" {
			sessionOf(x).unprepareAll()
			return nil
		}
		if _, err := sessionOf(x).Prepared([]byte(t.Name)); err != nil {
			return err
		}
		sessionOf(x).Unprepare([]byte(t.Name))
		return nil
	})
}

// executePlan runs EXECUTE name (args) in a portal of its own.
type executePlan struct {
	name string
	args []*engine.Expr
	ast  *syntax.Execute

	variant *Statement // MySQL: planned for the types of the arguments
}

// execute plans EXECUTE. The plan depends on the session's prepared statements and
// is not cached.
func execute(p *engine.Planner, st *Statement, t *syntax.Execute) error {
	p.Private = true
	inner, err := plannedFor(p).Prepared([]byte(t.Name))
	if err != nil {
		return engine.At(t.Pos, err)
	}
	if len(t.Args) != len(inner.Params) && isMySQL(p) {
		return engine.At(t.Pos, sqlstate.New(sqlstate.SyntaxError, "Incorrect arguments to EXECUTE: the statement has %d parameters, %d are given",
			len(inner.Params), len(t.Args)).WithMySQL(1210, "HY000"))
	}
	if len(t.Args) != len(inner.Params) {
		return engine.At(t.Pos, sqlstate.New(sqlstate.SyntaxError, "wrong number of parameters for prepared statement %q", sqlstate.Cut(t.Name, 64)).
			WithDetail("Expected %d parameters but got %d.", len(inner.Params), len(t.Args)))
	}
	e := &executePlan{name: t.Name, ast: t}
	given := make([]Arg, len(t.Args))
	for i, a := range t.Args {
		x, err := p.Expr(nil, a)
		if err == nil && isMySQL(p) {
			given[i].Type = x.Type
			e.args = append(e.args, x)
			continue
		}
		if err == nil {
			x, err = p.Coerce(x, inner.Params[i], datum.AssignmentCast)
		}
		if err != nil {
			return engine.At(a.Position(), err)
		}
		e.args = append(e.args, x)
	}
	if isMySQL(p) {
		if inner, err = plannedFor(p).forTypes(inner, given); err == nil {
			e.variant, err = inner, mysql.CoerceParams(p, e.args, inner.Params)
		}
		if err != nil {
			return err
		}
	}
	st.tag, st.Columns, st.utility = inner.tag, inner.Columns, e
	return nil
}

// columns returns the columns of the prepared statement, which only the session
// knows.
func (e *executePlan) columns(s *Session) []engine.Column {
	if e.variant != nil {
		return e.variant.Columns
	}
	if st, ok := s.prepared[e.name]; ok {
		return st.Columns
	}
	return nil
}

// run implements utility. It yields the rows of a query. Other statements have run
// when it returns.
func (e *executePlan) run(x *engine.Exec) (engine.Rows, error) {
	st, err := sessionOf(x).Prepared([]byte(e.name))
	if err != nil {
		return nil, err
	}
	if e.variant != nil {
		st = e.variant
	}
	if err := sessionOf(x).checkTransaction(st.exits); err != nil {
		return nil, err
	}
	params, err := engine.EvalAll(x, e.args)
	if err != nil {
		return nil, err
	}
	inner := &Portal{}
	inner.init(sessionOf(x), st, params)
	if st.Columns == nil {
		_, err := inner.Next(x.Ctx)
		if errors.Is(err, io.EOF) {
			err = nil
		}
		x.Tag = inner.tag
		return nil, err
	}
	x.Tag = inner.tag
	return &portalRows{inner}, nil
}

// portalRows yields the rows of a portal inside another statement.
type portalRows struct{ p *Portal }

func (r *portalRows) Next(x *engine.Exec) ([]datum.Value, error) { return r.p.Next(x.Ctx) }
func (r *portalRows) Close()                                     { r.p.Close() }

// call plans MySQL's DO, which computes expressions and discards the results.
func call(p *engine.Planner, st *Statement, t *syntax.Call) error {
	exprs, err := p.Exprs(nil, t.Exprs)
	if err != nil {
		return err
	}
	st.tag = "DO"
	st.utility = utilityFunc(func(x *engine.Exec) error {
		_, err := engine.EvalAll(x, exprs)
		return err
	})
	return nil
}

// parseOne parses the text of a PREPARE.
func (s *Session) parseOne(text string) (syntax.Statement, error) {
	parsed, err := s.parse(text)
	if err == nil && len(parsed) != 1 {
		err = sqlstate.New(sqlstate.SyntaxError, "PREPARE needs one statement")
	}
	if err != nil {
		return nil, err
	}
	return parsed[0].Statement, nil
}

// alreadyPrepared returns the error for a name that is in use (42P05).
func alreadyPrepared(name string) error {
	return sqlstate.New(sqlstate.DuplicateStatement, "prepared statement %q already exists", sqlstate.Cut(name, 64))
}
