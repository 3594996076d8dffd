package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"nextid/generator"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// FuncCall analyses a call in an expression.
func (p *Planner) FuncCall(s *Scope, e *syntax.FuncCall) (*Expr, error) {
	if e.Over != nil {
		return p.windowCall(s, e)
	}
	if p.Catalog.IsAggregate(e) {
		return p.Aggregate(s, e)
	}
	f, args, err := p.resolveCall(s, e)
	if err != nil {
		return nil, err
	}
	if f.ReturnsSet() {
		if s == nil || s.sets == nil {
			return nil, At(e.Pos, sqlstate.New(sqlstate.FeatureNotSupported, "set-returning functions are not allowed here"))
		}
		x := s.sets.add(f, args)
		x.name = f.Name
		return x, nil
	}
	x, err := p.apply(f, args)
	if err != nil {
		return nil, At(e.Pos, err)
	}
	if p.Traits.Origins && f.Length != nil && IsString(x.Type) {
		x.TypeMod = TextMod(f.Length(args))
	}
	x.name = f.Name
	return x, nil
}

// resolveCall finds the function of a call and converts its arguments.
func (p *Planner) resolveCall(s *Scope, e *syntax.FuncCall) (*Function, []*Expr, error) {
	name := e.Name.Last()
	var given []*Expr
	var names []string
	if level := s.grouped(); level != nil && p.Dialect.Functions(p, name) == nil {
		g := level.group // maybe an aggregate that nextid lacks: blame the name, not the arguments
		level.group = nil
		defer func() { level.group = g }()
	}
	if name == "coalesce" {
		defer s.noSets()() // as in CASE
	}
	for _, a := range e.Args {
		x, err := p.Expr(s, a.Value)
		if err != nil {
			return nil, nil, hintQuotes(err, s, name, a.Value)
		}
		if x.Param > 0 && x.Type == datum.Void {
			continue // JDBC's {? = call f(?)} counts the result as a parameter; PostgreSQL leaves it out, too
		}
		given, names = append(given, x), append(names, a.Name)
	}
	f, args, err := p.Dialect.Choose(p, e, name, given, names)
	if err != nil {
		return nil, nil, At(e.Pos, err)
	}
	if f.Volatile == Volatile {
		p.isVolatile()
	}
	if _, window := f.Does.(RowNumber); window && e.Over == nil {
		return nil, nil, At(e.Pos, sqlstate.New(sqlstate.WrongObjectType, "window function %s requires an OVER clause", f.Name))
	}
	return f, args, nil
}

// hintQuotes adds a hint about quotes to the error of next_id(orders) in a query
// without FROM.
func hintQuotes(err error, s *Scope, function string, arg syntax.Expr) error {
	c, ok := arg.(*syntax.Column)
	e, missing := errors.AsType[*sqlstate.Error](err)
	if ok && missing && e.Code == sqlstate.UndefinedColumn && len(c.Name) == 1 && (s == nil || len(s.items) == 0) {
		e.Hint = fmt.Sprintf("A text has single quotes around it: %s('%s')", function, sqlstate.Cut(c.Name[0], 64))
	}
	return err
}

// Functions implements Dialect.
func (PostgreSQL) Functions(p *Planner, name string) []*Function { return p.Catalog.Functions[name] }

// Choose implements Dialect by PostgreSQL's function type resolution (10.3): exact
// matches first, then implicit conversions, preferred types last.
func (PostgreSQL) Choose(p *Planner, e *syntax.FuncCall, name string, given []*Expr, names []string) (*Function, []*Expr, error) {
	best, bestScore, ties := (*Function)(nil), -1, 0
	var bestArgs []*Expr
	candidates := p.Catalog.Functions[name]
	for _, f := range candidates {
		if !f.inSchema(e.Name) || (e.Star && !f.IsAggregate()) {
			continue
		}
		given, names := given, names
		if n := len(f.Args) - 1; n >= 0 && f.Args[n].Name == optionsArg {
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
		return nil, nil, p.noFunction(e, given, candidates)
	}
	if ties > 1 {
		return nil, nil, sqlstate.New(sqlstate.AmbiguousFunction, "function %s is not unique", signature(e, given)).
			WithHint("Several functions of this name take such arguments: cast them to the types of the one that you mean.")
	}
	if decided, err := p.decideOpen(best, bestArgs); decided || err != nil {
		if err != nil {
			return nil, nil, err
		}
		return p.Dialect.Choose(p, e, name, given, names)
	}
	best = best.Checked(func(*Client) error {
		return sqlstate.New(sqlstate.InsufficientPrivilege, "permission denied for function %s", name).
			WithHint("Connect as a user with the role admin.")
	})
	if _, typed := best.Does.(Typed); typed {
		return best, bestArgs, nil
	}
	for i, a := range bestArgs {
		if a == nil {
			continue
		}
		t := best.ArgType(i)
		var err error
		switch {
		case t == datum.AnyArray && a.Type == datum.Unknown:
			err = ErrUnknownPolymorphic
		case t == datum.AnyArray:
		case t == AnyElement || t == AnyType:
			bestArgs[i], err = p.ResolveUnknown(a)
		default:
			bestArgs[i], err = p.Coerce(a, t, datum.ImplicitCast)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return best, bestArgs, nil
}

// decideOpen gives parameters without a type the type that the function prefers. It
// reports whether there were any.
func (p *Planner) decideOpen(f *Function, args []*Expr) (decided bool, err error) {
	for i, a := range args {
		if i >= len(f.Args) || f.Args[i].Open == 0 || a == nil || a.Param == 0 || a.Type != datum.Unknown {
			continue
		}
		if _, err := p.Coerce(a, f.Args[i].Open, datum.ImplicitCast); err != nil {
			return false, err
		}
		if f.Args[i].AnyID {
			p.OpenIDs = append(p.OpenIDs, int(a.Param))
		}
		decided = decided || a.Type != datum.Unknown
	}
	return decided, nil
}

// argument returns the index of the argument with a name, or -1.
func (f *Function) argument(name string) int {
	return slices.IndexFunc(f.Args, func(a Argument) bool { return a.Name == name })
}

// arrange puts named arguments in order. Omitted arguments are nil; omitted
// trailing ones are cut off.
func (f *Function) arrange(given []*Expr, names []string) ([]*Expr, bool) {
	if len(given) < f.MinArgs() || (!f.Variadic && len(given) > len(f.Args)) {
		return nil, false
	}
	args := make([]*Expr, 0, len(given))
	for i, g := range given {
		if names[i] == "" {
			if len(args) > i {
				return nil, false // positional after named
			}
			args = append(args, g)
			continue
		}
		at := f.argument(names[i])
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
		if a == nil && !f.Args[i].Optional {
			return nil, false
		}
	}
	return args, true
}

// score rates how well the types of arguments fit the function.
func (f *Function) score(args []*Expr) (int, bool) {
	total := 0
	for i, a := range args {
		if a == nil {
			continue
		}
		want := f.ArgType(i)
		switch {
		case a.Type == want:
			total += 100
		case want == AnyElement || want == AnyType:
			total++
		case want == datum.AnyArray:
			if info, _ := datum.TypeInfo(a.Type); info.Elem == 0 && a.Type != datum.Unknown {
				return 0, false
			}
			total++
		case a.Type == datum.Unknown:
			total += 2
			if info, _ := datum.TypeInfo(want); info.Preferred {
				total++
			}
			if IsString(want) { // untyped literals prefer text
				total += 2
			}
		default:
			if datum.CastAllowed(a.Type, want) != datum.ImplicitCast {
				return 0, false
			}
			total += 10
			if info, _ := datum.TypeInfo(want); info.Preferred {
				total += 5
			}
			if n := datum.NumberRank[want]; n > 0 { // the nearest wider number
				total += 9 - n
			}
		}
	}
	return total, true
}

func signature(e *syntax.FuncCall, args []*Expr) string {
	types := make([]string, len(args))
	for i, a := range args {
		types[i] = datum.FormatType(a.Type, -1)
		if a.Type == datum.Unknown {
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
	return sqlstate.Cut(cmp.Or(e.Word(), strings.Join(e.Name, ".")), 128) + "(" + star + ")"
}

func (p *Planner) noFunction(e *syntax.FuncCall, args []*Expr, others []*Function) error {
	if len(e.Name) > 1 {
		switch schema := e.Name[len(e.Name)-2]; schema {
		case PGCatalog, NextidSchema, "public", "information_schema":
		default:
			return NoSchema(schema)
		}
	}
	err := sqlstate.New(sqlstate.UndefinedFunction, "function %s does not exist", signature(e, args))
	if len(others) > 0 {
		known := make([]string, min(len(others), 4))
		for i := range known {
			known[i] = others[i].signature()
		}
		return err.WithHint("Call %s, with arguments cast to these types.", strings.Join(known, " or "))
	}
	if own := p.Catalog.Nearest(e.Name.Last()); own != "" {
		return err.WithHint("Did you mean %s?", own)
	}
	return err.WithHint("nextid has functions for ids and what drivers and tools ask for; compute the rest in your own database.")
}

// signature returns the function with the names and types of its arguments.
func (f *Function) signature() string {
	text := f.Name + "("
	for i, a := range f.Args {
		if a.Optional {
			text += "["
		}
		if i > 0 {
			text += ", "
		}
		if a.Name != "" {
			text += a.Name + " "
		}
		if t := datum.FormatType(a.Type, -1); a.Type == AnyElement || a.Type == AnyType || t == "???" {
			text += "any type"
		} else {
			text += t
		}
		if a.Optional {
			text += "]"
		}
	}
	if f.Variadic {
		text += ", …"
	}
	return text + ")"
}

// Nearest returns nextid's function with the most similar name, or "".
func (c *Catalog) Nearest(name string) string {
	var own []string
	for known, functions := range c.Functions {
		if functions[0].Schema == NextidSchema {
			own = append(own, known)
		}
	}
	slices.Sort(own)
	return generator.Nearest(sqlstate.Cut(name, 64), own)
}

// apply plans the call of a plain function.
func (p *Planner) apply(f *Function, args []*Expr) (*Expr, error) {
	if build, typed := f.Does.(Typed); typed {
		return build(p, args)
	}
	eval := f.Eval()
	x := Derive(f.Result, func(x *Exec) (datum.Value, error) {
		values, null, err := EvalArgs(x, args)
		if err != nil || (null && !f.Nullable) {
			return datum.Null(f.Result), err
		}
		defer x.rowDone(x.values)
		if err := x.working(values); err != nil {
			return datum.Null(f.Result), err
		}
		return eval(x, values)
	}, args...)
	x.Volatile = x.Volatile || f.Volatile == Volatile
	x.Letters = x.Letters || f.Letters
	return x, nil
}

// EvalArgs computes arguments; null reports whether one is NULL. An omitted
// argument in the middle is a value of type Invalid.
func EvalArgs(x *Exec, args []*Expr) (values []datum.Value, null bool, err error) {
	values = x.Row(len(args))
	for i, a := range args {
		if a == nil {
			continue
		}
		if values[i], err = a.Eval(x); err != nil {
			return nil, false, err
		}
		null = null || !values[i].Valid
	}
	return values, null, nil
}

// optionsArg is the name of the last argument of functions with options. It
// collects named arguments that the function does not declare.
const optionsArg = "options"

// foldOptions moves named arguments that the function does not declare into its
// options object: step => 1000 becomes {"step": 1000}.
func (p *Planner) foldOptions(f *Function, given []*Expr, names []string) ([]*Expr, []string, error) {
	var keys []string
	var values []*Expr
	keptArgs, keptNames := given[:0:0], names[:0:0]
	for i, g := range given {
		if names[i] == "" || f.argument(names[i]) >= 0 {
			keptArgs, keptNames = append(keptArgs, g), append(keptNames, names[i])
			continue
		}
		v, err := p.ResolveUnknown(g)
		if err != nil {
			return nil, nil, err
		}
		keys, values = append(keys, names[i]), append(values, v)
	}
	if len(keys) == 0 {
		return given, names, nil
	}
	options := Derive(datum.JSONB, func(x *Exec) (datum.Value, error) {
		object := []byte{'{'}
		for i, e := range values {
			v, err := e.Eval(x)
			if err != nil {
				return v, err
			}
			if i > 0 {
				object = append(object, ',')
			}
			object = datum.AppendJSON(append(datum.AppendJSONString(object, keys[i]), ':'), v, nil)
		}
		return datum.ParseText(datum.JSONB, string(append(object, '}')), x.Env())
	}, values...)
	return append(keptArgs, options), append(keptNames, optionsArg), nil
}
