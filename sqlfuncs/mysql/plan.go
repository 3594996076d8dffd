package mysql

import (
	"slices"
	"strings"
	"unicode/utf8"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// Analyse implements engine.Dialect. It plans the expressions that have another
// meaning in MySQL, and returns nil, nil for the others.
func (*Dialect) Analyse(p *engine.Planner, s *engine.Scope, e syntax.Expr) (*engine.Expr, error) {
	switch e := e.(type) {
	case *syntax.Literal:
		return literal(p, e)
	case *syntax.Param:
		if p.Simple {
			return nil, engine.At(e.Pos, sqlstate.New(sqlstate.SyntaxError, "You have an error in your SQL syntax: ? stands for a value in a prepared statement only"))
		}
	case *syntax.Variable:
		return variable(p, e)
	case *syntax.Assign:
		return assignVariable(p, s, e)
	case *syntax.FuncCall:
		return call(p, s, e)
	case *syntax.Unary:
		return unary(p, s, e)
	case *syntax.Binary:
		if c, ok := intervalCast(e.R); ok && (e.Op == "+" || e.Op == "-") {
			return moveTime(p, s, e, c)
		}
		if e.Op == "||" { // PIPES_AS_CONCAT
			return p.Expr(s, &syntax.FuncCall{Pos: e.Pos, Name: syntax.Name{"concat"}, Args: []syntax.Arg{{Value: e.L}, {Value: e.R}}})
		}
	case *syntax.In:
		return inList(p, s, e)
	case *syntax.Cast:
		return castExpr(p, s, e)
	}
	return nil, nil
}

// literal plans strings as texts and numbers with an exponent as doubles. It returns
// nil, nil for other literals.
func literal(p *engine.Planner, l *syntax.Literal) (*engine.Expr, error) {
	switch {
	case l.Kind == syntax.StringLiteral:
		e := engine.Constant(datum.MakeText(l.Text))
		e.TypeMod = engine.TextMod(int32(utf8.RuneCountInString(l.Text)))
		return e, nil
	case l.Kind == syntax.NumericLiteral && strings.ContainsAny(l.Text, "eE"):
		v, err := datum.ParseText(datum.Float8, l.Text, nil)
		if err != nil {
			err = sqlstate.New(sqlstate.NumericOutOfRange, "Illegal double '%s' value found during parsing", sqlstate.Cut(l.Text, 64)).WithMySQL(1367, "22007")
		}
		return engine.Constant(v), engine.At(l.Pos, err)
	case l.Kind == syntax.NumericLiteral: // a DECIMAL with the precision and scale of the digits
		v, err := datum.ParseText(datum.Numeric, l.Text, nil)
		e := engine.Constant(v)
		whole, part, _ := strings.Cut(v.Str, ".")
		e.TypeMod = engine.NumericMod(max(int64(len(strings.TrimLeft(whole, "0"))), 1)+int64(len(part)), int64(len(part)))
		return e, engine.At(l.Pos, err)
	}
	return nil, nil
}

// Truth implements engine.Dialect. Any value can be a condition.
func (*Dialect) Truth(p *engine.Planner, e *engine.Expr, _ string) (*engine.Expr, error) {
	return p.Coerce(e, datum.Bool, datum.ImplicitCast)
}

// Coerce implements engine.Dialect. It also converts between types for which
// PostgreSQL has no cast; see cast.
func (d *Dialect) Coerce(p *engine.Planner, e *engine.Expr, t datum.OID, ctx datum.CastContext) (*engine.Expr, error) {
	if e.Literal != nil && e.Type == datum.Unknown && !e.Literal.Valid {
		return engine.Constant(datum.Null(t)).Named(e), nil
	}
	for _, typ := range []datum.OID{e.Type, t} {
		info, ok := datum.TypeInfo(typ)
		if typ == datum.Record || typ == datum.Interval || ok && info.Elem != 0 && !engine.IsString(typ) {
			return nil, sqlstate.New(sqlstate.Cardinality, "Operand should contain 1 column(s)").WithMySQL(1241, "21000")
		}
	}
	if isTemporal(e.Type) && isNumber(t) {
		return nil, cannotConvert(e.Type, t)
	}
	c := engine.Derive(t, func(x *engine.Exec) (datum.Value, error) {
		v, err := e.Eval(x)
		if err != nil {
			return v, err
		}
		return cast(x, v, t)
	}, e)
	return c.Named(e), nil
}

// Common implements engine.Dialect. It returns the type of CASE, IF, COALESCE and
// UNION (manual, "Flow Control Functions").
func (*Dialect) Common(types []datum.OID) (datum.OID, error) {
	result, long := datum.Unknown, slices.Contains(types, datum.Int8)
	for _, t := range types {
		switch {
		case t == datum.Unknown || t == result:
		case result == datum.Unknown:
			result = t
		case isNumber(t) && isNumber(result):
			k := max(kindOf(t), kindOf(result))
			if result = kindTypes[k]; k == kindInt && t != datum.Int8 {
				result = datum.Int4
				if long {
					result = datum.Int8
				}
			}
		case isTemporal(t) && isTemporal(result):
			result = datum.Timestamp
		case t == datum.Bytea || result == datum.Bytea:
			result = datum.Bytea
		default:
			result = datum.Text
		}
	}
	if result == datum.Bool {
		result = datum.Int4
	}
	return result, nil
}

// Comparable implements engine.Dialect.
func (*Dialect) Comparable(p *engine.Planner, _ string, l, r *engine.Expr) (left, right *engine.Expr, err error) {
	as := comparedAs(l, r)
	if left, err = as.convert(p, l); err == nil {
		right, err = as.convert(p, r)
	}
	return left, right, err
}

// compared describes how two expressions are compared: as values of a type. Texts
// are folded, so that texts which the collation calls equal are the same.
type compared struct {
	as            datum.OID
	fold, letters bool
}

// comparedAs returns how l and r are compared. Texts are not folded if one side is
// binary.
func comparedAs(l, r *engine.Expr) compared {
	t := comparisonType(l.Type, r.Type)
	return compared{t, t == datum.Text && l.Type != datum.Bytea && r.Type != datum.Bytea, l.Letters || r.Letters}
}

// convert converts one side of a comparison.
func (c compared) convert(p *engine.Planner, e *engine.Expr) (*engine.Expr, error) {
	e, err := p.Coerce(e, c.as, datum.ImplicitCast)
	if err == nil && c.fold {
		e = p.Folded(e, c.letters)
	}
	return e, err
}

// comparisonType returns the type in which two types are compared (manual, "Type
// Conversion in Expression Evaluation").
func comparisonType(a, b datum.OID) datum.OID {
	text := func(t datum.OID) bool {
		return engine.IsString(t) || t == datum.UUID || t == datum.JSON || t == datum.JSONB
	}
	switch {
	case a == datum.Unknown && b == datum.Unknown:
		return datum.Text
	case a == datum.Unknown || b == datum.Unknown:
		if a == datum.Unknown {
			a = b
		}
		if text(a) {
			return datum.Text
		}
		return a
	case a == datum.Bytea && b == datum.Bytea, a == datum.Bytea && text(b), b == datum.Bytea && text(a):
		return datum.Bytea
	case text(a) && text(b):
		return datum.Text
	case isTemporal(a) && isTemporal(b):
		if a == b {
			return a
		}
		return datum.Timestamp
	case isTemporal(a) && text(b), isTemporal(b) && text(a):
		return datum.Timestamp
	case text(a) || text(b):
		// MySQL compares a text and a number as doubles, which lose digits of ids.
		// Decimals keep them.
		if kindOf(a) == kindDouble && kindOf(b) == kindDouble {
			return datum.Float8
		}
		return datum.Numeric
	}
	return kindTypes[max(kindOf(a), kindOf(b))]
}

// comparison plans l op r. If it is column = value, the expression keeps the value
// as a key, by which tables look up their rows.
func comparison(p *engine.Planner, op string, test func(int) bool, l, r *engine.Expr) (*engine.Expr, error) {
	left, right, err := p.Dialect.Comparable(p, op, l, r)
	if err != nil {
		return nil, err
	}
	e := engine.Strict2(datum.Bool, left, right, func(_ *engine.Exec, a, b datum.Value) (datum.Value, error) {
		c, err := datum.Compare(a, b)
		return datum.MakeBool(test(c)), err
	})
	if op == "=" {
		for _, pair := range [][2]*engine.Expr{{l, r}, {r, l}} {
			// A join that looks up rows by texts would distinguish case.
			if column := pair[0]; column.Column && (!engine.IsString(column.Type) || len(pair[1].Refs) == 0) {
				value, err := p.Coerce(pair[1], column.Type, datum.ImplicitCast)
				if err != nil {
					return nil, err
				}
				e.Know(engine.Known{Keys: append(e.Known().Keys, engine.EqualsKey(column, value)...)})
			}
		}
	}
	return e, nil
}

// inList plans [NOT] IN (list). It returns nil, nil for a subquery.
func inList(p *engine.Planner, s *engine.Scope, e *syntax.In) (*engine.Expr, error) {
	if e.Query != nil {
		return nil, nil
	}
	es, err := p.InList(s, e)
	if err != nil {
		return nil, err
	}
	x, finish := engine.Once(es[0])
	items := es[1:]
	pairs := make([]engine.Pair, len(items))
	var as compared
	for i, item := range items {
		p.Yield()
		if i > 0 && item.Type == items[i-1].Type && item.Letters == items[i-1].Letters {
			pairs[i].Left = pairs[i-1].Left
		} else {
			as = comparedAs(x, item)
			pairs[i].Left, err = as.convert(p, x)
		}
		if err == nil {
			pairs[i].Right, err = as.convert(p, item)
		}
		if err != nil {
			return nil, engine.At(e.Pos, err)
		}
	}
	in := finish(engine.In(pairs, e.Not, es))
	if !es[0].Column || e.Not {
		return in, nil
	}
	values := make([]*engine.Expr, len(items))
	for i, item := range items {
		if values[i], err = p.Coerce(item, es[0].Type, datum.ImplicitCast); err != nil {
			return nil, engine.At(e.Pos, err)
		}
	}
	in.IsOneOf(es[0], values)
	return in, nil
}
