package sqlfuncs

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// Statement is an analysed statement: parameter and result types are known.
// It may be shared by sessions and does not change, but for Memo.
type Statement struct {
	Text    string
	Params  []datum.OID
	Columns []engine.Column // nil: returns no rows

	// Memo holds descriptions of the columns that were encoded once, by a
	// number of the encoder's choice.
	Memo [2]atomic.Pointer[[]byte]

	tree    syntax.Statement  // MySQL: of a statement with parameters, see forTypes
	query   *engine.QueryPlan // rows come from here; nil for utility statements
	utility utility           // what a statement without a query does
	tag     string            // command tag; "SELECT" gets the row count
	copy    *CopyOut          // COPY … TO STDOUT
	fast    *fastID           // SELECT next_id(name)
	openIDs []int             // numbers of parameters that may be any id
	exits   bool              // COMMIT, ROLLBACK, …: allowed in a failed transaction
	shared  bool              // does not depend on the session that planned it
	cost    int64             // bytes that its tree and plan hold, at most

	something    bool // there is something to do, see Empty
	allRows      bool // SELECT without LIMIT
	setsDuration bool // see OwnTimeout

	keepsWarnings bool // SHOW WARNINGS: does not clear what it shows

	variants atomic.Pointer[map[string]*Statement] // by parameter types, see forTypes
}

// Empty reports whether the statement's text held nothing to do.
func (st *Statement) Empty() bool { return !st.something }

// IsCopy reports whether the statement is a COPY TO STDOUT: its rows are not
// described.
func (st *Statement) IsCopy() bool { return st.copy != nil }

// statementText cuts blanks, comments and the semicolon around a statement. What is
// left is not copied where it is most of the text.
func statementText(text string, p syntax.Parsed) string {
	if st := text[p.Start:p.End]; 2*len(st) > len(text) {
		return st
	}
	return strings.Clone(text[p.Start:p.End])
}

// parse turns a text into trees, within the session's limits.
func (s *Session) parse(text string) ([]syntax.Parsed, error) {
	if err := s.readable(text); err != nil {
		return nil, err
	}
	s.forgetPlan()
	parsed, err := s.parseDialect(text)
	if err != nil {
		return nil, err
	}
	return parsed, s.mayHold(len(parsed))
}

// tokenBytes holds what a statement's tree and plan hold for each token of its
// text, at most; see targetBytes for what comes to it. Most hold a quarter of it:
// TestPlansAreSmall has those that hold most.
const tokenBytes = 384

// forgetPlan is called before a text is read: a statement that is kept is counted
// by who keeps it.
func (s *Session) forgetPlan() {
	s.memory.Return(s.planning)
	s.planning = 0
}

// countTokens counts what a text will hold when it is planned, while it is read.
func (s *Session) countTokens(n int) *sqlstate.Error {
	err := s.mayRead()
	if err == nil {
		err = s.planned(n * tokenBytes)
	}
	why, _ := errors.AsType[*sqlstate.Error](err)
	return why
}

// planned counts what the text being planned holds beyond its tokens.
func (s *Session) planned(n int) error {
	if err := s.memory.Draw(int64(n)); err != nil {
		return err
	}
	s.planning += int64(n)
	return nil
}

// mayHold refuses a query of n statements where that is too many.
func (s *Session) mayHold(n int) error {
	if n <= s.server.limits.StatementsPerQuery {
		return nil
	}
	return sqlstate.New(sqlstate.LimitExceeded, "a query may hold at most %d statements", s.server.limits.StatementsPerQuery).
		WithHint("Send the statements in several queries, or raise statements_per_query in the configuration.")
}

// planner returns a planner for a text.
func (s *Session) planner(source string) *engine.Planner {
	return engine.NewPlanner(host{s}, s.expressions(), source)
}

// plan analyses one parsed statement.
func (s *Session) plan(tree syntax.Statement, text, source string, params []datum.OID) (*Statement, error) {
	p := s.planner(source)
	p.Declared = params
	return plan(p, tree, text)
}

// planSimple analyses one statement of a simple query, which has no
// parameters.
func (s *Session) planSimple(tree syntax.Statement, text, source string) (*Statement, error) {
	p := s.planner(source)
	p.Simple = true
	return plan(p, tree, text)
}

// newStatement returns a statement that is not planned yet. The tree is not kept:
// it is as large as the plan.
func newStatement(text string, tree syntax.Statement) *Statement {
	st := &Statement{Text: text, something: tree != nil}
	switch t := tree.(type) {
	case *syntax.Select:
		st.allRows = t.Limit == nil
	case *syntax.SetStatement:
		st.setsDuration = slices.ContainsFunc(t.Items, func(item syntax.SetItem) bool {
			return item.Name == "max_statement_time" || item.Name == "max_execution_time"
		})
	}
	return st
}

func plan(p *engine.Planner, tree syntax.Statement, text string) (*Statement, error) {
	st := newStatement(text, tree)
	st.shared = true
	if err := planStatement(p, st, tree); err != nil {
		return nil, p.Located(err)
	}
	st.cost = plannedFor(p).planning
	if st.Params = p.FinishParams(); isMySQL(p) && len(st.Params) > 0 {
		st.tree = tree
	}
	for _, n := range p.OpenIDs {
		if p.Uses[n-1] == 1 { // nothing else takes it for a number
			st.openIDs = append(st.openIDs, n)
		}
	}
	return st, nil
}
