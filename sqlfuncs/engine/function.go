package engine

import (
	"slices"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/syntax"
)

// Function describes one SQL function: what planning a call, the catalog and the
// documentation need.
type Function struct {
	Name     string
	Args     []Argument
	Variadic bool // the last argument may be repeated
	Result   datum.OID
	Columns  []FromColumn // of the rows that Set and EvalOrRow return (OUT parameters)
	Volatile volatility
	Nullable bool // called also with NULL arguments; other functions return NULL for them
	Admin    bool // only for administrators
	Counts   bool // the rows of Set are the integers from the first argument to the second
	Schema   string
	Help     string

	Does Does // implements a call

	// Letters and Length describe a text result in the MySQL dialect: whether it
	// compares without case (see Exact), and its most characters, 0 if not known.
	Letters bool
	Length  func(args []*Expr) int32
}

// Does is the implementation of a function: one of the types below.
type Does interface{ does() }

type (
	// Eval computes a value.
	Eval func(x *Exec, a []datum.Value) (datum.Value, error)
	// EvalOrRow returns a value in an expression and one row of Columns in FROM
	// (parse_id).
	EvalOrRow struct {
		Eval
		Row func(x *Exec, a []datum.Value) ([]datum.Value, error)
	}
	// EvalOrIDs returns a value. n calls with the same arguments return a run of
	// ids: IDs is called with n as an additional last argument.
	EvalOrIDs struct {
		Eval
		IDs
	}
	// Typed builds the expression of a call whose result depends on the types of
	// its arguments or on their collation.
	Typed func(p *Planner, args []*Expr) (*Expr, error)
	// Set yields rows.
	Set func(x *Exec, a []datum.Value) (Rows, error)
	// IDs yields rows of one id each as a run.
	IDs func(x *Exec, a []datum.Value) (NumberRun, error)
	// NewAggregate begins an aggregate. arg is its first argument, nil for count(*).
	// fold applies to texts that are compared.
	NewAggregate func(arg *Expr, fold TextFold) Aggregate
	// RowNumber numbers the rows of a partition; it needs OVER.
	RowNumber struct{}
)

func (Eval) does()         {}
func (EvalOrRow) does()    {}
func (EvalOrIDs) does()    {}
func (Typed) does()        {}
func (Set) does()          {}
func (IDs) does()          {}
func (NewAggregate) does() {}
func (RowNumber) does()    {}

// Checked returns f with a check of the session's rights at each call of an
// administrators' function. Rights may change after planning.
func (f *Function) Checked(denied func(*Client) error) *Function {
	if !f.Admin {
		return f
	}
	checked, eval := *f, f.Eval()
	checked.Does = Eval(func(x *Exec, a []datum.Value) (datum.Value, error) {
		if c := x.Host.Client(); !c.Admin {
			return datum.Value{}, denied(c)
		}
		return eval(x, a)
	})
	return &checked
}

// ReturnsSet reports whether a function returns rows.
func (f *Function) ReturnsSet() bool { return f.rows() != nil }

// IsAggregate reports whether a function is an aggregate.
func (f *Function) IsAggregate() bool {
	_, is := f.Does.(NewAggregate)
	return is
}

// Eval returns the implementation that computes a value in an expression, or nil.
func (f *Function) Eval() Eval {
	switch does := f.Does.(type) {
	case Eval:
		return does
	case EvalOrRow:
		return does.Eval
	case EvalOrIDs:
		return does.Eval
	}
	return nil
}

// rows returns the implementation that yields rows, or nil.
func (f *Function) rows() Set {
	switch does := f.Does.(type) {
	case Set:
		return does
	case IDs:
		return does.rows
	}
	return nil
}

// rows yields the ids one by one.
func (ids IDs) rows(x *Exec, a []datum.Value) (Rows, error) {
	run, err := ids(x, a)
	if err != nil {
		return nil, err
	}
	return runRows{run}, nil
}

// runRows yields a run as rows of one number each.
type runRows struct{ NumberRun }

// Next implements Rows.
func (rows runRows) Next(x *Exec) ([]datum.Value, error) {
	r, err := rows.NumberRun.Next(x, 1)
	x.IDRow[0] = datum.MakeInt8(r.First)
	return x.IDRow[:], err
}

// Argument describes an argument of a function.
type Argument struct {
	Name     string
	Type     datum.OID // AnyElement: any type
	Optional bool      // may be left out: the function gets fewer values
	Open     datum.OID // the type for a parameter $n without a type, 0: Type
	AnyID    bool      // a parameter $n without a type may be text: it is passed on as text unless it is a number
}

// volatility is PostgreSQL's pg_proc.provolatile.
type volatility byte

// Values of volatility: the result depends on the arguments only, on what stays the
// same during a statement, or on anything.
const (
	Immutable volatility = 'i'
	Stable    volatility = 's'
	Volatile  volatility = 'v'
)

// Pseudo-types of arguments and results, with PostgreSQL's OIDs.
const (
	AnyElement datum.OID = 2283
	AnyType    datum.OID = 2276
)

// Schemas of functions.
const (
	PGCatalog         = "pg_catalog"
	NextidSchema      = "nextid"
	InformationSchema = "information_schema"
)

// IndexFunctions returns copies of functions by their names. Where a function
// leaves them open, the schema is pg_catalog and the volatility immutable.
func IndexFunctions(families ...[]Function) map[string][]*Function {
	m := map[string][]*Function{}
	for _, family := range families {
		own := slices.Clone(family)
		for i := range own {
			f := &own[i]
			if f.Schema == "" {
				f.Schema = PGCatalog
			}
			if f.Volatile == 0 {
				f.Volatile = Immutable
			}
			m[f.Name] = append(m[f.Name], f)
		}
	}
	return m
}

// Args makes unnamed arguments of the given types.
func Args(types ...datum.OID) []Argument {
	out := make([]Argument, len(types))
	for i, t := range types {
		out[i] = Argument{Type: t}
	}
	return out
}

// Aggregate is the state of one aggregate in one group.
type Aggregate interface {
	Add(x *Exec, a []datum.Value) error
	Result() (datum.Value, error)
}

// MinArgs returns the smallest number of arguments of a call.
func (f *Function) MinArgs() int {
	n := 0
	for _, a := range f.Args {
		if !a.Optional {
			n++
		}
	}
	return n // as PostgreSQL, at least one variadic argument
}

// ArgType returns the type of the i-th argument of a call.
func (f *Function) ArgType(i int) datum.OID {
	if f.Variadic && i >= len(f.Args)-1 {
		i = len(f.Args) - 1
	}
	return f.Args[i].Type
}

// inSchema reports whether a qualified name can mean f. Any function may be
// qualified with pg_catalog, nextid's own functions also with public.
func (f *Function) inSchema(name syntax.Name) bool {
	if len(name) == 1 {
		return true
	}
	switch schema := name[len(name)-2]; schema {
	case f.Schema, PGCatalog:
		return true
	case "public", NextidSchema:
		return f.Schema == NextidSchema
	case "information_schema":
		return f.Schema == schema
	}
	return false
}

// Optional is Args with arguments that may be omitted from the n-th on.
func Optional(n int, types ...datum.OID) []Argument {
	out := Args(types...)
	for i := n; i < len(out); i++ {
		out[i].Optional = true
	}
	return out
}

// Func makes a function from its signature: "name(arg type, arg type:open?) type". A ?
// marks an optional argument, open is its Argument.Open. Types have pg_type's names.
func Func(signature string, v volatility, help string, does Does) Function {
	typ := func(name string) datum.OID {
		t, ok := datum.TypeByName(name)
		if !ok {
			panic("no type " + name + " in " + signature)
		}
		return t
	}
	name, rest, _ := strings.Cut(signature, "(")
	args, result, _ := strings.Cut(rest, ") ")
	f := Function{Name: name, Result: typ(result), Volatile: v, Help: help, Does: does}
	for arg := range strings.FieldsFuncSeq(args, func(r rune) bool { return r == ',' }) {
		argName, t, _ := strings.Cut(strings.TrimSpace(arg), " ")
		t, optional := strings.CutSuffix(t, "?")
		t, open, has := strings.Cut(t, ":")
		a := Argument{Name: argName, Type: typ(t), Optional: optional}
		if has {
			a.Open = typ(open)
		}
		f.Args = append(f.Args, a)
	}
	return f
}
