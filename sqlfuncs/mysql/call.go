package mysql

import (
	"slices"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// sharedFunctions are PostgreSQL's functions that the MySQL dialect has, too:
// those of sequences and UUIDs, and the aggregates.
var sharedFunctions = map[string]bool{
	"nextval": true, "currval": true, "lastval": true, "setval": true,
	"gen_random_uuid": true, "generate_series": true,
	"count": true, "sum": true, "avg": true, "min": true, "max": true, "row_number": true, "rank": true,
	"string_agg": true, "json_agg": true, "json_object_agg": true,
}

// overloads lists the functions of a name in the MySQL dialect.
func overloads(p *engine.Planner, name string) []*engine.Function {
	if fs := dialectPlanned(p).functions[name]; fs != nil {
		return fs
	}
	var out []*engine.Function
	for _, f := range p.Catalog.Functions[name] {
		if f.Schema == engine.NextidSchema || sharedFunctions[name] || strings.HasPrefix(name, "uuid") {
			out = append(out, f)
		}
	}
	return out
}

// aggregateNames are MySQL's names of aggregates.
var aggregateNames = map[string]string{
	"group_concat": "string_agg", "json_arrayagg": "json_agg", "json_objectagg": "json_object_agg",
}

// isAggregate reports whether a call is one of an aggregate.
func isAggregate(p *engine.Planner, e *syntax.FuncCall) bool {
	if p.MySQL && aggregateNames[e.Name.Last()] != "" {
		return true
	}
	return p.Catalog.IsAggregate(e)
}

// call analyses a call of a function.
func call(p *engine.Planner, s *engine.Scope, e *syntax.FuncCall) (*engine.Expr, error) {
	call := *e
	name := strings.ToLower(e.Name.Last())
	call.Name = syntax.Name{name}
	if e.Over != nil {
		return p.FuncCall(s, &call)
	}
	if f := dialectPlanned(p).special[name]; f != nil {
		if x, err := f(p, s, &call); x != nil || err != nil {
			return x, engine.At(e.Pos, err)
		}
	}
	if to, ok := aggregateNames[name]; ok {
		return aggregate(p, s, &call, to)
	}
	if len(e.Name) > 1 && e.Name[0] != engine.PGCatalog {
		call.Name = syntax.Name{e.Name[len(e.Name)-2], name}
	}
	if p.Catalog.IsAggregate(&syntax.FuncCall{Name: syntax.Name{name}}) {
		call.Name = syntax.Name{name}
		x, err := p.Aggregate(s, &call)
		if err == nil && name == "avg" && x.Type == datum.Numeric {
			return shortened(x), nil
		}
		return x, err
	}
	x, err := p.FuncCall(s, &call)
	if err != nil {
		return nil, err
	}
	return bounded(x), nil
}

// bounded refuses results that are too long: nested calls could double a text
// at every level.
func bounded(e *engine.Expr) *engine.Expr {
	if !engine.IsString(e.Type) && e.Type != datum.Bytea && e.Type != datum.JSON {
		return e
	}
	b := *e
	b.Eval = func(x *engine.Exec) (datum.Value, error) {
		v, err := e.Eval(x)
		if err == nil && len(v.Str) > engine.MaxTextBytes {
			return v, engine.ErrTextTooLong
		}
		return v, err
	}
	return &b
}

// shortened gives an average the digits that MySQL's has.
func shortened(e *engine.Expr) *engine.Expr {
	return engine.Derive(e.Type, func(x *engine.Exec) (datum.Value, error) {
		v, err := e.Eval(x)
		if err != nil || !v.Valid {
			return v, err
		}
		return decimalValue(decimalOf(v.Str).Round(divPrecisionIncrement)), nil
	}, e)
}

// aggregate maps an aggregate to PostgreSQL's.
func aggregate(p *engine.Planner, s *engine.Scope, e *syntax.FuncCall, to string) (*engine.Expr, error) {
	call := *e
	call.Name = syntax.Name{to}
	call.Args = slices.Clone(e.Args)
	if to == "string_agg" {
		separator := syntax.Arg{Value: &syntax.Literal{Pos: e.Pos, Kind: syntax.StringLiteral, Text: ","}}
		if n := len(call.Args); n > 0 && call.Args[n-1].Name == "separator" {
			separator.Value = call.Args[n-1].Value
			call.Args = call.Args[:n-1]
		}
		value := syntax.Arg{}
		switch len(call.Args) {
		case 0:
			return nil, engine.At(e.Pos, parameterCount(e.Name.Last()))
		case 1:
			value = call.Args[0]
		default:
			value.Value = &syntax.FuncCall{Pos: e.Pos, Name: syntax.Name{"concat"}, Args: call.Args}
		}
		value.Value = &syntax.Cast{Pos: e.Pos, X: value.Value, Type: syntax.TypeName{Pos: e.Pos, Name: syntax.Name{"varchar"}}}
		call.Args = []syntax.Arg{value, separator}
	}
	x, err := p.Aggregate(s, &call)
	if err == nil && x.Type == datum.JSONB {
		x, err = p.Coerce(x, datum.JSON, datum.ImplicitCast)
	}
	return x, err
}

func parameterCount(name string) error {
	return sqlstate.New(sqlstate.UndefinedFunction, "Incorrect parameter count in the call to native function '%s'", sqlstate.Cut(name, 64)).
		WithMySQL(1582, "42000")
}

// choose picks the overload whose argument types are nearest. MySQL
// converts every argument, so that only their number can be wrong.
func choose(p *engine.Planner, e *syntax.FuncCall, name string, given []*engine.Expr, names []string) (*engine.Function, []*engine.Expr, error) {
	candidates := overloads(p, name)
	if len(candidates) == 0 {
		return nil, nil, noFunction(p, e, name)
	}
	if slices.ContainsFunc(names, func(n string) bool { return n != "" }) {
		return nil, nil, sqlstate.New(sqlstate.SyntaxError, "%s does not take named arguments", name)
	}
	var best *engine.Function
	bestScore := -1
	for _, f := range candidates {
		if len(given) < f.MinArgs() || !f.Variadic && len(given) > len(f.Args) || e.Star && f.Aggregate == nil {
			continue
		}
		score, fits := 0, true
		for i, a := range given {
			n := nearness(a.Type, f.ArgType(i))
			fits = fits && n >= 0
			score += n
		}
		if fits && score > bestScore {
			best, bestScore = f, score
		}
	}
	if best == nil {
		if f := candidates[0]; f.Schema == engine.NextidSchema {
			return nil, nil, sqlstate.New(sqlstate.UndefinedFunction, "Incorrect number of arguments for FUNCTION %s.%s; expected %d, got %d",
				databaseName(plannedState(p)), name, len(f.Args), len(given)).WithMySQL(1318, "42000")
		}
		return nil, nil, parameterCount(name)
	}
	if best.Admin && !p.Host.Client().Admin {
		return nil, nil, sqlstate.New(sqlstate.InsufficientPrivilege, "execute command denied to user '%s' for routine '%s.%s'",
			sqlstate.Cut(p.Host.Client().User, 64), databaseName(plannedState(p)), name).WithHint("Connect as a user with the role admin.").WithMySQL(1370, "42000")
	}
	p.Private = p.Private || best.Admin
	if best.Typed != nil {
		return best, given, nil
	}
	args := slices.Clone(given)
	if name == "sum" && len(args) == 1 && engine.IsInteger(args[0].Type) && best.ArgType(0) != datum.Int8 { // a decimal, as SUM always is
		var err error
		if args[0], err = p.Coerce(args[0], datum.Int8, datum.ImplicitCast); err != nil {
			return nil, nil, err
		}
		return choose(p, e, name, args, names)
	}
	for i, a := range args {
		t := best.ArgType(i)
		var err error
		switch t {
		case engine.AnyElement, engine.AnyType:
			args[i], err = p.ResolveUnknown(a)
		case datum.AnyArray:
		default:
			args[i], err = p.Coerce(a, t, datum.ImplicitCast)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return best, args, nil
}

// nearness rates an argument of type have where a function wants want; -1
// when it cannot be.
func nearness(have, want datum.OID) int {
	info, _ := datum.TypeInfo(want)
	haveInfo, _ := datum.TypeInfo(have)
	switch {
	case want == datum.AnyArray || info.Elem != 0 && !engine.IsString(want):
		if haveInfo.Elem == 0 {
			return -1
		}
		return 50
	case want == datum.RegClass || want == datum.Interval:
		return -1
	case have == want:
		return 100
	case want == engine.AnyElement || want == engine.AnyType:
		return 1
	case engine.IsString(have) && engine.IsString(want):
		return 90
	case isNumber(have) && isNumber(want):
		return 50 + min(20, 10*int(kindOf(want))) - 20*max(0, int(kindOf(have))-int(kindOf(want)))
	case isTemporal(have) && isTemporal(want):
		return 40
	case have == datum.Unknown && engine.IsString(want):
		return 30
	case engine.IsString(have) && (want == datum.Float8 || want == datum.Timestamp):
		return 10
	}
	return 2
}

// databaseName is the default database for messages.
func databaseName(m *State) string {
	if m.Database != "" {
		return sqlstate.Cut(m.Database, MaxDatabaseBytes)
	}
	return engine.NextidSchema
}

func noFunction(p *engine.Planner, e *syntax.FuncCall, name string) error {
	database := databaseName(plannedState(p))
	if len(e.Name) > 1 {
		database = e.Name[len(e.Name)-2]
	}
	err := sqlstate.New(sqlstate.UndefinedFunction, "FUNCTION %s.%s does not exist", sqlstate.Cut(database, 64), sqlstate.Cut(name, 64))
	if own := p.Catalog.Nearest(name); own != "" {
		return err.WithHint("Did you mean %s?", own)
	}
	return err
}

// specialCall plans a call whose arguments are not plain expressions. It
// returns nil, nil for the ordinary way.
type specialCall func(p *engine.Planner, s *engine.Scope, e *syntax.FuncCall) (*engine.Expr, error)

// specialCalls are the functions with a syntax of their own.
func specialCalls() map[string]specialCall {
	return map[string]specialCall{
		"nextval": sequenceCall, "lastval": sequenceCall, "setval": setvalCall, "currval": sequenceCall,
		"date_add": dateAddCall, "date_sub": dateAddCall,
		"timestampadd": timestampAddCall, "timestampdiff": timestampDiffCall,
		"position": positionCall, "convert": convertCall, "values": nil,
	}
}

// sequenceCall is NEXTVAL(orders): MariaDB's sequences are named as tables are.
func sequenceCall(p *engine.Planner, s *engine.Scope, e *syntax.FuncCall) (*engine.Expr, error) {
	if len(e.Args) == 0 {
		return nil, nil
	}
	c, ok := engine.Unparen(e.Args[0].Value).(*syntax.Column)
	call := *e
	call.Args = slices.Clone(e.Args)
	if ok {
		call.Args[0] = syntax.Arg{Value: &syntax.Literal{Pos: c.Pos, Kind: syntax.StringLiteral, Text: c.Name.Last()}}
	}
	if e.Name.Last() == "lastval" && len(call.Args) == 1 {
		return lastValueCall(p, s, call.Args[0].Value)
	}
	return p.FuncCall(s, &call)
}

// positionCall: the parser puts the text first.
func positionCall(p *engine.Planner, s *engine.Scope, e *syntax.FuncCall) (*engine.Expr, error) {
	if len(e.Args) != 2 {
		return nil, nil
	}
	call := *e
	call.Name, call.Args = syntax.Name{"instr"}, e.Args
	return p.FuncCall(s, &call)
}

// convertCall is CONVERT(x USING charset): all text is UTF-8.
func convertCall(p *engine.Planner, s *engine.Scope, e *syntax.FuncCall) (*engine.Expr, error) {
	if len(e.Args) != 2 || e.Args[1].Name != "using" {
		return nil, nil
	}
	lit := e.Args[1].Value.(*syntax.Literal)
	cs := charsetNamed(lit.Text)
	if cs == "" {
		return nil, sqlstate.New(sqlstate.InvalidParameterValue, "Unknown character set: '%s'", sqlstate.Cut(lit.Text, 64)).WithMySQL(1115, "42000")
	}
	x, err := p.Expr(s, e.Args[0].Value)
	if err != nil {
		return nil, err
	}
	if cs == "binary" {
		return p.Coerce(x, datum.Bytea, datum.ImplicitCast)
	}
	return p.Coerce(x, datum.Text, datum.ImplicitCast)
}

// castExpr is CAST(x AS type), CONVERT(x, type) and BINARY x.
func castExpr(p *engine.Planner, s *engine.Scope, c *syntax.Cast) (*engine.Expr, error) {
	x, err := p.Expr(s, c.X)
	if err != nil {
		return nil, err
	}
	name := c.Type.Name.Last()
	t, ok := castTypes[name]
	if !ok {
		return nil, engine.At(c.Type.Pos, sqlstate.New(sqlstate.SyntaxError, "a cast to %s does not exist", sqlstate.Cut(name, 64)))
	}
	mods := c.Type.Mods
	if name == "unsigned" {
		return castUnsigned(p, x)
	}
	if x.Type == t && len(mods) == 0 && t != datum.Timestamp && t != datum.Time && t != datum.Numeric {
		e := *x
		e.Column, e.Keys, e.Origin = false, nil, nil
		return &e, nil
	}
	if x, err = p.Coerce(x, t, datum.ExplicitCast); err != nil {
		return nil, engine.At(c.Pos, err)
	}
	limit := int64(-1)
	if len(mods) > 0 {
		limit = mods[0]
	}
	inner := x
	out := engine.Derive(t, func(x *engine.Exec) (datum.Value, error) {
		v, err := inner.Eval(x)
		if err != nil || !v.Valid {
			return v, err
		}
		return fitCast(x, v, t, limit, mods), nil
	}, inner)
	if t == datum.Timestamp || t == datum.Time {
		out.TypeMod = int32(max(limit, 0))
	}
	if t == datum.Numeric {
		scale := int64(0)
		if limit < 0 {
			limit = 10
		}
		if len(mods) > 1 {
			scale = mods[1]
		}
		out.TypeMod = engine.TypeMod(datum.Numeric, []int64{limit, scale})
	}
	return out, nil
}

// castTypes are the types that CAST takes.
var castTypes = map[string]datum.OID{
	"varchar": datum.Text, "binary": datum.Bytea, "bigint": datum.Int8, "unsigned": datum.Int8,
	"decimal": datum.Numeric, "numeric": datum.Numeric, "dec": datum.Numeric,
	"double": datum.Float8, "double precision": datum.Float8, "float": datum.Float8, "real": datum.Float8,
	"date": datum.Date, "time": datum.Time, "datetime": datum.Timestamp, "timestamp": datum.Timestamp, "json": datum.JSON,
	"integer": datum.Int8, "int": datum.Int8, "year": datum.Int4, "uuid": datum.Text,
}

// fitCast cuts a converted value to the length, precision or scale of a cast.
func fitCast(x *engine.Exec, v datum.Value, t datum.OID, limit int64, mods []int64) datum.Value {
	switch t {
	case datum.Text:
		if r := []rune(v.Str); limit >= 0 && int64(len(r)) > limit {
			Warn(x, sqlstate.New(sqlstate.StringTooLong, "Truncated incorrect CHAR(%d) value: '%s'", limit, sqlstate.Cut(v.Str, 64)).WithMySQL(1292, "22007"))
			v.Str = string(r[:limit])
		}
	case datum.Bytea:
		if limit >= 0 && limit <= engine.MaxTextBytes {
			if int64(len(v.Str)) > limit {
				v.Str = v.Str[:limit]
			}
			v.Str += strings.Repeat("\x00", int(limit)-len(v.Str))
		}
	case datum.Numeric:
		scale := int64(0)
		if len(mods) > 1 {
			scale = mods[1]
		}
		scale = min(max(scale, 0), maxScale)
		v = decimalValue(decimalOf(v.Str).Round(int(scale)))
	case datum.Timestamp, datum.Time:
		unit := int64(1)
		for i := max(limit, 0); i < 6; i++ {
			unit *= 10
		}
		v.Int -= ((v.Int % unit) + unit) % unit
	}
	return v
}

// castUnsigned is CAST(x AS UNSIGNED). Our integers are signed: a value above
// them is an error, not another number.
func castUnsigned(p *engine.Planner, e *engine.Expr) (*engine.Expr, error) {
	if e.Type == datum.Unknown {
		return p.Coerce(e, datum.Int8, datum.ImplicitCast)
	}
	return engine.Derive(datum.Int8, func(x *engine.Exec) (datum.Value, error) {
		v, err := e.Eval(x)
		if err != nil || !v.Valid {
			return datum.Null(datum.Int8), err
		}
		n, err := intOf(x, v)
		if err == nil && n < 0 {
			err = unsignedTooLarge(uint64(n))
		}
		return datum.MakeInt8(n), err
	}, e), nil
}
