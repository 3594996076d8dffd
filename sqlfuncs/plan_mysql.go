package sqlfuncs

import (
	"context"
	"strings"
	"time"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// The planner's rules in the MySQL dialect. Where the dialects differ in
// what an expression means, the planner's method of the same name without
// MySQL begins with a branch to here.

// analyseMySQL analyses the expressions that mean something else in MySQL.
// It returns nil, nil for the others.
func (p *planner) analyseMySQL(s *scope, e syntax.Expr) (*expr, error) {
	switch e := e.(type) {
	case *syntax.Literal:
		return p.literalMySQL(e)
	case *syntax.Variable:
		return p.variable(e)
	case *syntax.Assign:
		return p.assignVariable(s, e)
	case *syntax.FuncCall:
		return p.callMySQL(s, e)
	case *syntax.Unary:
		return p.unaryMySQL(s, e)
	case *syntax.Binary:
		return p.binaryMySQL(s, e)
	case *syntax.Like:
		return p.likeMySQL(s, e)
	case *syntax.In:
		return p.inMySQL(s, e)
	case *syntax.Cast:
		return p.castMySQL(s, e)
	case *syntax.Collate:
		return p.collate(s, e)
	}
	return nil, nil
}

// literalMySQL: strings are texts, numbers with an exponent doubles.
func (p *planner) literalMySQL(l *syntax.Literal) (*expr, error) {
	switch {
	case l.Kind == syntax.StringLiteral:
		return constant(datum.MakeText(l.Text)), nil
	case l.Kind == syntax.NumericLiteral && strings.ContainsAny(l.Text, "eE"):
		v, err := datum.ParseText(datum.Float8, l.Text, nil)
		if err != nil {
			err = sqlstate.New(sqlstate.NumericOutOfRange, "Illegal double '%s' value found during parsing", sqlstate.Cut(l.Text, 64)).WithMySQL(1367, "22007")
		}
		return constant(v), at(l.Pos, err)
	}
	return nil, nil
}

// truthMySQL makes a condition of any value.
func (p *planner) truthMySQL(e *expr) (*expr, error) {
	switch {
	case e.typ == datum.Bool:
		return e, nil
	case e.typ == datum.Unknown && e.lit != nil:
		return constant(datum.Null(datum.Bool)), nil
	}
	return p.coerce(e, datum.Bool, datum.ImplicitCast)
}

// coerceMySQL converts where PostgreSQL would refuse; see exec.mysqlCast.
func (p *planner) coerceMySQL(e *expr, t datum.OID) (*expr, error) {
	if e.typ == t || t == datum.Unknown {
		return e, nil
	}
	if e.param > 0 && e.typ == datum.Unknown {
		if now := p.params[e.param-1]; now == datum.Unknown || now == t {
			p.params[e.param-1], e.typ = t, t
			return e, nil
		} else {
			c := *e
			c.typ, c.param = now, 0
			return p.coerceMySQL(&c, t)
		}
	}
	if e.lit != nil && e.typ == datum.Unknown && !e.lit.Valid {
		return constant(datum.Null(t)).named(e), nil
	}
	for _, typ := range []datum.OID{e.typ, t} {
		info, ok := datum.TypeInfo(typ)
		if typ == datum.Record || typ == datum.Interval || ok && info.Elem != 0 && !isString(typ) {
			return nil, sqlstate.New(sqlstate.Cardinality, "Operand should contain 1 column(s)").WithMySQL(1241, "21000")
		}
	}
	c := derive(t, func(x *exec) (datum.Value, error) {
		v, err := e.eval(x)
		if err != nil {
			return v, err
		}
		if v.Valid && e.mod > 0 && isTemporal(v.Type) && !isTemporal(t) && isString(t) {
			return datum.MakeString(t, x.timeText(v, int(e.mod))), nil
		}
		return x.mysqlCast(v, t)
	}, e)
	return c.named(e), nil
}

// commonMySQL is the type of CASE, IF, COALESCE and UNION (manual, "Flow
// Control Functions").
func commonMySQL(types []datum.OID) datum.OID {
	result := datum.Unknown
	for _, t := range types {
		switch {
		case t == datum.Unknown || t == result:
		case result == datum.Unknown:
			result = t
		case isMySQLNumber(t) && isMySQLNumber(result):
			k := max(kindOf(t), kindOf(result))
			if result = kindTypes[k]; k == kindInt && t != datum.Int8 {
				result = datum.Int4
				for _, o := range types {
					if o == datum.Int8 {
						result = datum.Int8
					}
				}
			}
		case isTemporal(t) && isTemporal(result):
			result = datum.Timestamp
		case t == datum.Bytea && !isMySQLNumber(result) || result == datum.Bytea && !isMySQLNumber(t):
			result = datum.Bytea
		default:
			result = datum.Text
		}
	}
	if result == datum.Bool {
		result = datum.Int4
	}
	return result
}

// coerceParams converts the arguments of EXECUTE to the types of the parameters.
func (p *planner) coerceParams(es []*expr, types []datum.OID) error {
	for i, e := range es {
		var err error
		if es[i], err = p.coerce(e, types[i], datum.ImplicitCast); err != nil {
			return err
		}
	}
	return nil
}

// comparableMySQL converts both sides to the type in which MySQL compares
// them. Texts are folded, so that equal ones are the same.
func (p *planner) comparableMySQL(l, r *expr) (*expr, *expr, error) {
	t := comparisonType(l.typ, r.typ)
	byBytes := l.typ == datum.Bytea || r.typ == datum.Bytea
	c, err := p.collationOf(l, r)
	if err != nil {
		return nil, nil, err
	}
	es := []*expr{l, r}
	if err := p.coerceAll(es, t); err != nil {
		return nil, nil, err
	}
	if t == datum.Text && !byBytes {
		es[0], es[1] = p.folded(es[0], c), p.folded(es[1], c)
	}
	return es[0], es[1], nil
}

func comparisonType(a, b datum.OID) datum.OID {
	text := func(t datum.OID) bool { return isString(t) || t == datum.UUID || t == datum.JSON || t == datum.JSONB }
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
		if a == datum.Time || b == datum.Time {
			return datum.Time
		}
		return datum.Timestamp
	case text(a) || text(b):
		// MySQL compares doubles, and loses digits of ids; decimals do not.
		if kindOf(a) == kindDouble && kindOf(b) == kindDouble && !(text(a) && text(b)) {
			return datum.Float8
		}
		return datum.Numeric
	}
	return kindTypes[max(kindOf(a), kindOf(b))]
}

// comparisonMySQL is l op r. A condition on a plain column keeps what it says
// about the column for the tables that want to know.
func (p *planner) comparisonMySQL(op string, test func(int) bool, l, r *expr) (*expr, error) {
	left, right, err := p.comparableMySQL(l, r)
	if err != nil {
		return nil, err
	}
	e := strict2(datum.Bool, left, right, func(_ *exec, a, b datum.Value) (datum.Value, error) {
		c, err := datum.Compare(a, b)
		return datum.MakeBool(test(c)), err
	})
	if op == "=" {
		for _, pair := range [][2]*expr{{l, r}, {r, l}} {
			// A join that looks rows up by their texts would tell case apart.
			if column := pair[0]; column.column && (!isString(column.typ) || len(pair[1].refs) == 0) {
				value, err := p.coerce(pair[1], column.typ, datum.ImplicitCast)
				if err != nil {
					return nil, err
				}
				e.keys = append(e.keys, equalsKey(column, value)...)
			}
		}
	}
	return e, nil
}

// inMySQL is [NOT] IN (list).
func (p *planner) inMySQL(s *scope, e *syntax.In) (*expr, error) {
	if _, row := e.X.(*syntax.Row); row || e.Query != nil {
		return nil, nil
	}
	es, err := p.exprs(s, append([]syntax.Expr{e.X}, e.List...))
	if err != nil {
		return nil, err
	}
	x, finish := once(es[0])
	var in *expr
	values := make([]*expr, len(es)-1)
	for i, item := range es[1:] {
		eq, err := p.comparisonMySQL("IN", comparisons["="], x, item)
		if err != nil {
			return nil, at(e.Pos, err)
		}
		if values[i], err = p.coerce(item, es[0].typ, datum.ImplicitCast); err != nil {
			return nil, at(e.Pos, err)
		}
		if in == nil {
			in = eq
		} else {
			in = logic("OR", in, eq)
		}
	}
	if e.Not {
		return finish(not(in)), nil
	}
	in = finish(in)
	if rest := derive(0, nil, values...); es[0].column && !rest.volatile {
		in.keys = []*keyTest{{
			column: es[0].refs[0], refs: rest.refs,
			values: func(x *exec) ([]datum.Value, error) { return evalAll(x, values) },
		}}
	}
	return in, nil
}

// binaryMySQL analyses the operators that PostgreSQL does not have.
func (p *planner) binaryMySQL(s *scope, e *syntax.Binary) (*expr, error) {
	switch e.Op {
	case "XOR":
		l, err := p.boolean(s, e.L, e.Op)
		if err != nil {
			return nil, err
		}
		r, err := p.boolean(s, e.R, e.Op)
		if err != nil {
			return nil, err
		}
		return strict2(datum.Bool, l, r, func(_ *exec, a, b datum.Value) (datum.Value, error) {
			return datum.MakeBool(a.Int != b.Int), nil
		}), nil
	case "||": // PIPES_AS_CONCAT
		return p.expr(s, &syntax.FuncCall{Pos: e.Pos, Name: syntax.Name{"concat"}, Args: []syntax.Arg{{Value: e.L}, {Value: e.R}}})
	case "->", "->>":
		x := syntax.Expr(&syntax.FuncCall{Pos: e.Pos, Name: syntax.Name{"json_extract"}, Args: []syntax.Arg{{Value: e.L}, {Value: e.R}}})
		if e.Op == "->>" {
			x = &syntax.FuncCall{Pos: e.Pos, Name: syntax.Name{"json_unquote"}, Args: []syntax.Arg{{Value: x}}}
		}
		return p.expr(s, x)
	case "+", "-":
		for i, side := range []syntax.Expr{e.L, e.R} {
			other := []syntax.Expr{e.R, e.L}[i]
			if c, ok := intervalCast(side); ok && (e.Op == "+" || i == 1) {
				return p.addInterval(s, e.Pos, other, c, e.Op == "-")
			}
		}
	}
	return nil, nil
}

// operatorMySQL builds l op r.
func (p *planner) operatorMySQL(op string, l, r *expr) (*expr, error) {
	if test, ok := comparisons[op]; ok {
		return p.comparisonMySQL(op, test, l, r)
	}
	switch op {
	case "+", "-", "*", "/", "%", "MOD", "DIV":
		return p.arithmeticMySQL(op, l, r)
	case "&", "|", "^", "<<", ">>":
		es := []*expr{l, r}
		if err := p.coerceAll(es, datum.Int8); err != nil {
			return nil, err
		}
		return strict2(datum.Int8, es[0], es[1], func(_ *exec, a, b datum.Value) (datum.Value, error) {
			u, v := uint64(a.Int), uint64(b.Int)
			switch op {
			case "&":
				u &= v
			case "|":
				u |= v
			case "^":
				u ^= v
			case "<<":
				u <<= v
			case ">>":
				u >>= v
			}
			if u > 1<<63-1 {
				return a, unsignedTooLarge(u)
			}
			return datum.MakeInt8(int64(u)), nil
		}), nil
	}
	return nil, sqlstate.New(sqlstate.SyntaxError, "the operator %s does not exist", op)
}

func unsignedTooLarge(u uint64) error {
	return sqlstate.New(sqlstate.NumericOutOfRange, "BIGINT value is out of range in '%d'", u).
		WithHint("nextid's integers are signed, ids are at most 9223372036854775807.")
}

// arithmeticMySQL computes with integers, decimals or doubles, by the wider
// operand. / makes decimals of integers; division by zero is NULL.
func (p *planner) arithmeticMySQL(op string, l, r *expr) (*expr, error) {
	k := max(kindOf(l.typ), kindOf(r.typ))
	if l.typ == datum.Unknown || r.typ == datum.Unknown {
		k = kindOf(l.typ)
		if l.typ == datum.Unknown {
			k = kindOf(r.typ)
		}
		if l.typ == r.typ {
			k = kindDouble
		}
	}
	if op == "/" && k == kindInt {
		k = kindDecimal
	}
	t := kindTypes[k]
	es := []*expr{l, r}
	if err := p.coerceAll(es, t); err != nil {
		return nil, err
	}
	result := t
	f := arithmetic[op]
	switch op {
	case "/":
		if k == kindDecimal {
			f = divideDecimal
		}
	case "MOD":
		f = datum.Mod
	case "DIV":
		result = datum.Int8
		f = func(a, b datum.Value) (datum.Value, error) { return divideInt(a, b) }
	}
	if k == kindDouble && (op == "%" || op == "MOD") {
		f = modDouble
	}
	divides := op == "/" || op == "%" || op == "MOD" || op == "DIV"
	return strict2(result, es[0], es[1], func(x *exec, a, b datum.Value) (datum.Value, error) {
		if divides && !x.truth(b) {
			x.warnMySQL(sqlstate.New(sqlstate.DivisionByZero, "Division by 0"))
			return datum.Null(result), nil
		}
		v, err := f(a, b)
		if err != nil {
			return v, outOfRangeMySQL("(" + x.mysqlText(a) + " " + op + " " + x.mysqlText(b) + ")")
		}
		return v, nil
	}), nil
}

func (p *planner) unaryMySQL(s *scope, e *syntax.Unary) (*expr, error) {
	switch e.Op {
	case "-", "+":
		x, err := p.expr(s, e.X)
		if err != nil {
			return nil, err
		}
		if e.Op == "+" {
			return x, nil
		}
		if lit, ok := unparen(e.X).(*syntax.Literal); ok && lit.Kind == syntax.IntegerLiteral && lit.Text == "9223372036854775808" {
			return constant(datum.MakeInt8(-1 << 63)), nil
		}
		t := kindTypes[kindOf(x.typ)]
		if x.typ == datum.Int4 {
			t = datum.Int4
		}
		if x, err = p.coerce(x, t, datum.ImplicitCast); err != nil {
			return nil, err
		}
		return derive(t, func(ex *exec) (datum.Value, error) {
			v, err := x.eval(ex)
			if err != nil || !v.Valid {
				return v, err
			}
			n, err := datum.Neg(v)
			if err != nil {
				err = outOfRangeMySQL("-(" + ex.mysqlText(v) + ")")
			}
			return n, err
		}, x), nil
	case "NOT", "!":
		x, err := p.boolean(s, e.X, "NOT")
		if err != nil {
			return nil, err
		}
		return not(x), nil
	case "~":
		x, err := p.expr(s, e.X)
		if err == nil {
			x, err = p.coerce(x, datum.Int8, datum.ImplicitCast)
		}
		if err != nil {
			return nil, err
		}
		return derive(datum.Numeric, func(ex *exec) (datum.Value, error) {
			v, err := x.eval(ex)
			if err != nil || !v.Valid {
				return datum.Null(datum.Numeric), err
			}
			return unsignedDecimal(^uint64(v.Int)), nil
		}, x), nil
	}
	return nil, nil
}

// likeMySQL is LIKE, REGEXP and RLIKE, which look at case only where an
// operand is binary.
func (p *planner) likeMySQL(s *scope, e *syntax.Like) (*expr, error) {
	l, err := p.expr(s, e.X)
	if err != nil {
		return nil, err
	}
	r, err := p.expr(s, e.Pattern)
	if err != nil {
		return nil, err
	}
	c, err := p.collationOf(l, r)
	if err != nil {
		return nil, at(e.Pos, err)
	}
	flags := "(?si)"
	if p.exact(c) || l.typ == datum.Bytea || r.typ == datum.Bytea {
		flags = "(?s)"
	}
	escape := `\`
	if e.Escape != nil {
		lit, ok := unparen(e.Escape).(*syntax.Literal)
		if !ok || len([]rune(lit.Text)) > 1 {
			return nil, at(e.Pos, sqlstate.New(sqlstate.InvalidEscape, "Incorrect arguments to ESCAPE"))
		}
		escape = lit.Text
	}
	es := []*expr{l, r}
	if err := p.coerceAll(es, datum.Text); err != nil {
		return nil, at(e.Pos, err)
	}
	var cache patternCache
	return strict2(datum.Bool, es[0], es[1], func(_ *exec, a, b datum.Value) (datum.Value, error) {
		re, err := cache.get(b.Str, func() (string, error) {
			if e.Op == "REGEXP" {
				return flags + b.Str, nil
			}
			if strings.HasSuffix(b.Str, escape) && escape != "" && !strings.HasSuffix(b.Str, escape+escape) {
				b.Str += escape // an escape at the end stands for itself
			}
			body, err := likeToRegexp(b.Str, escape)
			return flags + body, err
		})
		if err != nil {
			return a, err
		}
		return datum.MakeBool(re.MatchString(a.Str) != e.Not), nil
	}), nil
}

// outputMySQL gives the result columns types that MySQL has: truth is an
// integer, times are those of the session's time zone.
func (p *planner) outputMySQL(out *output) error {
	for i, e := range out.exprs {
		t := e.typ
		switch t {
		case datum.Bool:
			t = datum.Int4
		case datum.TimestampTZ:
			t = datum.Timestamp
		case datum.JSONB:
			t = datum.JSON
		case datum.UUID, datum.Name, datum.Char:
			t = datum.Text
		}
		if t == e.typ {
			continue
		}
		x, err := p.coerce(e, t, datum.ImplicitCast)
		if err != nil {
			return err
		}
		out.exprs[i] = x
		out.columns[i].Type = t
	}
	return nil
}

// labelMySQL names a result column without alias: columns by their own name,
// strings by their value, everything else as it was typed.
func labelMySQL(t syntax.Target) string {
	switch e := unparen(t.Expr).(type) {
	case *syntax.Column:
		if !strings.ContainsAny(t.Text, "`\"") {
			return strings.Trim(t.Text[strings.LastIndexByte(t.Text, '.')+1:], "() \t\r\n")
		}
		return e.Name.Last()
	case *syntax.Literal:
		if e.Kind == syntax.StringLiteral {
			return e.Text
		}
		return strings.Trim(t.Text, "() \t\r\n")
	case *syntax.Unary:
		if e.Op == "+" {
			return labelMySQL(syntax.Target{Expr: e.X, Text: strings.TrimLeft(t.Text, "+ \t\n")})
		}
	}
	return t.Text
}

// havingMySQL lets HAVING and ORDER BY see the labels of the select list. A
// HAVING of a query that has no groups is one more condition.
func (p *planner) havingMySQL(s *scope, c *syntax.SelectCore, orderBy []syntax.OrderItem) *syntax.SelectCore {
	for _, t := range c.Targets {
		if t.Alias != "" && (c.Having != nil || len(orderBy) > 0) {
			if s.aliases == nil {
				s.aliases = map[string]syntax.Expr{}
			}
			s.aliases[strings.ToLower(t.Alias)] = t.Expr
		}
	}
	if c.Having == nil || len(c.GroupBy) > 0 {
		return c
	}
	plain := *c
	plain.Having = nil
	if p.isGrouped(&plain, append([]syntax.OrderItem{{Expr: c.Having}}, orderBy...)) {
		return c
	}
	plain.Where = c.Having
	if c.Where != nil {
		plain.Where = &syntax.Binary{Pos: c.Having.Position(), Op: "AND", L: c.Where, R: c.Having}
	}
	return &plain
}

// aliased is the item of the select list that a name stands for, nil if none.
func (p *planner) aliased(level *scope, name string) (*expr, error) {
	e := level.aliases[strings.ToLower(name)]
	if e == nil {
		return nil, nil
	}
	labels := level.aliases
	level.aliases = nil // inside of it the names are those of FROM
	defer func() { level.aliases = labels }()
	return p.expr(level, e)
}

// systemSchemas are databases that MySQL keeps for itself. Ours has none of
// their tables.
var systemSchemas = map[string]bool{"mysql": true, "performance_schema": true, "sys": true}

// lookupTable finds a table by name. In MySQL our tables are in every
// database but information_schema.
func (p *planner) lookupTable(name syntax.Name) (*table, error) {
	if !p.mysql {
		return plannedFor(p).server.lookupTable(name)
	}
	last, database := strings.ToLower(name.Last()), plannedFor(p).mysql.database
	if len(name) > 1 {
		database = name[len(name)-2]
	}
	switch schema := strings.ToLower(database); {
	case schema == informationSchema:
		p.private = p.private || len(name) == 1 // by USE information_schema
		if t := schemaTables[last]; t != nil {
			return t, nil
		}
		return nil, sqlstate.New(sqlstate.UndefinedTable, "Unknown table '%s' in information_schema", sqlstate.Cut(strings.ToUpper(last), 64)).WithMySQL(1109, "42S02")
	case systemSchemas[schema]:
		return nil, sqlstate.New(sqlstate.InsufficientPrivilege, "SELECT command denied to user '%s' for table `%s`.`%s`",
			plannedFor(p).account(), schema, sqlstate.Cut(name.Last(), 64)).WithHint("nextid has no tables of this kind.")
	}
	t, err := plannedFor(p).server.lookupTable(syntax.Name{name.Last()})
	if err == nil && t.schema != pgCatalog {
		return t, nil
	}
	if p.isGenerator(name.Last()) {
		return sequenceTable(name.Last()), nil
	}
	if database == "" {
		database = nextidSchema
	}
	return nil, sqlstate.New(sqlstate.UndefinedTable, "Table '%s.%s' doesn't exist", sqlstate.Cut(database, 64), sqlstate.Cut(name.Last(), 128)).
		WithHint("Tables to read ids from: ids, id_batch, id_ranges, id_parts, and NAME_id for a generator NAME.")
}

// isGenerator reports whether a name is one of a generator that exists. Only
// tables that are none of ours are looked up so.
func (p *planner) isGenerator(name string) bool {
	if plannedFor(p).server.registry.Lookup([]byte(name)) != nil {
		return true
	}
	plannedFor(p).waits()
	ctx, cancel := context.WithTimeout(context.Background(), lookupTimeout)
	defer cancel()
	_, err := plannedFor(p).server.registry.Existing(ctx, name)
	return err == nil
}

// lookupTimeout bounds what the store may take to say whether a generator is
// there.
const lookupTimeout = 2 * time.Second
