package sqlfuncs

import (
	"strings"
	"unicode/utf8"

	"nextid/sqlfuncs/ids"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// The planner's rules in the MySQL dialect. Where the dialects differ in
// what an expression means, the planner's method of the same name without
// MySQL begins with a branch to here.

// analyseMySQL analyses the expressions that mean something else in MySQL.
// It returns nil, nil for the others.
func analyseMySQL(p *engine.Planner, s *engine.Scope, e syntax.Expr) (*engine.Expr, error) {
	switch e := e.(type) {
	case *syntax.Literal:
		return literalMySQL(p, e)
	case *syntax.Variable:
		return variable(p, e)
	case *syntax.Assign:
		return assignVariable(p, s, e)
	case *syntax.FuncCall:
		return callMySQL(p, s, e)
	case *syntax.Unary:
		return unaryMySQL(p, s, e)
	case *syntax.Binary:
		return binaryMySQL(p, s, e)
	case *syntax.Like:
		return likeMySQL(p, s, e)
	case *syntax.In:
		return inMySQL(p, s, e)
	case *syntax.Cast:
		return castMySQL(p, s, e)
	case *syntax.Collate:
		return collate(p, s, e)
	}
	return nil, nil
}

// literalMySQL: strings are texts, numbers with an exponent doubles.
func literalMySQL(p *engine.Planner, l *syntax.Literal) (*engine.Expr, error) {
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
	}
	return nil, nil
}

// truthMySQL makes a condition of any value.
func truthMySQL(p *engine.Planner, e *engine.Expr) (*engine.Expr, error) {
	switch {
	case e.Type == datum.Bool:
		return e, nil
	case e.Type == datum.Unknown && e.Literal != nil:
		return engine.Constant(datum.Null(datum.Bool)), nil
	}
	return p.Coerce(e, datum.Bool, datum.ImplicitCast)
}

// coerceMySQL converts where PostgreSQL would refuse; see exec.mysqlCast.
func coerceMySQL(p *engine.Planner, e *engine.Expr, t datum.OID) (*engine.Expr, error) {
	if e.Type == t || t == datum.Unknown {
		return e, nil
	}
	if e.Param > 0 && e.Type == datum.Unknown {
		if now := p.Params[e.Param-1]; now == datum.Unknown || now == t {
			p.Params[e.Param-1], e.Type = t, t
			return e, nil
		} else {
			c := *e
			c.Type, c.Param = now, 0
			return coerceMySQL(p, &c, t)
		}
	}
	if e.Literal != nil && e.Type == datum.Unknown && !e.Literal.Valid {
		return engine.Constant(datum.Null(t)).Named(e), nil
	}
	for _, typ := range []datum.OID{e.Type, t} {
		info, ok := datum.TypeInfo(typ)
		if typ == datum.Record || typ == datum.Interval || ok && info.Elem != 0 && !engine.IsString(typ) {
			return nil, sqlstate.New(sqlstate.Cardinality, "Operand should contain 1 column(s)").WithMySQL(1241, "21000")
		}
	}
	c := engine.Derive(t, func(x *engine.Exec) (datum.Value, error) {
		v, err := e.Eval(x)
		if err != nil {
			return v, err
		}
		if v.Valid && e.TypeMod > 0 && isTemporal(v.Type) && !isTemporal(t) && engine.IsString(t) {
			return datum.MakeString(t, timeText(x, v, int(e.TypeMod))), nil
		}
		return mysqlCast(x, v, t)
	}, e)
	return c.Named(e), nil
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
func coerceParams(p *engine.Planner, es []*engine.Expr, types []datum.OID) error {
	for i, e := range es {
		var err error
		if es[i], err = p.Coerce(e, types[i], datum.ImplicitCast); err != nil {
			return err
		}
	}
	return nil
}

// comparableMySQL converts both sides to the type in which MySQL compares
// them. Texts are folded, so that equal ones are the same.
func comparableMySQL(p *engine.Planner, l, r *engine.Expr) (*engine.Expr, *engine.Expr, error) {
	t := comparisonType(l.Type, r.Type)
	byBytes := l.Type == datum.Bytea || r.Type == datum.Bytea
	c, err := p.CollationOf(l, r)
	if err != nil {
		return nil, nil, err
	}
	es := []*engine.Expr{l, r}
	if err := p.CoerceAll(es, t); err != nil {
		return nil, nil, err
	}
	if t == datum.Text && !byBytes {
		es[0], es[1] = p.Folded(es[0], c), p.Folded(es[1], c)
	}
	return es[0], es[1], nil
}

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
func comparisonMySQL(p *engine.Planner, op string, test func(int) bool, l, r *engine.Expr) (*engine.Expr, error) {
	left, right, err := comparableMySQL(p, l, r)
	if err != nil {
		return nil, err
	}
	e := engine.Strict2(datum.Bool, left, right, func(_ *engine.Exec, a, b datum.Value) (datum.Value, error) {
		c, err := datum.Compare(a, b)
		return datum.MakeBool(test(c)), err
	})
	if op == "=" {
		for _, pair := range [][2]*engine.Expr{{l, r}, {r, l}} {
			// A join that looks rows up by their texts would tell case apart.
			if column := pair[0]; column.Column && (!engine.IsString(column.Type) || len(pair[1].Refs) == 0) {
				value, err := p.Coerce(pair[1], column.Type, datum.ImplicitCast)
				if err != nil {
					return nil, err
				}
				e.Keys = append(e.Keys, engine.EqualsKey(column, value)...)
			}
		}
	}
	return e, nil
}

// inMySQL is [NOT] IN (list).
func inMySQL(p *engine.Planner, s *engine.Scope, e *syntax.In) (*engine.Expr, error) {
	if _, row := e.X.(*syntax.Row); row || e.Query != nil {
		return nil, nil
	}
	es, err := p.Exprs(s, append([]syntax.Expr{e.X}, e.List...))
	if err != nil {
		return nil, err
	}
	x, finish := engine.Once(es[0])
	var in *engine.Expr
	values := make([]*engine.Expr, len(es)-1)
	for i, item := range es[1:] {
		eq, err := comparisonMySQL(p, "IN", engine.Comparisons["="], x, item)
		if err != nil {
			return nil, engine.At(e.Pos, err)
		}
		if values[i], err = p.Coerce(item, es[0].Type, datum.ImplicitCast); err != nil {
			return nil, engine.At(e.Pos, err)
		}
		if in == nil {
			in = eq
		} else {
			in = engine.Logic("OR", in, eq)
		}
	}
	if e.Not {
		return finish(engine.Not(in)), nil
	}
	in = finish(in)
	if rest := engine.Derive(0, nil, values...); es[0].Column && !rest.Volatile {
		in.Keys = []*engine.KeyTest{{
			Column: es[0].Refs[0], Refs: rest.Refs,
			Values: func(x *engine.Exec) ([]datum.Value, error) { return engine.EvalAll(x, values) },
		}}
	}
	return in, nil
}

// binaryMySQL analyses the operators that PostgreSQL does not have.
func binaryMySQL(p *engine.Planner, s *engine.Scope, e *syntax.Binary) (*engine.Expr, error) {
	switch e.Op {
	case "XOR":
		l, err := p.Boolean(s, e.L, e.Op)
		if err != nil {
			return nil, err
		}
		r, err := p.Boolean(s, e.R, e.Op)
		if err != nil {
			return nil, err
		}
		return engine.Strict2(datum.Bool, l, r, func(_ *engine.Exec, a, b datum.Value) (datum.Value, error) {
			return datum.MakeBool(a.Int != b.Int), nil
		}), nil
	case "||": // PIPES_AS_CONCAT
		return p.Expr(s, &syntax.FuncCall{Pos: e.Pos, Name: syntax.Name{"concat"}, Args: []syntax.Arg{{Value: e.L}, {Value: e.R}}})
	case "->", "->>":
		x := syntax.Expr(&syntax.FuncCall{Pos: e.Pos, Name: syntax.Name{"json_extract"}, Args: []syntax.Arg{{Value: e.L}, {Value: e.R}}})
		if e.Op == "->>" {
			x = &syntax.FuncCall{Pos: e.Pos, Name: syntax.Name{"json_unquote"}, Args: []syntax.Arg{{Value: x}}}
		}
		return p.Expr(s, x)
	case "+", "-":
		for i, side := range []syntax.Expr{e.L, e.R} {
			other := []syntax.Expr{e.R, e.L}[i]
			if c, ok := intervalCast(side); ok && (e.Op == "+" || i == 1) {
				return addInterval(p, s, e.Pos, other, c, e.Op == "-")
			}
		}
	}
	return nil, nil
}

// operatorMySQL builds l op r.
func operatorMySQL(p *engine.Planner, op string, l, r *engine.Expr) (*engine.Expr, error) {
	if test, ok := engine.Comparisons[op]; ok {
		return comparisonMySQL(p, op, test, l, r)
	}
	switch op {
	case "+", "-", "*", "/", "%", "MOD", "DIV":
		return arithmeticMySQL(p, op, l, r)
	case "&", "|", "^", "<<", ">>":
		es := []*engine.Expr{l, r}
		if err := p.CoerceAll(es, datum.Int8); err != nil {
			return nil, err
		}
		return engine.Strict2(datum.Int8, es[0], es[1], func(_ *engine.Exec, a, b datum.Value) (datum.Value, error) {
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
func arithmeticMySQL(p *engine.Planner, op string, l, r *engine.Expr) (*engine.Expr, error) {
	k := max(kindOf(l.Type), kindOf(r.Type))
	if l.Type == datum.Unknown || r.Type == datum.Unknown {
		k = kindOf(l.Type)
		if l.Type == datum.Unknown {
			k = kindOf(r.Type)
		}
		if l.Type == r.Type {
			k = kindDouble
		}
	}
	if op == "/" && k == kindInt {
		k = kindDecimal
	}
	t := kindTypes[k]
	es := []*engine.Expr{l, r}
	if err := p.CoerceAll(es, t); err != nil {
		return nil, err
	}
	result := t
	f := engine.Arithmetic[op]
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
	return engine.Strict2(result, es[0], es[1], func(x *engine.Exec, a, b datum.Value) (datum.Value, error) {
		if divides && !truth(x, b) {
			warnMySQL(x, sqlstate.New(sqlstate.DivisionByZero, "Division by 0"))
			return datum.Null(result), nil
		}
		v, err := f(a, b)
		if err != nil {
			return v, outOfRangeMySQL("(" + mysqlText(x, a) + " " + op + " " + mysqlText(x, b) + ")")
		}
		return v, nil
	}), nil
}

func unaryMySQL(p *engine.Planner, s *engine.Scope, e *syntax.Unary) (*engine.Expr, error) {
	switch e.Op {
	case "-", "+":
		x, err := p.Expr(s, e.X)
		if err != nil {
			return nil, err
		}
		if e.Op == "+" {
			return x, nil
		}
		if lit, ok := engine.Unparen(e.X).(*syntax.Literal); ok && lit.Kind == syntax.IntegerLiteral && lit.Text == "9223372036854775808" {
			return engine.Constant(datum.MakeInt8(-1 << 63)), nil
		}
		t := kindTypes[kindOf(x.Type)]
		if x.Type == datum.Int4 {
			t = datum.Int4
		}
		if x, err = p.Coerce(x, t, datum.ImplicitCast); err != nil {
			return nil, err
		}
		return engine.Derive(t, func(ex *engine.Exec) (datum.Value, error) {
			v, err := x.Eval(ex)
			if err != nil || !v.Valid {
				return v, err
			}
			n, err := datum.Neg(v)
			if err != nil {
				err = outOfRangeMySQL("-(" + mysqlText(ex, v) + ")")
			}
			return n, err
		}, x), nil
	case "NOT", "!":
		x, err := p.Boolean(s, e.X, "NOT")
		if err != nil {
			return nil, err
		}
		return engine.Not(x), nil
	case "~":
		x, err := p.Expr(s, e.X)
		if err == nil {
			x, err = p.Coerce(x, datum.Int8, datum.ImplicitCast)
		}
		if err != nil {
			return nil, err
		}
		return engine.Derive(datum.Numeric, func(ex *engine.Exec) (datum.Value, error) {
			v, err := x.Eval(ex)
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
func likeMySQL(p *engine.Planner, s *engine.Scope, e *syntax.Like) (*engine.Expr, error) {
	l, err := p.Expr(s, e.X)
	if err != nil {
		return nil, err
	}
	r, err := p.Expr(s, e.Pattern)
	if err != nil {
		return nil, err
	}
	c, err := p.CollationOf(l, r)
	if err != nil {
		return nil, engine.At(e.Pos, err)
	}
	flags := "(?si)"
	if p.Exact(c) || l.Type == datum.Bytea || r.Type == datum.Bytea {
		flags = "(?s)"
	}
	escape := `\`
	if e.Escape != nil {
		lit, ok := engine.Unparen(e.Escape).(*syntax.Literal)
		if !ok || len([]rune(lit.Text)) > 1 {
			return nil, engine.At(e.Pos, sqlstate.New(sqlstate.InvalidEscape, "Incorrect arguments to ESCAPE"))
		}
		escape = lit.Text
	}
	es := []*engine.Expr{l, r}
	if err := p.CoerceAll(es, datum.Text); err != nil {
		return nil, engine.At(e.Pos, err)
	}
	var cache engine.PatternCache
	return engine.Strict2(datum.Bool, es[0], es[1], func(_ *engine.Exec, a, b datum.Value) (datum.Value, error) {
		re, err := cache.Get(b.Str, func() (string, error) {
			if e.Op == "REGEXP" {
				return flags + b.Str, nil
			}
			if strings.HasSuffix(b.Str, escape) && escape != "" && !strings.HasSuffix(b.Str, escape+escape) {
				b.Str += escape // an escape at the end stands for itself
			}
			body, err := engine.LikeToRegexp(b.Str, escape)
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
func outputMySQL(p *engine.Planner, out *engine.Output) error {
	for i, e := range out.Exprs {
		t := e.Type
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
		if t == e.Type {
			continue
		}
		x, err := p.Coerce(e, t, datum.ImplicitCast)
		if err != nil {
			return err
		}
		out.Exprs[i] = x
		out.Columns[i].Type = t
	}
	return nil
}

// labelMySQL names a result column without alias: columns by their own name,
// strings by their value, everything else as it was typed.
func labelMySQL(t syntax.Target) string {
	switch e := engine.Unparen(t.Expr).(type) {
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
func havingMySQL(p *engine.Planner, s *engine.Scope, c *syntax.SelectCore, orderBy []syntax.OrderItem) *syntax.SelectCore {
	for _, t := range c.Targets {
		if t.Alias != "" && (c.Having != nil || len(orderBy) > 0) {
			if s.Aliases == nil {
				s.Aliases = map[string]syntax.Expr{}
			}
			s.Aliases[strings.ToLower(t.Alias)] = t.Expr
		}
	}
	if c.Having == nil || len(c.GroupBy) > 0 {
		return c
	}
	plain := *c
	plain.Having = nil
	if p.IsGrouped(&plain, append([]syntax.OrderItem{{Expr: c.Having}}, orderBy...)) {
		return c
	}
	plain.Where = c.Having
	if c.Where != nil {
		plain.Where = &syntax.Binary{Pos: c.Having.Position(), Op: "AND", L: c.Where, R: c.Having}
	}
	return &plain
}

// aliased is the item of the select list that a name stands for, nil if none.
func aliased(p *engine.Planner, level *engine.Scope, name string) (*engine.Expr, error) {
	e := level.Aliases[strings.ToLower(name)]
	if e == nil {
		return nil, nil
	}
	labels := level.Aliases
	level.Aliases = nil // inside of it the names are those of FROM
	defer func() { level.Aliases = labels }()
	return p.Expr(level, e)
}

// systemSchemas are databases that MySQL keeps for itself. Ours has none of
// their tables.
var systemSchemas = map[string]bool{"mysql": true, "performance_schema": true, "sys": true}

// tableMySQL finds a table by name. Our tables are in every
// database but information_schema.
func tableMySQL(p *engine.Planner, name syntax.Name) (*engine.Table, error) {
	last, database := strings.ToLower(name.Last()), plannedState(p).database
	if len(name) > 1 {
		database = name[len(name)-2]
	}
	switch schema := strings.ToLower(database); {
	case schema == engine.InformationSchema:
		p.Private = p.Private || len(name) == 1 // by USE information_schema
		if t := dialectPlanned(p).tables[last]; t != nil {
			return t, nil
		}
		return nil, sqlstate.New(sqlstate.UndefinedTable, "Unknown table '%s' in information_schema", sqlstate.Cut(strings.ToUpper(last), 64)).WithMySQL(1109, "42S02")
	case systemSchemas[schema]:
		return nil, sqlstate.New(sqlstate.InsufficientPrivilege, "SELECT command denied to user '%s' for table `%s`.`%s`",
			accountOf(p.Host.Client()), schema, sqlstate.Cut(name.Last(), 64)).WithHint("nextid has no tables of this kind.")
	}
	t, err := ids.Table(p.Catalog, syntax.Name{name.Last()})
	if err == nil && t.Schema != engine.PGCatalog {
		return t, nil
	}
	if ids.IsGenerator(p, name.Last()) {
		return mariaDBSequenceTable(name.Last()), nil
	}
	if database == "" {
		database = engine.NextidSchema
	}
	return nil, sqlstate.New(sqlstate.UndefinedTable, "Table '%s.%s' doesn't exist", sqlstate.Cut(database, 64), sqlstate.Cut(name.Last(), 128)).
		WithHint("Tables to read ids from: ids, id_batch, id_ranges, id_parts, and NAME_id for a generator NAME.")
}
