package engine

import (
	"slices"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/syntax"
)

// Function describes one SQL function: everything that planning a call,
// the catalogue and the documentation need to know.
type Function struct {
	Name     string
	Args     []Argument
	Variadic bool // the last argument may be repeated
	Result   datum.OID
	Columns  []FromColumn // of the record it returns (OUT parameters)
	Volatile volatility
	Nullable bool // is called with NULL arguments; others return NULL then
	Admin    bool // only for sessions that may change generators
	Schema   string
	Help     string

	Does Does // what a call does

	// Of a text, for the MySQL dialect: whether it compares by letters, see Exact,
	// and how many characters it has at most; 0, or no Length: nobody knows.
	Letters bool
	Length  func(args []*Expr) int32
}

// Does implements a function when it is called, in one of the ways below.
type Does interface{ does() }

type (
	// Eval computes a value.
	Eval func(x *Exec, a []datum.Value) (datum.Value, error)
	// EvalOrRow is a value in an expression and one row of Columns in FROM (parse_id).
	EvalOrRow struct {
		Eval
		Row func(x *Exec, a []datum.Value) ([]datum.Value, error)
	}
	// EvalOrIDs is a value of which n calls with the same arguments yield a run of
	// ids: IDs gets n behind the arguments.
	EvalOrIDs struct {
		Eval
		IDs
	}
	// Typed builds the expression of a call whose result depends on the types of
	// the arguments, or on how they compare.
	Typed func(p *Planner, args []*Expr) (*Expr, error)
	// Set yields rows.
	Set func(x *Exec, a []datum.Value) (Rows, error)
	// IDs yields rows of one id each, as a run.
	IDs func(x *Exec, a []datum.Value) (NumberRun, error)
	// NewAggregate begins an aggregate of values of type t.
	NewAggregate func(t datum.OID) Aggregate
	// Window numbers rows, with OVER only: row is the place of one in its partition,
	// peer that of the first row that is ordered alike, both from 1.
	Window func(row, peer int64) int64
)

func (Eval) does()         {}
func (EvalOrRow) does()    {}
func (EvalOrIDs) does()    {}
func (Typed) does()        {}
func (Set) does()          {}
func (IDs) does()          {}
func (NewAggregate) does() {}
func (Window) does()       {}

// Checked returns the function as a call of it runs: one for administrators asks for
// the rights of the session each time, since they may change after it was planned.
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

// Eval computes a function's value, nil where it is not Eval that does.
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

// rows returns what yields a function's rows, nil where it returns none.
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

// runRows are rows of one number each.
type runRows struct{ NumberRun }

// Next implements Rows.
func (rows runRows) Next(x *Exec) ([]datum.Value, error) {
	r, err := rows.NumberRun.Next(x, 1)
	x.IDRow[0] = datum.MakeInt8(r.First)
	return x.IDRow[:], err
}

// Argument is one argument of a function.
type Argument struct {
	Name     string
	Type     datum.OID // AnyElement: any type
	Optional bool      // may be left out: the function gets fewer values
	Open     datum.OID // what a parameter without a type becomes, 0: Type
	AnyID    bool      // a parameter without a type that is given no number reaches the function as text
}

// volatility is PostgreSQL's provolatile.
type volatility byte

// What a function's result depends on besides its arguments: nothing, what does
// not change while a statement runs, or anything.
const (
	Immutable volatility = 'i'
	Stable    volatility = 's'
	Volatile  volatility = 'v'
)

// Pseudo-types of arguments and results. They are PostgreSQL's OIDs.
const (
	AnyElement datum.OID = 2283
	AnyType    datum.OID = 2276
)

// Schemas.
const (
	PGCatalog         = "pg_catalog"
	NextidSchema      = "nextid"
	InformationSchema = "information_schema"
)

// IndexFunctions lists functions by their name. It copies them, and fills in the
// schema pg_catalog and immutable where a function does not say.
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

// Args makes arguments of some types, without names.
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

// MinArgs returns how many arguments a call must give.
func (f *Function) MinArgs() int {
	n := 0
	for _, a := range f.Args {
		if !a.Optional {
			n++
		}
	}
	return n // PostgreSQL wants at least one variadic argument, too
}

// ArgType returns the type of the i-th argument of a call.
func (f *Function) ArgType(i int) datum.OID {
	if f.Variadic && i >= len(f.Args)-1 {
		i = len(f.Args) - 1
	}
	return f.Args[i].Type
}

// inSchema reports whether a qualified name can mean f. Any function may be
// qualified with pg_catalog, nextid's own with public, too.
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

// Optional is Args with arguments that may be left out from the n-th on.
func Optional(n int, types ...datum.OID) []Argument {
	out := Args(types...)
	for i := n; i < len(out); i++ {
		out[i].Optional = true
	}
	return out
}

// Named is Args with names, which are separated by blanks.
func Named(names string, types ...datum.OID) []Argument {
	out := Args(types...)
	for i, name := range strings.Fields(names) {
		out[i].Name = name
	}
	return out
}
