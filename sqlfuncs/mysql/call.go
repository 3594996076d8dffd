package mysql

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// sharedFunctions lists PostgreSQL's functions that the MySQL dialect also has:
// those of sequences and UUIDs, the aggregates, and two of texts.
var sharedFunctions = map[string]bool{
	"nextval": true, "currval": true, "lastval": true, "setval": true,
	"gen_random_uuid": true, "generate_series": true,
	"count": true, "sum": true, "min": true, "max": true, "row_number": true, "repeat": true, "replace": true,
}

// Functions implements engine.Dialect.
func (d *Dialect) Functions(p *engine.Planner, name string) []*engine.Function {
	if fs := d.Own[name]; fs != nil {
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

// call plans a call of a function.
func call(p *engine.Planner, s *engine.Scope, e *syntax.FuncCall) (*engine.Expr, error) {
	call := *e
	name := strings.ToLower(e.Name.Last())
	call.Name = syntax.Name{name}
	if e.Over != nil {
		return p.FuncCall(s, &call)
	}
	switch name {
	case "nextval", "lastval", "setval", "currval":
		if x, err := sequenceCall(p, s, &call); x != nil || err != nil {
			return x, engine.At(e.Pos, err)
		}
	}
	if len(e.Name) > 1 && e.Name[0] != engine.PGCatalog {
		call.Name = syntax.Name{e.Name[len(e.Name)-2], name}
	}
	if p.Catalog.IsAggregate(&syntax.FuncCall{Name: syntax.Name{name}}) {
		call.Name = syntax.Name{name}
		return p.Aggregate(s, &call)
	}
	return p.FuncCall(s, &call)
}

// parameterCount returns the error for a wrong number of arguments.
func parameterCount(name string) error {
	return sqlstate.New(sqlstate.UndefinedFunction, "Incorrect parameter count in the call to native function '%s'", sqlstate.Cut(name, 64)).
		WithMySQL(1582, "42000")
}

// Choose implements engine.Dialect. It picks the overload whose argument types are
// nearest. MySQL converts every argument: only their number can be wrong.
func (d *Dialect) Choose(p *engine.Planner, e *syntax.FuncCall, name string, given []*engine.Expr, names []string) (*engine.Function, []*engine.Expr, error) {
	candidates := d.Functions(p, name)
	if len(candidates) == 0 {
		return nil, nil, noFunction(p, e, name)
	}
	if slices.ContainsFunc(names, func(n string) bool { return n != "" }) {
		return nil, nil, sqlstate.New(sqlstate.SyntaxError, "%s does not take named arguments", name)
	}
	var best *engine.Function
	bestScore := -1
	for _, f := range candidates {
		if len(given) < f.MinArgs() || !f.Variadic && len(given) > len(f.Args) || e.Star && !f.IsAggregate() {
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
	database := databaseName(plannedState(p))
	best = best.Checked(func(c *engine.Client) error {
		return sqlstate.New(sqlstate.InsufficientPrivilege, "execute command denied to user '%s' for routine '%s.%s'",
			sqlstate.Cut(c.User, 64), database, name).WithHint("Connect as a user with the role admin.").WithMySQL(1370, "42000")
	})
	if _, typed := best.Does.(engine.Typed); typed {
		return best, given, nil
	}
	args := slices.Clone(given)
	if name == "sum" && len(args) == 1 && kindOf(args[0].Type) == kindInt && best.ArgType(0) != datum.Int8 { // a decimal, as SUM always is
		var err error
		if args[0], err = p.Coerce(args[0], datum.Int8, datum.ImplicitCast); err != nil {
			return nil, nil, err
		}
		return d.Choose(p, e, name, args, names)
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

// nearness rates an argument of type have for a parameter of type want: 100 for the
// same type, less for conversions, -1 if it cannot be converted.
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
	case (engine.IsString(have) || have == datum.Bytea) && engine.IsString(want): // BINARY is a string type
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

// databaseName returns the default database for messages.
func databaseName(m *State) string {
	if m.Database != "" {
		return sqlstate.Cut(m.Database, MaxDatabaseBytes)
	}
	return engine.NextidSchema
}

// noFunction returns the error for an unknown function.
func noFunction(p *engine.Planner, e *syntax.FuncCall, name string) error {
	database := databaseName(plannedState(p))
	if len(e.Name) > 1 {
		database = e.Name[len(e.Name)-2]
	}
	name = cmp.Or(e.Word(), name)
	err := sqlstate.New(sqlstate.UndefinedFunction, "FUNCTION %s.%s does not exist", sqlstate.Cut(database, 64), sqlstate.Cut(name, 64))
	if own := p.Catalog.Nearest(name); own != "" {
		return err.WithHint("Did you mean %s?", own)
	}
	return err
}

// sequenceCall plans NEXTVAL(orders). MariaDB names sequences as it names tables, so
// the argument is a column reference. It returns nil, nil for a call without arguments,
// which is planned like other calls.
func sequenceCall(p *engine.Planner, s *engine.Scope, e *syntax.FuncCall) (*engine.Expr, error) {
	if len(e.Args) == 0 {
		return nil, nil
	}
	c, ok := e.Args[0].Value.(*syntax.Column)
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

// castTypes maps the types that CAST accepts.
var castTypes = map[string]datum.OID{
	"varchar": datum.Text, "binary": datum.Bytea, "bigint": datum.Int8, "unsigned": datum.Int8,
	"date": datum.Date, "datetime": datum.Timestamp, "timestamp": datum.Timestamp,
}

// castExpr plans CAST(x AS type), CONVERT(x, type) and BINARY x.
func castExpr(p *engine.Planner, s *engine.Scope, c *syntax.Cast) (*engine.Expr, error) {
	name := c.Type.Name.Last()
	t, ok := castTypes[name]
	if !ok {
		return nil, engine.Unsupported(c.Type.Pos, "a cast to "+strings.ToUpper(name))
	}
	if len(c.Type.Mods) > 0 {
		return nil, engine.Unsupported(c.Type.Pos, "a cast to "+strings.ToUpper(name)+" with a length")
	}
	x, err := p.Expr(s, c.X)
	if err != nil {
		return nil, err
	}
	if name == "unsigned" {
		return castUnsigned(p, x)
	}
	if x.Type == t && t != datum.Timestamp {
		e := *x
		known := x.Known()
		e.Column, known.Keys, known.Origin = false, nil, nil
		e.Know(known)
		return &e, nil
	}
	length := lengthOf(x)
	if x, err = p.Coerce(x, t, datum.ExplicitCast); err != nil {
		return nil, engine.At(c.Pos, err)
	}
	switch t {
	case datum.Text:
		e := *x
		e.TypeMod = engine.TextMod(length)
		return &e, nil
	case datum.Timestamp: // of whole seconds; a literal TIMESTAMP'…' keeps its digits
		digits := 0
		if lit, ok := c.X.(*syntax.Literal); ok && name == "timestamp" {
			_, fraction, _ := strings.Cut(lit.Text, ".")
			digits = min(len(fraction), 6)
		}
		unit := int64(math.Pow10(6 - digits))
		cut := engine.Derive(t, func(ex *engine.Exec) (datum.Value, error) {
			v, err := x.Eval(ex)
			v.Int -= ((v.Int % unit) + unit) % unit
			return v, err
		}, x)
		cut.TypeMod = int32(digits)
		return cut, nil
	}
	return x, nil
}

// castUnsigned plans CAST(x AS UNSIGNED). nextid's integers are signed: a greater
// value is an error.
func castUnsigned(p *engine.Planner, e *engine.Expr) (*engine.Expr, error) {
	e, err := p.Coerce(e, datum.Int8, datum.ImplicitCast)
	if err != nil {
		return nil, err
	}
	return engine.Strict1(datum.Int8, e, func(_ *engine.Exec, v datum.Value) (datum.Value, error) {
		if v.Int < 0 {
			return v, sqlstate.New(sqlstate.NumericOutOfRange, "BIGINT value is out of range in '%d'", uint64(v.Int)).
				WithHint("nextid's integers are signed, ids are at most 9223372036854775807.")
		}
		return v, nil
	}), nil
}
