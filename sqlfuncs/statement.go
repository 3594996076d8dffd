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

// Statement is an analysed statement with known parameter and result types.
// Sessions may share it. Only its atomic fields change.
type Statement struct {
	Text    string
	Params  []datum.OID
	Columns []engine.Column // nil: returns no rows

	// Memo caches encoded column descriptions, by a number that the encoder
	// chooses.
	Memo [2]atomic.Pointer[[]byte]

	tree    syntax.Statement  // MySQL: of a statement with parameters, see forTypes
	query   *engine.QueryPlan // yields the rows; nil for utility statements
	utility utility           // runs a statement that is no query
	tag     string            // command tag; "SELECT" gets the row count
	copy    *CopyOut          // COPY … TO STDOUT
	fast    *fastID           // SELECT next_id(name)
	openIDs []int             // numbers of parameters that may be text if they are no numbers, see engine's Argument.AnyID
	exits   bool              // COMMIT, ROLLBACK, …: allowed in a failed transaction
	shared  bool              // does not depend on the session that planned it
	cost    int64             // upper bound of the bytes that its tree and plan hold

	something    bool // the text is not empty, see Empty
	allRows      bool // SELECT without LIMIT
	setsDuration bool // see OwnTimeout

	keepsWarnings bool // SHOW WARNINGS: does not clear the warnings

	variants atomic.Pointer[map[string]*Statement] // by parameter types, see forTypes
}

// Empty reports whether the text has only blanks and comments.
func (st *Statement) Empty() bool { return !st.something }

// IsCopy reports whether the statement is a COPY TO STDOUT, which gets no
// RowDescription.
func (st *Statement) IsCopy() bool { return st.copy != nil }

// statementText removes blanks, comments and the semicolon around a statement. It
// returns a part of text, without copying, if that is most of text.
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

// tokenBytes bounds what a statement's tree and plan hold for each token of its
// text. The engine counts columns besides, see engine's targetBytes. Most statements
// hold a quarter of tokenBytes. TestPlansAreSmall has the largest statements.
const tokenBytes = 384

// forgetPlan resets the count of the last text before a text is parsed. Portals and
// prepared statements count the plans that they keep, see Statement.cost.
func (s *Session) forgetPlan() {
	s.memory.Return(s.planning)
	s.planning = 0
}

// countTokens counts n tokens while a text is parsed: the memory that the tree and
// the plan of the text will hold for them.
func (s *Session) countTokens(n int) *sqlstate.Error {
	err := s.mayRead()
	if err == nil {
		err = s.planned(n * tokenBytes)
	}
	why, _ := errors.AsType[*sqlstate.Error](err)
	return why
}

// planned counts n bytes that the tree or the plan of the last text will hold.
func (s *Session) planned(n int) error {
	if err := s.memory.Draw(int64(n)); err != nil {
		return err
	}
	s.planning += int64(n)
	return nil
}

// mayHold returns an error if n statements in one query are too many.
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

// plan analyses one parsed statement. source is the whole text, to which positions
// in errors refer; text is the statement's part of it. params are the declared
// types.
func (s *Session) plan(tree syntax.Statement, text, source string, params []datum.OID) (*Statement, error) {
	p := s.planner(source)
	p.Declared = params
	return plan(p, tree, text)
}

// planSimple analyses one statement of a simple query, without parameters.
func (s *Session) planSimple(tree syntax.Statement, text, source string) (*Statement, error) {
	p := s.planner(source)
	p.Simple = true
	return plan(p, tree, text)
}

// newStatement returns a statement that is not planned yet. It does not keep the
// tree, which is as large as the plan.
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

// plan plans a statement. Only statements with parameters of the MySQL dialect keep
// their tree, see forTypes.
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
		if p.Uses[n-1] == 1 { // another use could need a number
			st.openIDs = append(st.openIDs, n)
		}
	}
	return st, nil
}
