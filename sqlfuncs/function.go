package sqlfuncs

import (
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/syntax"
)

// function describes one SQL function: everything that planning a call,
// the catalogue and the documentation need to know.
type function struct {
	name     string
	args     []argument
	variadic bool // the last argument may be repeated
	result   datum.OID
	columns  []fromColumn // of the record it returns (OUT parameters)
	set      bool         // returns rows
	volatile volatility
	nullable bool // is called with NULL arguments; others return NULL then
	admin    bool // only for sessions that may change generators
	schema   string
	help     string

	// eval computes a value, rows a set, agg an aggregate. typed builds eval
	// where the result type depends on the arguments.
	eval  func(x *exec, a []datum.Value) (datum.Value, error)
	rows  func(x *exec, a []datum.Value) (rowIter, error)
	agg   func(t datum.OID) aggregate
	typed func(p *planner, args []*expr) (*expr, error)
	// collated makes eval where it depends on how the arguments compare. exact:
	// by their bytes. Only functions of the MySQL dialect have it.
	collated  func(exact bool) evalFunc
	collation collation // of its text; the zero one follows the arguments
	// window computes a function that is called with OVER only.
	window func(w *windowRow) (datum.Value, error)
	// fromRow computes the columns of a function that is one value in an
	// expression and one row in FROM (parse_id).
	fromRow func(x *exec, a []datum.Value) ([]datum.Value, error)
	// namedOptions is the place of an options argument that takes up named
	// arguments the function does not have, 0: none.
	namedOptions int
	// ids is set for functions whose rows are a run of ids.
	ids func(x *exec, a []datum.Value) (numberRun, error)
	// repeat is set for functions of which n calls with the same arguments
	// yield a run of ids.
	repeat func(x *exec, a []datum.Value, n int64) (numberRun, error)
}

// argument is one argument of a function.
type argument struct {
	name     string
	typ      datum.OID // anyElement: any type
	optional bool      // may be left out: the function gets fewer values
	open     datum.OID // what a parameter without a type becomes, 0: typ
	anyID    bool      // open, and what is no number reaches the function as text
}

// volatility is PostgreSQL's provolatile.
type volatility byte

const (
	immutable  volatility = 'i'
	stable     volatility = 's'
	isVolatile volatility = 'v'
)

// Pseudo-types of arguments and results. They are PostgreSQL's OIDs.
const (
	anyElement datum.OID = 2283
	anyType    datum.OID = 2276
)

// Schemas.
const (
	pgCatalog         = "pg_catalog"
	nextidSchema      = "nextid"
	informationSchema = "information_schema"
)

func indexFunctions(families ...[]function) map[string][]*function {
	m := map[string][]*function{}
	for _, fam := range families {
		for i := range fam {
			f := &fam[i]
			if f.schema == "" {
				f.schema = pgCatalog
			}
			if f.volatile == 0 {
				f.volatile = immutable
			}
			m[f.name] = append(m[f.name], f)
		}
	}
	return m
}

// args are arguments of some types, without names.
func args(types ...datum.OID) []argument {
	out := make([]argument, len(types))
	for i, t := range types {
		out[i] = argument{typ: t}
	}
	return out
}

// aggregate is the state of one aggregate in one group.
type aggregate interface {
	add(x *exec, a []datum.Value) error
	result() (datum.Value, error)
}

// minArgs returns how many arguments a call must give.
func (f *function) minArgs() int {
	n := 0
	for _, a := range f.args {
		if !a.optional {
			n++
		}
	}
	return n // PostgreSQL wants at least one variadic argument, too
}

// argType returns the type of the i-th argument of a call.
func (f *function) argType(i int) datum.OID {
	if f.variadic && i >= len(f.args)-1 {
		i = len(f.args) - 1
	}
	return f.args[i].typ
}

// inSchema reports whether a qualified name can mean f: nextid's own
// functions are found in public, too, and every schema may be pg_catalog.
func (f *function) inSchema(name syntax.Name) bool {
	if len(name) == 1 {
		return true
	}
	switch schema := name[len(name)-2]; schema {
	case f.schema, pgCatalog:
		return true
	case "public", nextidSchema:
		return f.schema == nextidSchema
	case "information_schema":
		return f.schema == schema
	}
	return false
}

// evalFunc computes a function's value.
type evalFunc = func(x *exec, a []datum.Value) (datum.Value, error)

// optional is args with arguments that may be left out from the n-th on.
func optional(n int, types ...datum.OID) []argument {
	out := args(types...)
	for i := n; i < len(out); i++ {
		out[i].optional = true
	}
	return out
}

// named is args with names.
func named(names string, types ...datum.OID) []argument {
	out := args(types...)
	for i, name := range strings.Fields(names) {
		out[i].name = name
	}
	return out
}
