package sqlfuncs

import (
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// collate is x COLLATE name.
func (p *planner) collate(s *scope, e *syntax.Collate) (*expr, error) {
	x, err := p.expr(s, e.X)
	if err != nil {
		return nil, err
	}
	if x, err = p.resolveUnknown(x); err != nil {
		return nil, err
	}
	name, charset := e.Collation.Last(), charsetOf(e.Collation.Last())
	if charset == "" {
		return nil, at(e.Pos, unknownCollation(name))
	}
	has := "utf8mb4"
	if x.typ == datum.Bytea {
		has = "binary"
	}
	if charset != has && (has == "binary" || charset != "utf8mb3") {
		return nil, at(e.Pos, notOfCharset(name, has))
	}
	if !isString(x.typ) {
		if x, err = p.coerce(x, datum.Text, datum.ImplicitCast); err != nil {
			return nil, at(e.Pos, err)
		}
	}
	c := *x
	c.collation = collation{strings.ToLower(name), explicit}
	c.column, c.keys, c.origin = false, nil, nil
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
func coercibility(_ *planner, es []*expr) (*expr, error) {
	n := int64(4 - es[0].collation.strength)
	switch e := es[0]; {
	case e.collation.strength == explicit:
		n = 0
	case e.typ == datum.Unknown && e.lit != nil:
		n = 6
	case !isString(e.typ) && e.typ != datum.Bytea && e.typ != datum.Unknown:
		n = 5
	}
	return constant(datum.MakeInt4(n)), nil
}
