package engine

import (
	"errors"
	"strings"
	"unicode/utf8"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// Planner analyses one statement, in one goroutine. It draws no ids and reads no
// rows.
type Planner struct {
	Host     Host
	Catalog  *Catalog
	Dialect  Dialect
	Traits   Traits      // of Dialect
	Source   string      // whole text, for positions
	Declared []datum.OID // parameter types given by the client
	Params   []datum.OID // parameter types so far, Unknown where not decided
	Uses     []int       // how often each parameter is used
	OpenIDs  []int       // numbers of parameters that may be any id, see Argument.AnyID
	frames   int         // query levels so far
	depth    int         // of nested queries
	ctes     int         // WITH items so far
	Private  bool        // the plan depends on this session
	Simple   bool        // a simple query: there are no parameters

	ReadsTables bool // a query has FROM, or is a SHOW of MySQL other than of warnings

	inside []*subplan // subqueries being analysed, outermost first

	recursive []*ctePlan // items whose recursive terms are being planned, outermost first
	readAt    syntax.Pos // position of the last reference to one of them
	exprs     int        // number of expressions so far, see Yield
	stopped   error      // error of a cancelled planning
	worked    int        // see Work
}

// NewPlanner returns a planner for a text.
func NewPlanner(h Host, d Dialect, source string) *Planner {
	return &Planner{Host: h, Catalog: h.Catalog(), Dialect: d, Traits: d.Traits(), Source: source}
}

// QueryPlan is an analysed query.
type QueryPlan struct {
	Columns []Column
	Open    func(x *Exec) (Rows, error)
	IDs     func(x *Exec) (NumberRun, error) // set if the query is one column of numbers in runs
	plain   *selectPlan                      // set if each row comes from one row of FROM
	targets []*Expr                          // of a SELECT; nil for other queries
}

// paramBytes is counted for each parameter up to the greatest: a text may hold only
// $65535.
const paramBytes = 16

// param records the use of $n and returns its type so far.
func (p *Planner) param(pos syntax.Pos, n int) (datum.OID, error) {
	if p.Simple {
		return 0, At(pos, sqlstate.New(sqlstate.UndefinedParameter, "there is no parameter $%d", n))
	}
	if err := p.Host.Planned(max(0, n-len(p.Params)) * paramBytes); err != nil {
		return 0, err
	}
	for len(p.Params) < n {
		t := datum.Unknown
		if i := len(p.Params); i < len(p.Declared) && p.Declared[i] != datum.Invalid {
			t = p.Declared[i]
		}
		p.Params, p.Uses = append(p.Params, t), append(p.Uses, 0)
	}
	p.Uses[n-1]++
	return p.Params[n-1], nil
}

// FinishParams returns the parameter types; undecided ones become text.
func (p *Planner) FinishParams() []datum.OID {
	for len(p.Params) < len(p.Declared) {
		p.Params = append(p.Params, p.Declared[len(p.Params)])
	}
	for i, t := range p.Params {
		if t == datum.Unknown || t == datum.Invalid {
			p.Params[i] = datum.Text
		}
	}
	return p.Params
}

// SettleResult calls Settle for the result of a statement. With the trait Origins a
// column that is certainly NULL keeps no type.
func (p *Planner) SettleResult(q *QueryPlan) {
	var nulls []int
	for i := range q.Columns {
		if p.Traits.Origins && len(p.Params) == 0 && q.Columns[i].Type == datum.Unknown {
			nulls = append(nulls, i)
		}
	}
	p.Settle(q)
	for _, i := range nulls {
		q.Columns[i].Type = datum.Unknown
	}
}

// Settle gives the result columns of unknown type (bare string literals and
// parameters) the type text, as PostgreSQL does for a final result.
func (p *Planner) Settle(q *QueryPlan) {
	for i := range q.Columns {
		c := &q.Columns[i]
		if c.Type == datum.Unknown {
			c.Type = datum.Text
		}
		c.Len = TypeLen(c.Type)
	}
	if q.Columns == nil {
		q.Columns = []Column{}
	}
}

// TypeLen returns a type's pg_type.typlen; -1 means variable.
func TypeLen(t datum.OID) int16 {
	if i, ok := datum.TypeInfo(t); ok {
		return i.Len
	}
	return -1
}

// Column describes a column of a result.
type Column struct {
	Name    string
	Type    datum.OID
	TypeMod int32  // -1: none
	Len     int16  // pg_type.typlen
	Table   uint32 // pg_class oid of the table it comes from, 0: none
	Attr    int16  // its attribute number, 0: none

	// Origin is the table column that this column shows. It is nil for computed
	// columns and in the PostgreSQL dialect, which uses Table and Attr.
	Origin *Origin

	fields  []FromColumn // of a record whose columns are known
	letters bool         // see Exact
}

// Origin describes where a result column comes from.
type Origin struct {
	Schema    string
	InDefault bool   // Schema is the session's default database
	Table     string // "": a query's column
	Alias     string // name of the table in the statement
	Column    string
	NotNull   bool
}

// TextColumn returns a result column of type text.
func TextColumn(name string) Column {
	return Column{Name: name, Type: datum.Text, TypeMod: -1, Len: -1}
}

// Located converts the byte offsets that the planner put into errors to character
// positions, as the protocols need.
func (p *Planner) Located(err error) error {
	var pe *posError
	if !errors.As(err, &pe) {
		return err
	}
	var se *sqlstate.Error
	if errors.As(pe.err, &se) && se.Position == 0 && pe.pos >= 0 && int(pe.pos) <= len(p.Source) {
		c := *se
		c.Position = utf8.RuneCountInString(p.Source[:pe.pos]) + 1
		return &c
	}
	return pe.err
}

// posError is an error with a position in the statement.
type posError struct {
	pos syntax.Pos
	err error
}

func (e *posError) Error() string { return e.err.Error() }
func (e *posError) Unwrap() error { return e.err }

// At adds a position to an error that has none.
func At(pos syntax.Pos, err error) error {
	if err == nil {
		return nil
	}
	if _, known := errors.AsType[*posError](err); known {
		return err
	}
	return &posError{pos, err}
}

// leftmost returns the position where the text of an expression begins. An
// operator's Pos is that of the operator itself.
func leftmost(e syntax.Expr) syntax.Pos {
	first := e.Position()
	syntax.Walk(e, func(part syntax.Expr) bool {
		first = min(first, part.Position())
		return true
	})
	return first
}

// Unsupported returns the error for a statement or construct that nextid lacks
// (0A000).
func Unsupported(pos syntax.Pos, what string) error {
	hint := "nextid answers SELECT over its id functions and tables; it stores no rows."
	for words, instead := range refusalHints {
		if strings.HasPrefix(what, words) || strings.HasSuffix(what, words) {
			hint = instead
		}
	}
	return At(pos, sqlstate.New(sqlstate.FeatureNotSupported, "%s is not supported by nextid", what).WithHint("%s", hint))
}

// refusalHints maps the first or last words of an unsupported construct to what to
// do instead.
var refusalHints = map[string]string{
	"FLUSH":       "Users, host rules and certificates are read again on SIGHUP.",
	"CALL":        "nextid has functions and no procedures: SELECT next_id('orders').",
	"GRANT":       usersFile,
	"REVOKE":      usersFile,
	"CREATE USER": usersFile,
	"CREATE ROLE": usersFile,
	"DROP USER":   usersFile,
	"DROP ROLE":   usersFile,
	"ALTER USER":  usersFile,
	"ALTER ROLE":  usersFile,
	"LISTEN":      "nextid sends no notifications.",
	"NOTIFY":      "nextid sends no notifications.",
	"SHUTDOWN":    "Stop the process; SIGTERM lets running statements finish.",
	"COPY with":   "COPY (query) TO STDOUT writes text, or with FORMAT csv, and a HEADER if wanted.",
	"COPY BINARY": "COPY (query) TO STDOUT writes text, or with FORMAT csv, and a HEADER if wanted.",
	"COPY TO":     "COPY (query) TO STDOUT sends the rows to the client; psql's \\copy puts them into a file.",
	" with OVER":  "With OVER there is row_number. Aggregate in a statement of its own, or in a subquery with GROUP BY.",
}

const usersFile = "Users and their rights are in the users file: see nextid passwd."
