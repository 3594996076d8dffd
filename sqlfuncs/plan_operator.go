package sqlfuncs

import (
	"regexp"
	"strings"
	"sync/atomic"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

func (p *planner) unary(s *scope, e *syntax.Unary) (*expr, error) {
	if e.Op == "NOT" {
		x, err := p.boolean(s, e.X, "NOT")
		if err != nil {
			return nil, err
		}
		return not(x), nil
	}
	x, err := p.expr(s, e.X)
	if err != nil {
		return nil, err
	}
	if l, ok := e.X.(*syntax.Literal); ok && e.Op == "-" && l.Kind == syntax.IntegerLiteral {
		return p.literal(&syntax.Literal{Pos: e.Pos, Kind: l.Kind, Text: "-" + l.Text}) // the least integers are literals, too
	}
	if x.typ == datum.Unknown {
		if x, err = p.coerce(x, datum.Float8, datum.ImplicitCast); err != nil {
			return nil, at(e.Pos, err)
		}
	}
	var op func(datum.Value) (datum.Value, error)
	switch {
	case e.Op == "+" && isNumber(x.typ):
		return x, nil
	case e.Op == "-" && (isNumber(x.typ) || x.typ == datum.Interval):
		op = datum.Neg
	case e.Op == "~" && isInteger(x.typ):
		op = func(v datum.Value) (datum.Value, error) { v.Int = ^v.Int; return v, nil }
	default:
		return nil, at(e.Pos, sqlstate.New(sqlstate.UndefinedFunction, "operator does not exist: %s %s", e.Op, datum.FormatType(x.typ, -1)).
			WithHint("No operator matches the given name and argument type. You might need to add an explicit type cast."))
	}
	r := derive(x.typ, func(ex *exec) (datum.Value, error) {
		v, err := x.eval(ex)
		if err != nil || !v.Valid {
			return v, err
		}
		return op(v)
	}, x)
	return r, nil
}

// not is three-valued NOT.
func not(e *expr) *expr {
	return derive(datum.Bool, func(x *exec) (datum.Value, error) {
		v, err := e.eval(x)
		if err != nil || !v.Valid {
			return datum.Null(datum.Bool), err
		}
		return datum.MakeBool(v.Int == 0), nil
	}, e)
}

func isInteger(t datum.OID) bool {
	return t == datum.Int2 || t == datum.Int4 || t == datum.Int8 || t == datum.Oid || t == datum.Xid
}

func isNumber(t datum.OID) bool {
	return t == datum.Int2 || t == datum.Int4 || t == datum.Int8 || t == datum.Float4 || t == datum.Float8 || t == datum.Numeric
}

func isString(t datum.OID) bool {
	switch t {
	case datum.Text, datum.Varchar, datum.BPChar, datum.Name, datum.Char, datum.CString:
		return true
	}
	return false
}

var comparisons = map[string]func(c int) bool{
	"=":  func(c int) bool { return c == 0 },
	"<>": func(c int) bool { return c != 0 },
	"!=": func(c int) bool { return c != 0 },
	"<":  func(c int) bool { return c < 0 },
	"<=": func(c int) bool { return c <= 0 },
	">":  func(c int) bool { return c > 0 },
	">=": func(c int) bool { return c >= 0 },
}

func (p *planner) binary(s *scope, e *syntax.Binary) (*expr, error) {
	switch e.Op {
	case "AND", "OR":
		return p.logical(s, e)
	case "<=>":
		return p.isDistinct(s, &syntax.IsDistinct{Pos: e.Pos, Not: true, L: e.L, R: e.R})
	}
	if l, ok := e.L.(*syntax.Row); ok {
		if r, ok := e.R.(*syntax.Row); ok {
			left, err := p.exprs(s, l.Elems)
			if err != nil {
				return nil, err
			}
			return p.rowComparison(s, e.Pos, e.Op, left, r)
		}
	}
	l, err := p.expr(s, e.L)
	if err != nil {
		return nil, err
	}
	r, err := p.expr(s, e.R)
	if err != nil {
		return nil, err
	}
	x, err := p.operator(e.Op, l, r)
	return x, at(e.Pos, err)
}

// operator builds l op r.
func (p *planner) operator(op string, l, r *expr) (*expr, error) {
	if p.mysql {
		return p.dialect.operator(p, op, l, r)
	}
	if test, ok := comparisons[op]; ok {
		return p.comparison(op, test, l, r)
	}
	if like, ok := likeOperators[op]; ok {
		return p.pattern(like.op, like.not, l, r, constant(datum.MakeText(`\`)))
	}
	switch op {
	case "||":
		return p.concat(l, r)
	case "~", "~*", "!~", "!~*":
		return p.regex(op, l, r)
	case "&", "|", "#", "<<", ">>":
		return p.bitwise(op, l, r)
	case "->", "->>", "#>", "#>>":
		return p.jsonOperator(op, l, r)
	case "@>", "<@", "&&":
		return p.arrayOperator(op, l, r)
	}
	return p.arithmetic(op, l, r)
}

func noOperator(op string, l, r *expr) error {
	return sqlstate.New(sqlstate.UndefinedFunction, "operator does not exist: %s %s %s",
		datum.FormatType(l.typ, -1), op, datum.FormatType(r.typ, -1)).
		WithHint("No operator matches the given name and argument types. You might need to add explicit type casts.")
}

// logical is three-valued AND and OR.
func (p *planner) logical(s *scope, e *syntax.Binary) (*expr, error) {
	l, err := p.boolean(s, e.L, e.Op)
	if err != nil {
		return nil, err
	}
	r, err := p.boolean(s, e.R, e.Op)
	if err != nil {
		return nil, err
	}
	return logic(e.Op, l, r), nil
}

// logic is l AND r, l OR r.
func logic(op string, l, r *expr) *expr {
	decides := int64(0) // false decides AND, true decides OR
	if op == "OR" {
		decides = 1
	}
	return derive(datum.Bool, func(x *exec) (datum.Value, error) {
		a, err := l.eval(x)
		if err != nil || (a.Valid && a.Int == decides) {
			return a, err
		}
		b, err := r.eval(x)
		if err != nil || (b.Valid && b.Int == decides) {
			return b, err
		}
		if !a.Valid || !b.Valid {
			return datum.Null(datum.Bool), nil
		}
		return datum.MakeBool(decides == 0), nil
	}, l, r)
}

// comparable converts both sides to one type.
func (p *planner) comparable(op string, l, r *expr) (*expr, *expr, error) {
	if p.mysql {
		return p.dialect.comparable(p, l, r)
	}
	if l.typ == datum.Unknown && r.typ == datum.Unknown {
		var err error
		if l, err = p.coerce(l, datum.Text, datum.ImplicitCast); err != nil {
			return nil, nil, err
		}
	}
	pair := []*expr{l, r}
	t, err := datum.CommonType([]datum.OID{l.typ, r.typ})
	if err != nil {
		if s := sharedString(l.typ, r.typ); s != 0 {
			t, err = s, nil
		}
	}
	if err != nil || isReg(l.typ) != isReg(r.typ) {
		if t, err = oidLike(l.typ, r.typ); err != nil {
			return nil, nil, noOperator(op, l, r)
		}
	}
	for i, e := range pair {
		as := t
		if t == datum.Varchar && e.typ == datum.Unknown {
			as = datum.Text // varchar has no operators of its own
		}
		if pair[i], err = p.coerce(e, as, datum.ImplicitCast); err != nil {
			if e.lit != nil {
				return nil, nil, err
			}
			return nil, nil, noOperator(op, l, r)
		}
	}
	return pair[0], pair[1], nil
}

// sharedString is the string type to which "char" and a longer one convert
// implicitly; 0 where there is none. "char" is in a category of its own.
func sharedString(a, b datum.OID) datum.OID {
	if (a == datum.Char || b == datum.Char) && isString(a) && isString(b) {
		return datum.Text
	}
	return 0
}

func isReg(t datum.OID) bool {
	switch t {
	case datum.RegClass, datum.RegType, datum.RegProc, datum.RegNamespace, datum.RegRole,
		datum.RegProcedure, datum.RegOper, datum.RegOperator, datum.RegCollation, datum.RegConfig, datum.RegDictionary:
		return true
	}
	return false
}

// oidLike is the type in which an oid, a reg type and an integer compare.
func oidLike(a, b datum.OID) (datum.OID, error) {
	like := func(t datum.OID) bool { return isReg(t) || isInteger(t) || t == datum.Unknown }
	switch {
	case isReg(a) && b == datum.Unknown:
		return a, nil
	case isReg(b) && a == datum.Unknown:
		return b, nil
	case like(a) && like(b):
		return datum.Oid, nil
	}
	return 0, noOperator("=", &expr{typ: a}, &expr{typ: b})
}

func (p *planner) comparison(op string, test func(int) bool, l, r *expr) (*expr, error) {
	l, r, err := p.comparable(op, l, r)
	if err != nil {
		return nil, err
	}
	e := strict2(datum.Bool, l, r, func(_ *exec, a, b datum.Value) (datum.Value, error) {
		c, err := datum.Compare(a, b)
		return datum.MakeBool(test(c)), err
	})
	if op == "=" {
		e.keys = append(equalsKey(l, r), equalsKey(r, l)...)
		e.equal = []*expr{l, r}
	}
	return e, nil
}

// equalsKey is what column = value says about the column.
func equalsKey(column, value *expr) []*keyTest {
	if !column.column || value.volatile {
		return nil
	}
	return []*keyTest{{column: column.refs[0], refs: value.refs, values: func(x *exec) ([]datum.Value, error) {
		v, err := value.eval(x)
		return []datum.Value{v}, err
	}}}
}

// rowComparison is (a, b) op (c, d).
func (p *planner) rowComparison(s *scope, pos syntax.Pos, op string, l []*expr, r *syntax.Row) (*expr, error) {
	test, ok := comparisons[op]
	if !ok {
		return nil, unsupported(pos, "this operator on rows")
	}
	if len(l) != len(r.Elems) {
		return nil, at(pos, sqlstate.New(sqlstate.SyntaxError, "unequal number of entries in row expressions"))
	}
	n := len(l)
	left, right := make([]*expr, n), make([]*expr, n)
	for i := range n {
		b, err := p.expr(s, r.Elems[i])
		if err != nil {
			return nil, err
		}
		if left[i], right[i], err = p.comparable(op, l[i], b); err != nil {
			return nil, at(pos, err)
		}
	}
	return derive(datum.Bool, func(x *exec) (datum.Value, error) {
		for i := range n {
			a, err := left[i].eval(x)
			if err != nil {
				return a, err
			}
			b, err := right[i].eval(x)
			if err != nil || !a.Valid || !b.Valid {
				return datum.Null(datum.Bool), err
			}
			if c, err := datum.Compare(a, b); err != nil || c != 0 {
				return datum.MakeBool(test(c)), err
			}
		}
		return datum.MakeBool(test(0)), nil
	}, append(left, right...)...), nil
}

// strict2 makes an operator that is NULL when an operand is.
func strict2(t datum.OID, l, r *expr, op func(x *exec, a, b datum.Value) (datum.Value, error)) *expr {
	return derive(t, func(x *exec) (datum.Value, error) {
		a, err := l.eval(x)
		if err != nil || !a.Valid {
			return datum.Null(t), err
		}
		b, err := r.eval(x)
		if err != nil || !b.Valid {
			return datum.Null(t), err
		}
		return op(x, a, b)
	}, l, r)
}

func (p *planner) concat(l, r *expr) (*expr, error) {
	li, _ := datum.TypeInfo(l.typ)
	ri, _ := datum.TypeInfo(r.typ)
	switch {
	case li.Elem != 0 || ri.Elem != 0:
		return p.arrayConcat(l, r, li, ri)
	case l.typ == datum.Bytea && r.typ == datum.Bytea:
		return strict2(datum.Bytea, l, r, func(_ *exec, a, b datum.Value) (datum.Value, error) {
			return datum.MakeString(datum.Bytea, a.Str+b.Str), nil
		}), nil
	case !isString(l.typ) && !isString(r.typ) && l.typ != datum.Unknown && r.typ != datum.Unknown:
		return nil, noOperator("||", l, r)
	}
	var err error
	if l, err = p.coerce(l, datum.Text, datum.ExplicitCast); err != nil {
		return nil, err
	}
	if r, err = p.coerce(r, datum.Text, datum.ExplicitCast); err != nil {
		return nil, err
	}
	return strict2(datum.Text, l, r, func(_ *exec, a, b datum.Value) (datum.Value, error) {
		if len(a.Str)+len(b.Str) > maxTextBytes {
			return a, errTextTooLong
		}
		return datum.MakeText(a.Str + b.Str), nil
	}), nil
}

// maxTextBytes bounds a text that an expression builds.
const maxTextBytes = 1 << 20

var errTextTooLong = sqlstate.New(sqlstate.LimitExceeded, "a text value may have at most %d bytes", maxTextBytes)

func (p *planner) arrayConcat(l, r *expr, li, ri datum.Info) (*expr, error) {
	array := l.typ
	elem := li.Elem
	if elem == 0 {
		array, elem = r.typ, ri.Elem
	}
	refused := noOperator("||", l, r)
	var err error
	for _, side := range []**expr{&l, &r} {
		want := array
		if info, _ := datum.TypeInfo((*side).typ); info.Elem == 0 && (*side).typ != datum.Unknown {
			want = elem
		}
		if *side, err = p.coerce(*side, want, datum.ImplicitCast); err != nil {
			return nil, refused
		}
	}
	return derive(array, func(x *exec) (datum.Value, error) {
		var out []datum.Value
		for _, side := range []*expr{l, r} {
			v, err := side.eval(x)
			if err != nil {
				return v, err
			}
			switch {
			case side.typ == elem:
				out = append(out, v)
			case v.Valid:
				out = append(out, v.Elems...)
			}
		}
		return datum.MakeArray(array, out), nil
	}, l, r), nil
}

func (p *planner) bitwise(op string, l, r *expr) (*expr, error) {
	refused := noOperator(op, l, r)
	l, r, err := p.comparable(op, l, r)
	if err != nil || !isInteger(l.typ) {
		return nil, refused
	}
	bits := uint64(64)
	if l.typ == datum.Int4 {
		bits = 32
	}
	return strict2(l.typ, l, r, func(_ *exec, a, b datum.Value) (datum.Value, error) {
		switch op {
		case "&":
			a.Int &= b.Int
		case "|":
			a.Int |= b.Int
		case "#":
			a.Int ^= b.Int
		case "<<":
			a.Int <<= uint64(b.Int) % bits
		case ">>":
			a.Int >>= uint64(b.Int) % bits
		}
		if bits == 32 {
			a.Int = int64(int32(a.Int))
		}
		return a, nil
	}), nil
}

// like is LIKE, ILIKE, SIMILAR TO and REGEXP.
func (p *planner) like(s *scope, e *syntax.Like) (*expr, error) {
	l, err := p.expr(s, e.X)
	if err != nil {
		return nil, err
	}
	r, err := p.expr(s, e.Pattern)
	if err != nil {
		return nil, err
	}
	if e.Op == "REGEXP" {
		op := "~*"
		if e.Not {
			op = "!~*"
		}
		x, err := p.regex(op, l, r)
		return x, at(e.Pos, err)
	}
	escape := constant(datum.MakeText(`\`))
	if e.Escape != nil {
		if escape, err = p.expr(s, e.Escape); err != nil {
			return nil, err
		}
	}
	x, err := p.pattern(e.Op, e.Not, l, r, escape)
	return x, at(e.Pos, err)
}

// likeOperators are LIKE and ILIKE as operators, which LIKE ANY and
// OPERATOR(pg_catalog.~~) take, too.
var likeOperators = map[string]struct {
	op  string
	not bool
}{
	"LIKE": {"LIKE", false}, "NOT LIKE": {"LIKE", true}, "ILIKE": {"ILIKE", false}, "NOT ILIKE": {"ILIKE", true},
	"~~": {"LIKE", false}, "!~~": {"LIKE", true}, "~~*": {"ILIKE", false}, "!~~*": {"ILIKE", true},
}

// pattern tests l against a pattern of LIKE, ILIKE or SIMILAR TO.
func (p *planner) pattern(op string, not bool, l, r, escape *expr) (x *expr, err error) {
	refused := noOperator("~~", l, r)
	for _, side := range []**expr{&l, &r, &escape} {
		if *side, err = p.coerce(*side, datum.Text, datum.ImplicitCast); err != nil {
			return nil, refused
		}
	}
	var cache patternCache
	toRegexp := func(pattern, escape string) (string, error) {
		if op == "SIMILAR TO" {
			return similarToRegexp(pattern), nil
		}
		prefix := "(?s)"
		if op == "ILIKE" {
			prefix = "(?si)"
		}
		body, err := likeToRegexp(pattern, escape)
		return prefix + body, err
	}
	return strict2(datum.Bool, l, r, func(x *exec, a, b datum.Value) (datum.Value, error) {
		esc, err := escape.eval(x)
		if err != nil || !esc.Valid {
			return datum.Null(datum.Bool), err
		}
		re, err := cache.get(b.Str+"\x00"+esc.Str, func() (string, error) { return toRegexp(b.Str, esc.Str) })
		if err != nil {
			return a, err
		}
		return datum.MakeBool(re.MatchString(a.Str) != not), nil
	}), nil
}

// likeToRegexp translates a LIKE pattern.
func likeToRegexp(pattern, escape string) (string, error) {
	var b strings.Builder
	b.WriteByte('^')
	escaped := false
	for _, r := range pattern {
		switch {
		case escaped:
			b.WriteString(regexp.QuoteMeta(string(r)))
			escaped = false
		case escape != "" && string(r) == escape:
			escaped = true
		case r == '%':
			b.WriteString(".*")
		case r == '_':
			b.WriteByte('.')
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	if escaped {
		return "", sqlstate.New(sqlstate.InvalidEscape, "LIKE pattern must not end with escape character")
	}
	b.WriteByte('$')
	return b.String(), nil
}

// similarToRegexp translates a SIMILAR TO pattern.
func similarToRegexp(pattern string) string {
	r := strings.NewReplacer("%", ".*", "_", ".", ".", `\.`, "^", `\^`, "$", `\$`)
	return "(?s)^(?:" + r.Replace(pattern) + ")$"
}

// regex is PostgreSQL's ~ family.
func (p *planner) regex(op string, l, r *expr) (*expr, error) {
	refused := noOperator(op, l, r)
	var err error
	if l, err = p.coerce(l, datum.Text, datum.ImplicitCast); err != nil {
		return nil, refused
	}
	if r, err = p.coerce(r, datum.Text, datum.ImplicitCast); err != nil {
		return nil, refused
	}
	options := ""
	if strings.HasSuffix(op, "*") {
		options = "i"
	}
	type compiled struct {
		source string
		*textPattern
	}
	var last atomic.Pointer[compiled] // most patterns are constants
	return strict2(datum.Bool, l, r, func(_ *exec, a, b datum.Value) (datum.Value, error) {
		p := last.Load()
		if p == nil || p.source != b.Str {
			pattern, _, err := compilePattern(b.Str, options)
			if err != nil {
				return a, err
			}
			p = &compiled{b.Str, pattern}
			last.Store(p)
		}
		return datum.MakeBool(p.re.MatchString(a.Str) != (op[0] == '!')), nil
	}), nil
}

func (p *planner) is(s *scope, e *syntax.Is) (*expr, error) {
	var x *expr
	var err error
	if e.What == "NULL" {
		if x, err = p.expr(s, e.X); err == nil {
			x, err = p.resolveUnknown(x)
		}
	} else {
		x, err = p.boolean(s, e.X, "IS "+e.What)
	}
	if err != nil {
		return nil, at(e.Pos, err)
	}
	return derive(datum.Bool, func(ex *exec) (datum.Value, error) {
		v, err := x.eval(ex)
		var yes bool
		switch e.What {
		case "NULL", "UNKNOWN":
			yes = !v.Valid
		case "TRUE":
			yes = v.Valid && v.Int == 1
		case "FALSE":
			yes = v.Valid && v.Int == 0
		}
		return datum.MakeBool(yes != e.Not), err
	}, x), nil
}

func (p *planner) isDistinct(s *scope, e *syntax.IsDistinct) (*expr, error) {
	l, err := p.expr(s, e.L)
	if err != nil {
		return nil, err
	}
	r, err := p.expr(s, e.R)
	if err != nil {
		return nil, err
	}
	if l, r, err = p.comparable("=", l, r); err != nil {
		return nil, at(e.Pos, err)
	}
	return derive(datum.Bool, func(x *exec) (datum.Value, error) {
		a, err := l.eval(x)
		if err != nil {
			return a, err
		}
		b, err := r.eval(x)
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
		return datum.MakeBool(same == e.Not), nil
	}, l, r), nil
}

func (p *planner) between(s *scope, e *syntax.Between) (*expr, error) {
	es, err := p.exprs(s, []syntax.Expr{e.X, e.Low, e.High})
	if err != nil {
		return nil, err
	}
	x, finish := once(es[0])
	within := func(low, high *expr) (*expr, error) {
		above, err := p.operator(">=", x, low)
		if err != nil {
			return nil, at(e.Pos, err)
		}
		below, err := p.operator("<=", x, high)
		if err != nil {
			return nil, at(e.Pos, err)
		}
		return logic("AND", above, below), nil
	}
	test, err := within(es[1], es[2])
	if err == nil && e.Symmetric {
		var swapped *expr
		if swapped, err = within(es[2], es[1]); err == nil {
			test = logic("OR", test, swapped)
		}
	}
	if err != nil {
		return nil, err
	}
	if e.Not {
		test = not(test)
	}
	return finish(test), nil
}
