package engine

import (
	"encoding/json"
	"slices"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

func (p *Planner) unary(s *Scope, e *syntax.Unary) (*Expr, error) {
	if e.Op == "NOT" {
		x, err := p.Boolean(s, e.X, "NOT")
		if err != nil {
			return nil, err
		}
		return Not(x), nil
	}
	if l := negated(e); l != nil && l.Kind == syntax.IntegerLiteral {
		return p.literal(l) // so that the smallest integers are literals
	}
	x, err := p.Expr(s, e.X)
	if err != nil {
		return nil, err
	}
	if x.Type == datum.Unknown {
		if x, err = p.Coerce(x, datum.Float8, datum.ImplicitCast); err != nil {
			return nil, At(e.Pos, err)
		}
	}
	if !IsNumber(x.Type) {
		return nil, At(e.Pos, sqlstate.New(sqlstate.UndefinedFunction, "operator does not exist: %s %s", e.Op, datum.FormatType(x.Type, -1)).
			WithHint("Cast the operand to a type that has this operator."))
	}
	return Strict1(x.Type, x, func(_ *Exec, v datum.Value) (datum.Value, error) {
		if e.Op == "+" {
			return v, nil
		}
		return datum.Neg(v)
	}), nil
}

// negated returns the literal that PostgreSQL's parser makes of - and a number, nil for
// all else.
func negated(e *syntax.Unary) *syntax.Literal {
	if l, ok := e.X.(*syntax.Literal); ok && e.Op == "-" && (l.Kind == syntax.IntegerLiteral || l.Kind == syntax.NumericLiteral) {
		return &syntax.Literal{Pos: e.Pos, Kind: l.Kind, Text: "-" + l.Text}
	}
	return nil
}

// Not is the three-valued NOT.
func Not(e *Expr) *Expr {
	return Strict1(datum.Bool, e, func(_ *Exec, v datum.Value) (datum.Value, error) { return datum.MakeBool(v.Int == 0), nil })
}

// IsInteger reports whether values of a type are whole numbers.
func IsInteger(t datum.OID) bool {
	return t == datum.Int2 || t == datum.Int4 || t == datum.Int8 || t == datum.Oid || t == datum.Xid
}

// IsNumber reports whether a type is numeric.
func IsNumber(t datum.OID) bool { return datum.NumberRank[t] > 0 }

// IsString reports whether a type is a string type.
func IsString(t datum.OID) bool {
	switch t {
	case datum.Text, datum.Varchar, datum.BPChar, datum.Name, datum.Char, datum.CString:
		return true
	}
	return false
}

// Comparisons maps an operator to a test of a comparison's result: -1, 0 or 1.
var Comparisons = map[string]func(c int) bool{
	"=":  func(c int) bool { return c == 0 },
	"<>": func(c int) bool { return c != 0 },
	"<":  func(c int) bool { return c < 0 },
	"<=": func(c int) bool { return c <= 0 },
	">":  func(c int) bool { return c > 0 },
	">=": func(c int) bool { return c >= 0 },
}

func (p *Planner) binary(s *Scope, e *syntax.Binary) (*Expr, error) {
	switch e.Op {
	case "AND", "OR":
		return p.logical(s, e)
	case "<=>":
		return p.isDistinct(s, &syntax.IsDistinct{Pos: e.Pos, Not: true, L: e.L, R: e.R})
	}
	es, err := p.Exprs(s, []syntax.Expr{e.L, e.R})
	if err != nil {
		return nil, err
	}
	x, err := p.Dialect.Operator(p, e.Op, es[0], es[1])
	return x, At(e.Pos, err)
}

// Operator implements Dialect.
func (PostgreSQL) Operator(p *Planner, op string, l, r *Expr) (*Expr, error) {
	if test, ok := Comparisons[op]; ok {
		return p.comparison(op, test, l, r)
	}
	switch op {
	case "||":
		return p.concat(l, r)
	case "~", "~*", "!~", "!~*":
		return p.regex(op, l, r)
	case "&", "|", "#", "<<", ">>":
		return p.bitwise(op, l, r)
	case "->", "->>":
		return p.jsonOperator(op, l, r)
	}
	return p.arithmetic(op, l, r)
}

func noOperator(op string, l, r *Expr) error {
	return sqlstate.New(sqlstate.UndefinedFunction, "operator does not exist: %s %s %s",
		datum.FormatType(l.Type, -1), op, datum.FormatType(r.Type, -1)).
		WithHint("Cast one side to the type of the other, or both to a type that has this operator.")
}

// logical plans the three-valued AND and OR.
func (p *Planner) logical(s *Scope, e *syntax.Binary) (*Expr, error) {
	l, err := p.Boolean(s, e.L, e.Op)
	if err != nil {
		return nil, err
	}
	r, err := p.Boolean(s, e.R, e.Op)
	if err != nil {
		return nil, err
	}
	x := Logic(e.Op, l, r)
	if e.Op == "OR" {
		x.Know(Known{Keys: eitherKey(l, r)})
	}
	return x, nil
}

// eitherKey returns the key tests of l OR r: on columns that both sides test.
func eitherKey(l, r *Expr) (keys []*KeyTest) {
	for _, a := range l.Known().Keys {
		for _, b := range r.Known().Keys {
			if a.Column != b.Column {
				continue
			}
			keys = append(keys, &KeyTest{Column: a.Column, Refs: slices.Concat(a.Refs, b.Refs), Values: func(x *Exec) ([]datum.Value, error) {
				values, err := a.Values(x)
				if err != nil {
					return nil, err
				}
				more, err := b.Values(x)
				return slices.Concat(values, more), err
			}})
		}
	}
	return keys
}

// Logic is the three-valued l AND r or l OR r.
func Logic(op string, l, r *Expr) *Expr {
	decides := int64(0) // false decides AND, true decides OR
	if op == "OR" {
		decides = 1
	}
	return Derive(datum.Bool, func(x *Exec) (datum.Value, error) {
		a, err := l.Eval(x)
		if err != nil || (a.Valid && a.Int == decides) {
			return a, err
		}
		b, err := r.Eval(x)
		if err != nil || (b.Valid && b.Int == decides) {
			return b, err
		}
		if !a.Valid || !b.Valid {
			return datum.Null(datum.Bool), nil
		}
		return datum.MakeBool(decides == 0), nil
	}, l, r)
}

// Comparable implements Dialect.
func (PostgreSQL) Comparable(p *Planner, op string, l, r *Expr) (*Expr, *Expr, error) {
	if l.Type == datum.Unknown && r.Type == datum.Unknown {
		var err error
		if l, err = p.Coerce(l, datum.Text, datum.ImplicitCast); err != nil {
			return nil, nil, err
		}
	}
	if IsString(l.Type) && IsString(r.Type) {
		return l, r, nil
	}
	pair := []*Expr{l, r}
	t, err := datum.CommonType([]datum.OID{l.Type, r.Type})
	if err != nil || datum.IsReg(l.Type) != datum.IsReg(r.Type) {
		if t, err = oidLike(l.Type, r.Type); err != nil {
			return nil, nil, noOperator(op, l, r)
		}
	}
	for i, e := range pair {
		as := t
		if t == datum.Varchar && e.Type == datum.Unknown {
			as = datum.Text // varchar has no operators of its own
		}
		if pair[i], err = p.Coerce(e, as, datum.ImplicitCast); err != nil {
			if e.untyped() {
				return nil, nil, err
			}
			return nil, nil, noOperator(op, l, r)
		}
	}
	return pair[0], pair[1], nil
}

// oidLike returns the type in which a reg type (regclass, …) is compared with
// another operand: an untyped literal takes the reg type; integers, oids and other
// reg types are compared as oid.
func oidLike(a, b datum.OID) (datum.OID, error) {
	like := func(t datum.OID) bool { return datum.IsReg(t) || IsInteger(t) || t == datum.Unknown }
	switch {
	case datum.IsReg(a) && b == datum.Unknown:
		return a, nil
	case datum.IsReg(b) && a == datum.Unknown:
		return b, nil
	case like(a) && like(b):
		return datum.Oid, nil
	}
	return 0, noOperator("=", &Expr{Type: a}, &Expr{Type: b})
}

func (p *Planner) comparison(op string, test func(int) bool, l, r *Expr) (*Expr, error) {
	l, r, err := p.Dialect.Comparable(p, op, l, r)
	if err != nil {
		return nil, err
	}
	e := Strict2(datum.Bool, l, r, func(_ *Exec, a, b datum.Value) (datum.Value, error) {
		c, err := datum.Compare(a, b)
		return datum.MakeBool(test(c)), err
	})
	if op == "=" {
		e.Know(Known{Keys: append(EqualsKey(l, r), EqualsKey(r, l)...), equal: []*Expr{l, r}})
	}
	return e, nil
}

// EqualsKey returns the key test of column = value.
func EqualsKey(column, value *Expr) []*KeyTest {
	if !column.Column || value.Volatile {
		return nil
	}
	return []*KeyTest{{Column: column.Refs[0], Refs: value.Refs, Values: func(x *Exec) ([]datum.Value, error) {
		v, err := value.Eval(x)
		return []datum.Value{v}, err
	}}}
}

// Strict2 makes a binary operator that is NULL when an operand is.
func Strict2(t datum.OID, l, r *Expr, op func(x *Exec, a, b datum.Value) (datum.Value, error)) *Expr {
	return Derive(t, func(x *Exec) (datum.Value, error) {
		a, err := l.Eval(x)
		if err != nil || !a.Valid {
			return datum.Null(t), err
		}
		b, err := r.Eval(x)
		if err != nil || !b.Valid {
			return datum.Null(t), err
		}
		if err := x.Compared(a, b); err != nil {
			return datum.Null(t), err
		}
		return op(x, a, b)
	}, l, r)
}

// joinsItself lists the types that PostgreSQL's || joins to a value of the same type,
// not to a text. nextid joins two typed bytea, and none of the others.
var joinsItself = map[datum.OID]bool{datum.Bytea: true, datum.Bit: true, datum.VarBit: true, datum.JSONB: true}

func (p *Planner) concat(l, r *Expr) (*Expr, error) {
	li, _ := datum.TypeInfo(l.Type)
	ri, _ := datum.TypeInfo(r.Type)
	switch {
	case li.Elem != 0 || ri.Elem != 0:
		return p.arrayConcat(l, r, li, ri)
	case IsString(l.Type) || IsString(r.Type):
	case l.Type == datum.Bytea && r.Type == datum.Bytea:
		return Strict2(datum.Bytea, l, r, func(_ *Exec, a, b datum.Value) (datum.Value, error) {
			return datum.MakeString(datum.Bytea, a.Str+b.Str), nil
		}), nil
	case l.Type != datum.Unknown && r.Type != datum.Unknown, joinsItself[l.Type], joinsItself[r.Type]:
		return nil, noOperator("||", l, r)
	}
	var err error
	if l, err = p.Coerce(l, datum.Text, datum.ExplicitCast); err != nil {
		return nil, err
	}
	if r, err = p.Coerce(r, datum.Text, datum.ExplicitCast); err != nil {
		return nil, err
	}
	return Strict2(datum.Text, l, r, func(_ *Exec, a, b datum.Value) (datum.Value, error) {
		if len(a.Str)+len(b.Str) > MaxTextBytes {
			return a, ErrTextTooLong
		}
		return datum.MakeText(a.Str + b.Str), nil
	}), nil
}

// MaxTextBytes limits a text that an expression builds.
const MaxTextBytes = 1 << 20

// ErrTextTooLong is returned for a text of more than MaxTextBytes.
var ErrTextTooLong = sqlstate.New(sqlstate.LimitExceeded, "a text value may have at most %d bytes", MaxTextBytes)

func (p *Planner) arrayConcat(l, r *Expr, li, ri datum.Info) (*Expr, error) {
	array := l.Type
	elem := li.Elem
	if elem == 0 {
		array, elem = r.Type, ri.Elem
	}
	refused := noOperator("||", l, r)
	if info, _ := datum.TypeInfo(elem); info.Array != array {
		return nil, refused // PostgreSQL makes an array of a vector, which counts from 0
	}
	var err error
	for _, side := range []**Expr{&l, &r} {
		want := array
		if info, _ := datum.TypeInfo((*side).Type); info.Elem == 0 && (*side).Type != datum.Unknown {
			want = elem
		}
		literal := (*side).untyped()
		if *side, err = p.Coerce(*side, want, datum.ImplicitCast); err != nil && literal {
			return nil, err
		} else if err != nil {
			return nil, refused
		}
	}
	return Derive(array, func(x *Exec) (datum.Value, error) {
		out := datum.Null(array)
		for _, side := range []*Expr{l, r} {
			v, err := side.Eval(x)
			if err != nil {
				return v, err
			}
			switch {
			case side.Type == elem:
				out = datum.MakeArray(array, append(out.Elems, v))
			case v.Valid:
				out = datum.MakeArray(array, append(out.Elems, v.Elems...))
			}
		}
		return out, nil
	}, l, r), nil
}

// bitwise plans & | # on integers, and the shifts of an integer by an int4.
func (p *Planner) bitwise(op string, l, r *Expr) (*Expr, error) {
	refused := noOperator(op, l, r)
	number := IsInteger(l.Type) && r.untyped() || l.untyped() && IsInteger(r.Type) // the literal must be one
	var err error
	if (op == "<<" || op == ">>") && l.Type != datum.Unknown {
		r, err = p.Coerce(r, datum.Int4, datum.ImplicitCast)
	} else {
		l, r, err = p.Dialect.Comparable(p, op, l, r)
	}
	var size uint64 // in bits; C computes with 32 at least
	switch {
	case err != nil && number:
		return nil, err
	case err != nil:
		return nil, refused
	case l.Type == datum.Int8:
		size = 64
	case l.Type == datum.Int4, l.Type == datum.Int2:
		size = 32
	default:
		return nil, refused
	}
	return Strict2(l.Type, l, r, func(_ *Exec, a, b datum.Value) (datum.Value, error) {
		switch op {
		case "&":
			a.Int &= b.Int
		case "|":
			a.Int |= b.Int
		case "#":
			a.Int ^= b.Int
		case "<<":
			a.Int <<= uint64(b.Int) % size
		case ">>":
			a.Int >>= uint64(b.Int) % size
		}
		switch a.Type {
		case datum.Int4:
			a.Int = int64(int32(a.Int))
		case datum.Int2:
			a.Int = int64(int16(a.Int))
		}
		return a, nil
	}), nil
}

// regex plans PostgreSQL's operators ~, ~*, !~ and !~*.
func (p *Planner) regex(op string, l, r *Expr) (*Expr, error) {
	refused := noOperator(op, l, r)
	pair := []*Expr{l, r}
	if p.CoerceAll(pair, datum.Text) != nil {
		return nil, refused
	}
	fold := strings.HasSuffix(op, "*")
	return Strict2(datum.Bool, pair[0], pair[1], func(x *Exec, a, b datum.Value) (datum.Value, error) {
		p, err := CompilePattern(b.Str, fold)
		if err != nil {
			return a, err
		}
		match, err := p.Matches(x, a.Str)
		return datum.MakeBool(match != (op[0] == '!')), err
	}), nil
}

func (p *Planner) is(s *Scope, e *syntax.Is) (*Expr, error) {
	var x *Expr
	var err error
	if e.What == "NULL" {
		if x, err = p.Expr(s, e.X); err == nil {
			x, err = p.ResolveUnknown(x)
		}
	} else {
		x, err = p.Boolean(s, e.X, "IS "+e.What)
	}
	if err != nil {
		return nil, At(e.Pos, err)
	}
	what, not := e.What, e.Not
	return Derive(datum.Bool, func(ex *Exec) (datum.Value, error) {
		v, err := x.Eval(ex)
		if v.Type == datum.Record && v.Valid { // all fields of it are NULL, or none is
			other := slices.ContainsFunc(v.Elems, func(field datum.Value) bool { return field.Valid != not })
			return datum.MakeBool(!other), err
		}
		var yes bool
		switch what {
		case "NULL", "UNKNOWN":
			yes = !v.Valid
		case "TRUE":
			yes = v.Valid && v.Int == 1
		case "FALSE":
			yes = v.Valid && v.Int == 0
		}
		return datum.MakeBool(yes != not), err
	}, x), nil
}

func (p *Planner) isDistinct(s *Scope, e *syntax.IsDistinct) (*Expr, error) {
	es, err := p.Exprs(s, []syntax.Expr{e.L, e.R})
	if err != nil {
		return nil, err
	}
	l, r, err := p.Dialect.Comparable(p, "=", es[0], es[1])
	if err != nil {
		return nil, At(e.Pos, err)
	}
	not := e.Not
	return Derive(datum.Bool, func(x *Exec) (datum.Value, error) {
		a, err := l.Eval(x)
		if err != nil {
			return a, err
		}
		b, err := r.Eval(x)
		if err != nil {
			return b, err
		}
		same := !a.Valid && !b.Valid
		if a.Valid && b.Valid {
			c, err := datum.Compare(a, b)
			if err != nil {
				return a, err
			}
			same = c == 0
		}
		return datum.MakeBool(same == not), nil
	}, l, r), nil
}

func (p *Planner) between(s *Scope, e *syntax.Between) (*Expr, error) {
	es, err := p.Exprs(s, []syntax.Expr{e.X, e.Low, e.High})
	if err != nil {
		return nil, err
	}
	x, finish := Once(es[0])
	above, err := p.Dialect.Operator(p, ">=", x, es[1])
	if err != nil {
		return nil, At(e.Pos, err)
	}
	below, err := p.Dialect.Operator(p, "<=", x, es[2])
	if err != nil {
		return nil, At(e.Pos, err)
	}
	test := Logic("AND", above, below)
	if e.Not {
		test = Not(test)
	}
	return finish(test), nil
}

// jsonOperator plans -> and ->> on json and jsonb (9.16): a member of an object by
// its key, or an element of an array by its number, as JSON or as text.
func (p *Planner) jsonOperator(op string, l, r *Expr) (*Expr, error) {
	if l.Type == datum.Unknown && r.Type == datum.Unknown {
		return nil, ambiguousOperator(op)
	}
	if l.Type != datum.JSON && l.Type != datum.JSONB {
		return nil, noOperator(op, l, r)
	}
	want := datum.Text
	if r.Type == datum.Int2 || r.Type == datum.Int4 {
		want = datum.Int4
	}
	key, err := p.Coerce(r, want, datum.ImplicitCast)
	if err != nil {
		return nil, noOperator(op, l, r)
	}
	result := l.Type
	if op == "->>" {
		result = datum.Text
	}
	return Strict2(result, l, key, func(x *Exec, a, b datum.Value) (datum.Value, error) {
		defer x.rowDone(x.values)
		if err := x.working([]datum.Value{a}); err != nil {
			return a, err
		}
		part := jsonPart(a.Str, b)
		switch {
		case part == "" || op == "->>" && part == "null":
			return datum.Null(result), nil
		case op == "->>" && part[0] == '"':
			s, err := datum.UnquoteJSON(part)
			return datum.MakeText(s), err
		}
		return datum.MakeString(result, part), nil
	}), nil
}

// jsonPart returns the element or the member of a JSON text, as written, or "".
// Numbers of elements below 0 count from the end; of equal keys the last counts.
func jsonPart(text string, key datum.Value) string {
	if key.Type == datum.Int4 {
		var list []json.RawMessage
		err := json.Unmarshal([]byte(text), &list)
		n := key.Int
		if n < 0 {
			n += int64(len(list))
		}
		if err != nil || n < 0 || n >= int64(len(list)) {
			return ""
		}
		return string(list[n])
	}
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &object) != nil {
		return ""
	}
	return string(object[key.Str])
}
