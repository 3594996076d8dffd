package sqlfuncs

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// funcCall analyses a call in an expression.
func (p *planner) funcCall(s *scope, e *syntax.FuncCall) (*expr, error) {
	if e.Over != nil {
		return p.windowCall(s, e)
	}
	if p.isAggregate(e) {
		return p.aggregate(s, e)
	}
	f, args, err := p.resolveCall(s, e)
	if err != nil {
		return nil, err
	}
	if f.set {
		if s == nil || s.sets == nil {
			return nil, at(e.Pos, sqlstate.New(sqlstate.FeatureNotSupported, "set-returning functions are not allowed here"))
		}
		x := s.sets.add(f, args)
		x.name = f.name
		return x, nil
	}
	x, err := p.apply(f, args)
	if err != nil {
		return nil, at(e.Pos, err)
	}
	x.name = f.name
	return x, nil
}

// resolveCall finds the function of a call and converts its arguments.
func (p *planner) resolveCall(s *scope, e *syntax.FuncCall) (*function, []*expr, error) {
	name := e.Name.Last()
	var given []*expr
	var names []string
	for _, a := range e.Args {
		x, err := p.expr(s, a.Value)
		if err != nil {
			return nil, nil, hintQuotes(err, s, name, a.Value)
		}
		if x.param > 0 && x.typ == datum.Void {
			continue // JDBC's {? = call f(?)} counts the result as a parameter; PostgreSQL leaves it out, too
		}
		given, names = append(given, x), append(names, a.Name)
	}
	f, args, err := p.chooseFunction(e, name, given, names)
	if err != nil {
		return nil, nil, at(e.Pos, err)
	}
	if f.window != nil && e.Over == nil {
		return nil, nil, at(e.Pos, sqlstate.New(sqlstate.WrongObjectType, "window function %s requires an OVER clause", f.name))
	}
	return f, args, nil
}

// hintQuotes tells who writes next_id(orders), without any table to have such
// a column, that a text has quotes.
func hintQuotes(err error, s *scope, function string, arg syntax.Expr) error {
	c, ok := arg.(*syntax.Column)
	e, missing := errors.AsType[*sqlstate.Error](err)
	if ok && missing && e.Code == sqlstate.UndefinedColumn && len(c.Name) == 1 && (s == nil || len(s.items) == 0) {
		e.Hint = fmt.Sprintf("A text has single quotes around it: %s('%s')", function, sqlstate.Cut(c.Name[0], 64))
	}
	return err
}

// chooseFunction is PostgreSQL's function type resolution (10.3): exact
// matches first, then implicit conversions, preferred types last.
func (p *planner) chooseFunction(e *syntax.FuncCall, name string, given []*expr, names []string) (*function, []*expr, error) {
	if p.mysql {
		return p.dialect.choose(p, e, name, given, names)
	}
	best, bestScore, ties := (*function)(nil), -1, 0
	var bestArgs []*expr
	candidates := p.catalog.functions[name]
	if e.Variadic {
		var err error
		if candidates, err = variadicCandidates(candidates, given); err != nil {
			return nil, nil, err
		}
	}
	for _, f := range candidates {
		if !f.inSchema(e.Name) || (e.Star && f.agg == nil) {
			continue
		}
		given, names := given, names
		if f.namedOptions > 0 {
			var err error
			if given, names, err = p.foldOptions(f, given, names); err != nil {
				return nil, nil, err
			}
		}
		args, ok := f.arrange(given, names)
		if !ok {
			continue
		}
		score, ok := f.score(args)
		if !ok {
			continue
		}
		switch {
		case score > bestScore:
			best, bestScore, bestArgs, ties = f, score, args, 1
		case score == bestScore:
			ties++
		}
	}
	if best == nil {
		return nil, nil, noFunction(e, given)
	}
	if ties > 1 {
		return nil, nil, sqlstate.New(sqlstate.AmbiguousFunction, "function %s is not unique", signature(e, given)).
			WithHint("Could not choose a best candidate function. You might need to add explicit type casts.")
	}
	if decided, err := p.decideOpen(best, bestArgs); decided || err != nil {
		if err != nil {
			return nil, nil, err
		}
		return p.chooseFunction(e, name, given, names)
	}
	if best.admin && !p.host.Admin() {
		return nil, nil, sqlstate.New(sqlstate.InsufficientPrivilege, "permission denied for function %s", name).
			WithHint("Connect as a user with the role admin.")
	}
	if best.volatile == isVolatile {
		p.isVolatile()
	}
	p.private = p.private || best.admin // the permission is not that of other sessions
	if best.typed != nil {
		return best, bestArgs, nil
	}
	for i, a := range bestArgs {
		if a == nil {
			continue
		}
		t := best.argType(i)
		var err error
		switch {
		case t == datum.AnyArray && a.typ == datum.Unknown:
			err = errUnknownPolymorphic
		case t == datum.AnyArray:
		case t == anyElement || t == anyType:
			bestArgs[i], err = p.resolveUnknown(a)
		default:
			bestArgs[i], err = p.coerce(a, t, datum.ImplicitCast)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return best, bestArgs, nil
}

// variadicCandidates returns the functions that a call with VARIADIC array can mean: the
// array stands for the last arguments.
func variadicCandidates(candidates []*function, given []*expr) ([]*function, error) {
	array := given[len(given)-1]
	info, _ := datum.TypeInfo(array.typ)
	var out []*function
	for _, f := range candidates {
		if !f.variadic || len(given) != len(f.args) {
			continue
		}
		if f.eval == nil {
			return nil, unsupported(array.pos, "VARIADIC for "+f.name)
		}
		last := f.args[len(f.args)-1].typ
		want, _ := datum.TypeInfo(last)
		if last == anyType {
			if info.Elem == 0 {
				return nil, at(array.pos, sqlstate.New(sqlstate.DatatypeMismatch, "VARIADIC argument must be an array"))
			}
			want.Array = array.typ
		}
		g := *f
		g.variadic = false
		g.args = slices.Clone(f.args)
		g.args[len(g.args)-1].typ = want.Array
		g.eval = func(x *exec, a []datum.Value) (datum.Value, error) {
			n := len(a) - 1
			if !a[n].Valid && f.name != "format" { // format takes it as no arguments
				return datum.Null(f.result), nil
			}
			return f.eval(x, append(a[:n:n], leaves(a[n])...))
		}
		out = append(out, &g)
	}
	return out, nil
}

// decideOpen gives parameters whose type is still open the type that the
// function would like best, and reports whether there were any.
func (p *planner) decideOpen(f *function, args []*expr) (decided bool, err error) {
	for i, a := range args {
		if i >= len(f.args) || f.args[i].open == 0 || a == nil || a.param == 0 || a.typ != datum.Unknown {
			continue
		}
		if _, err := p.coerce(a, f.args[i].open, datum.ImplicitCast); err != nil {
			return false, err
		}
		if f.args[i].anyID {
			p.openIDs = append(p.openIDs, a.param)
		}
		decided = decided || a.typ != datum.Unknown
	}
	return decided, nil
}

// arrange puts named arguments in order. Arguments that are left out are
// nil, but for trailing ones.
func (f *function) arrange(given []*expr, names []string) ([]*expr, bool) {
	if len(given) < f.minArgs() || (!f.variadic && len(given) > len(f.args)) {
		return nil, false
	}
	args := make([]*expr, 0, len(given))
	for i, g := range given {
		if names[i] == "" {
			if len(args) > i {
				return nil, false // positional after named
			}
			args = append(args, g)
			continue
		}
		at := -1
		for j, a := range f.args {
			if a.name == names[i] {
				at = j
			}
		}
		if at < 0 {
			return nil, false
		}
		for len(args) <= at {
			args = append(args, nil)
		}
		if args[at] != nil {
			return nil, false
		}
		args[at] = g
	}
	for i, a := range args {
		if a == nil && !f.args[i].optional {
			return nil, false
		}
	}
	return args, true
}

// score rates how well argument types fit.
func (f *function) score(args []*expr) (int, bool) {
	total := 0
	for i, a := range args {
		if a == nil {
			continue
		}
		want := f.argType(i)
		switch {
		case a.typ == want:
			total += 100
		case want == anyElement || want == anyType:
			total++
		case want == datum.AnyArray:
			if info, _ := datum.TypeInfo(a.typ); info.Elem == 0 && a.typ != datum.Unknown {
				return 0, false
			}
			total++
		case a.typ == datum.Unknown:
			total += 2
			if info, _ := datum.TypeInfo(want); info.Preferred {
				total++
			}
			if isString(want) { // untyped literals are texts first
				total += 2
			}
		default:
			if !castFits(datum.CastAllowed(a.typ, want), datum.ImplicitCast) {
				return 0, false
			}
			total += 10
			if info, _ := datum.TypeInfo(want); info.Preferred {
				total += 5
			}
			if n := numberRank[want]; n > 0 { // the nearest wider number
				total += 9 - n
			}
		}
	}
	return total, true
}

func signature(e *syntax.FuncCall, args []*expr) string {
	types := make([]string, len(args))
	for i, a := range args {
		types[i] = datum.FormatType(a.typ, -1)
		if a.typ == datum.Unknown {
			types[i] = "unknown"
		}
		if n := e.Args[i].Name; n != "" {
			types[i] = n + " => " + types[i]
		}
	}
	star := strings.Join(types, ", ")
	if e.Star {
		star = "*"
	}
	return sqlstate.Cut(strings.Join(e.Name, "."), 128) + "(" + star + ")"
}

func noFunction(e *syntax.FuncCall, args []*expr) error {
	if len(e.Name) > 1 {
		switch schema := e.Name[len(e.Name)-2]; schema {
		case pgCatalog, nextidSchema, "public", "information_schema":
		default:
			return sqlstate.New(sqlstate.InvalidSchema, "schema %q does not exist", sqlstate.Cut(schema, 64))
		}
	}
	return sqlstate.New(sqlstate.UndefinedFunction, "function %s does not exist", signature(e, args)).
		WithHint("No function matches the given name and argument types. You might need to add explicit type casts.")
}

// apply makes the expression of a call to a plain function.
func (p *planner) apply(f *function, args []*expr) (*expr, error) {
	if f.typed != nil {
		return f.typed(p, args)
	}
	eval := f.eval
	if f.collated != nil {
		c, err := p.collationOf(args...)
		if err != nil {
			return nil, err
		}
		eval = f.collated(p.exact(c))
	}
	x := derive(f.result, func(x *exec) (datum.Value, error) {
		values, null, err := evalArgs(x, args)
		if err != nil || (null && !f.nullable) {
			return datum.Null(f.result), err
		}
		defer x.rowDone(x.values)
		if err := x.working(values); err != nil {
			return datum.Null(f.result), err
		}
		return eval(x, values)
	}, args...)
	x.volatile = x.volatile || f.volatile == isVolatile
	x.collation = x.collation.with(f.collation)
	if f.fromRow == nil {
		x.fields = f.columns
	}
	return x, nil
}

// evalArgs computes arguments; null reports whether one is NULL. A left-out
// argument in the middle is an invalid value of type Invalid.
func evalArgs(x *exec, args []*expr) (values []datum.Value, null bool, err error) {
	values = make([]datum.Value, len(args))
	for i, a := range args {
		if a == nil {
			continue
		}
		if values[i], err = a.eval(x); err != nil {
			return nil, false, err
		}
		null = null || !values[i].Valid
	}
	return values, null, nil
}

// foldOptions turns named arguments that the function does not have into its
// options object: step => 1000 becomes {"step": 1000}.
func (p *planner) foldOptions(f *function, given []*expr, names []string) ([]*expr, []string, error) {
	var keys []string
	var values []*expr
	keptArgs, keptNames := given[:0:0], names[:0:0]
	for i, g := range given {
		known := names[i] == ""
		for _, a := range f.args {
			known = known || a.name == names[i]
		}
		if known {
			keptArgs, keptNames = append(keptArgs, g), append(keptNames, names[i])
			continue
		}
		v, err := p.resolveUnknown(g)
		if err != nil {
			return nil, nil, err
		}
		keys, values = append(keys, names[i]), append(values, v)
	}
	if len(keys) == 0 {
		return given, names, nil
	}
	options := derive(datum.JSONB, func(x *exec) (datum.Value, error) {
		pairs := make([]datum.JSONPair, len(keys))
		for i, e := range values {
			v, err := e.eval(x)
			if err != nil {
				return v, err
			}
			pairs[i] = datum.JSONPair{Key: keys[i], Value: v}
		}
		return datum.MakeJSONB(pairs), nil
	}, values...)
	return append(keptArgs, options), append(keptNames, "options"), nil
}
