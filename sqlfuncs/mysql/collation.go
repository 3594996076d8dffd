package mysql

import (
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// collate is x COLLATE name.
func collate(p *engine.Planner, s *engine.Scope, e *syntax.Collate) (*engine.Expr, error) {
	x, err := p.Expr(s, e.X)
	if err != nil {
		return nil, err
	}
	if x, err = p.ResolveUnknown(x); err != nil {
		return nil, err
	}
	name, charset := e.Collation.Last(), charsetOf(e.Collation.Last())
	if charset == "" {
		return nil, engine.At(e.Pos, unknownCollation(name))
	}
	has := "utf8mb4"
	if x.Type == datum.Bytea {
		has = "binary"
	}
	if charset != has && (has == "binary" || charset != "utf8mb3") {
		return nil, engine.At(e.Pos, notOfCharset(name, has))
	}
	if !engine.IsString(x.Type) {
		if x, err = p.Coerce(x, datum.Text, datum.ImplicitCast); err != nil {
			return nil, engine.At(e.Pos, err)
		}
	}
	c := *x
	c.Collation = engine.Collation{Name: strings.ToLower(name), Strength: engine.Explicit}
	c.Column, c.Keys, c.Origin = false, nil, nil
	return &c, nil
}

func notOfCharset(name, charset string) error {
	return sqlstate.New(sqlstate.InvalidParameterValue, "COLLATION '%s' is not valid for CHARACTER SET '%s'", sqlstate.Cut(name, 64), charset).
		WithMySQL(1253, "42000")
}

func unknownCollation(name string) error {
	return sqlstate.New(sqlstate.InvalidParameterValue, "Unknown collation: '%s'", sqlstate.Cut(name, 64)).WithMySQL(1273, "HY000")
}

// coercibility is COERCIBILITY(x): 0 is the strongest.
func coercibility(_ *engine.Planner, es []*engine.Expr) (*engine.Expr, error) {
	n := int64(4 - es[0].Collation.Strength)
	switch e := es[0]; {
	case e.Collation.Strength == engine.Explicit:
		n = 0
	case e.Type == datum.Unknown && e.Literal != nil:
		n = 6
	case !engine.IsString(e.Type) && e.Type != datum.Bytea && e.Type != datum.Unknown:
		n = 5
	}
	return engine.Constant(datum.MakeInt4(n)), nil
}
