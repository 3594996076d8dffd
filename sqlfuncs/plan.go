package sqlfuncs

import (
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// planner analyses one statement. It draws nothing and runs nothing.
type planner struct {
	host     Host
	catalog  *catalog
	dialect  dialect     // nil: PostgreSQL's
	source   string      // whole text, for positions
	declared []datum.OID // parameter types given by the client
	params   []datum.OID // parameter types so far, Unknown where open
	uses     []int       // how often each parameter is used
	openIDs  []int       // numbers of parameters that may be any id, see argument.anyID
	frames   int         // query levels so far
	depth    int         // of nested queries
	ctes     int         // WITH items so far
	private  bool        // the plan depends on this session
	simple   bool        // a simple query: there are no parameters
	inside   []*subplan  // subqueries being analysed, outermost first
	mysql    bool        // the dialect is MySQL's
}

// queryPlan is an analysed query.
type queryPlan struct {
	columns []Column
	open    func(x *exec) (rowIter, error)
	ids     func(x *exec) (numberRun, error) // the query is one column of numbers that come in runs
	plain   *selectPlan                      // conditions on its columns may be looked at before its rows are made
}

// maxParams bounds $n; RELIABILITY limits a Bind to this many values.
const maxParams = 256

// param notes the use of $n and returns its type so far.
func (p *planner) param(pos syntax.Pos, n int) (datum.OID, error) {
	if p.mysql && p.simple {
		return 0, at(pos, sqlstate.New(sqlstate.SyntaxError, "You have an error in your SQL syntax: ? stands for a value in a prepared statement only"))
	}
	if n < 1 || n > maxParams || p.simple {
		return 0, at(pos, sqlstate.New(sqlstate.UndefinedParameter, "there is no parameter $%d", n))
	}
	for len(p.params) < n {
		t := datum.Unknown
		if i := len(p.params); i < len(p.declared) && p.declared[i] != datum.Invalid {
			t = p.declared[i]
		}
		p.params, p.uses = append(p.params, t), append(p.uses, 0)
	}
	p.uses[n-1]++
	return p.params[n-1], nil
}

// finishParams returns the parameter types; what is still open is text.
func (p *planner) finishParams() []datum.OID {
	for len(p.params) < len(p.declared) && len(p.declared) <= maxParams {
		p.params = append(p.params, p.declared[len(p.params)])
	}
	for i, t := range p.params {
		if t == datum.Unknown || t == datum.Invalid {
			p.params[i] = datum.Text
		}
	}
	return p.params
}

// settle gives the result columns of unknown type (bare string literals and
// parameters) the type text, as PostgreSQL does for a final result.
func (p *planner) settle(q *queryPlan) {
	for i := range q.columns {
		c := &q.columns[i]
		if c.Type == datum.Unknown {
			c.Type = datum.Text
		}
		c.Len = typeLen(c.Type)
	}
	if q.columns == nil {
		q.columns = []Column{}
	}
}

func typeLen(t datum.OID) int16 {
	if i, ok := datum.TypeInfo(t); ok {
		return i.Len
	}
	return -1
}

func unparen(e syntax.Expr) syntax.Expr {
	for {
		q, ok := e.(*syntax.Paren)
		if !ok {
			return e
		}
		e = q.X
	}
}
