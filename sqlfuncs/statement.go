package sqlfuncs

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"nextid/generator"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/ids"
	"nextid/sqlfuncs/mysql"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// Statement is an analysed statement with known parameter and result types.
// Sessions may share it. Only its atomic fields change.
type Statement struct {
	Text    string
	Params  []datum.OID
	Columns []engine.Column // nil: returns no rows

	Exits bool // COMMIT, ROLLBACK, …: allowed in a failed transaction

	// Memo caches encoded column descriptions, by a number that the encoder
	// chooses.
	Memo [2]atomic.Pointer[[]byte]

	tag     string                     // command tag; "SELECT" gets the row count; "": an empty text
	query   *engine.QueryPlan          // yields the rows; nil if do runs the statement
	do      func(x *engine.Exec) error // runs a statement that is no query
	fetch   *syntax.Fetch              // FETCH, whose columns are those of a cursor
	copy    *CopyOut                   // COPY … TO STDOUT
	fast    *fastID                    // SELECT next_id(name)
	tree    syntax.Statement           // of a statement with parameters that may be planned again, see forTypes
	assumed bool                       // a parameter is text because its type does not follow from its use
	openIDs []int                      // numbers of parameters that may be text if they are no numbers, see engine's Argument.AnyID
	cost    int64                      // upper bound of the bytes that its tree and plan hold
	limits  mysql.Limits               // of SET STATEMENT

	shared      bool // does not depend on the session that planned it
	allRows     bool // SELECT without LIMIT
	readsTables bool // see engine.Planner

	variants atomic.Pointer[map[string]*Statement] // by parameter types, see forTypes
}

// yields makes st a statement that returns the rows of a query.
func (st *Statement) yields(tag string, q *engine.QueryPlan) {
	st.tag, st.query, st.Columns = tag, q, q.Columns
}

// Empty reports whether the text has only blanks and comments.
func (st *Statement) Empty() bool { return st.tag == "" }

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
	parsed, err := syntax.ParseAs(text, s.options.Dialect, s.mode, s.countTokens)
	if err != nil {
		return nil, s.dialect.syntaxError(text, err)
	}
	return parsed, s.mayHold(len(parsed))
}

// Batch holds the statements of one simple query. The zero Batch has none.
type Batch struct {
	session *Session
	single  *Statement
	text    string
	parsed  []syntax.Parsed
	script  syntax.Script // instead of parsed in a stepwise dialect
	next    int
}

// Simple starts a simple query, which drops the unnamed statement and portal. It does
// not keep text. It returns the syntax errors of the whole text, before anything runs,
// unless the dialect is stepwise.
func (s *Session) Simple(text []byte) (b Batch, err error) {
	s.dropUnnamed()
	if st := s.Fast.Cached(text); st != nil {
		return Batch{session: s, single: st}, nil
	}
	b = Batch{session: s, text: string(text)}
	if !s.stepwise {
		b.parsed, err = s.parse(b.text)
	} else if err = s.readable(b.text); err == nil {
		b.script, err = syntax.NewScript(b.text)
	}
	if err != nil {
		s.reading = nil
		return Batch{}, s.refused(err)
	}
	return b, nil
}

// Next analyses and returns the next statement, nil after the last. An empty text
// has none.
func (b *Batch) Next() (*Statement, error) {
	s := b.session
	if st := b.single; st != nil {
		b.single = nil
		return st, s.CheckTransaction(st.Exits)
	}
	if b.text == "" { // an empty text, or a cached statement, which Next has returned
		return nil, nil
	}
	defer func() { s.reading = nil }()
	p, found, err := b.read()
	if err != nil {
		return nil, s.refused(err)
	}
	if !found {
		return nil, nil
	}
	if err := s.CheckTransaction(exitsTransaction(p.Statement)); err != nil {
		return nil, err
	}
	st, err := s.plan(p.Statement, statementText(b.text, p), b.text, nil, true)
	if err != nil {
		return nil, s.refused(err)
	}
	if b.next == 1 && !b.More() && st.shared {
		st.Text = b.text // the key is the text as sent
		s.cache().offer(b.text, st)
	}
	return st, nil
}

// More reports whether Next has another statement.
func (b *Batch) More() bool { return b.single != nil || b.next < len(b.parsed) || b.script.More() }

// read returns the next statement's tree. In a stepwise dialect it parses it now, in
// the mode that the statement before it has set.
func (b *Batch) read() (p syntax.Parsed, found bool, err error) {
	s := b.session
	b.next++
	if !s.stepwise {
		if found = b.next <= len(b.parsed); found {
			p = b.parsed[b.next-1]
		}
		return p, found, nil
	}
	s.forgetPlan()
	if p, found, err = b.script.Next(s.mode, s.countTokens); err != nil {
		return p, false, s.dialect.syntaxError(b.text, err)
	}
	if found {
		err = s.mayHold(b.next)
	}
	return p, found, err
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
	err := s.MayPlan()
	if err == nil {
		err = s.Planned(n * tokenBytes)
	}
	why, _ := errors.AsType[*sqlstate.Error](err)
	return why
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
	return engine.NewPlanner(s, s.expressions, source)
}

// plan analyses one parsed statement. source is the whole text, to which positions
// in errors refer; text is the statement's part of it. params are the declared
// types. A simple statement has no parameters.
func (s *Session) plan(tree syntax.Statement, text, source string, params []datum.OID, simple bool) (*Statement, error) {
	p := s.planner(source)
	p.Declared, p.Simple = params, simple
	st := &Statement{Text: text, allRows: allRows(tree)}
	if err := planStatement(p, st, tree); err != nil {
		return nil, p.Located(err)
	}
	st.shared, st.readsTables = !p.Private, p.ReadsTables
	st.cost += s.planning // EXECUTE holds another plan
	st.assumed = slices.Contains(p.Params, datum.Unknown)
	if st.Params = p.FinishParams(); s.lateTypes && len(st.Params) > 0 {
		st.tree = tree
	}
	for _, n := range p.OpenIDs {
		if p.Uses[n-1] == 1 { // another use could need a number
			st.openIDs = append(st.openIDs, n)
		}
	}
	return st, nil
}

// allRows reports whether a statement is a SELECT without LIMIT.
func allRows(tree syntax.Statement) bool {
	t, ok := tree.(*syntax.Select)
	return ok && t.Limit == nil
}

// planStatement plans the statement of a tree into st.
func planStatement(p *engine.Planner, st *Statement, tree syntax.Statement) error {
	st.Exits = exitsTransaction(tree)
	if done, err := plannedFor(p).dialect.plan(p, st, tree); done || err != nil {
		return err
	}
	switch t := tree.(type) {
	case *syntax.Select:
		return selectStatement(p, st, t)
	case *syntax.Transaction:
		transactionStatement(st, t)
	case *syntax.Set:
		return set(st, t)
	case *syntax.ResetAll:
		st.tag, st.do = "RESET", func(x *engine.Exec) error {
			s := sessionOf(x)
			if s.tx.state != txIdle {
				s.vars.KeepModes()
			}
			s.vars.ResetAll("role", "session_authorization")
			s.SettingsChanged()
			return nil
		}
	case *syntax.Show:
		return show(st, t)
	case *syntax.Explain:
		return explain(p, st, t)
	case *syntax.Prepare:
		return prepare(p, st, t)
	case *syntax.Execute:
		return execute(p, st, t)
	case *syntax.Deallocate:
		deallocate(st, t)
	case *syntax.Discard:
		st.tag, st.do = "DISCARD "+t.What, func(x *engine.Exec) error { return sessionOf(x).discard(t.What, portalOf(x)) }
	case *syntax.Declare:
		return declare(p, st, t)
	case *syntax.Fetch:
		fetch(p, st, t)
	case *syntax.CloseCursor:
		closeCursor(st, t)
	case *syntax.Copy:
		return planCopy(p, st, t)
	case *syntax.Call:
		return call(p, st, t)
	case *syntax.CreateSequence, *syntax.AlterSequence, *syntax.DropSequence, *syntax.SequenceNote:
		var err error
		st.tag, st.do, err = ids.SequenceStatement(t)
		return err
	case *syntax.Lock: // no lock is needed: sessions write no rows
		st.tag, st.do = t.Tag, nothing
	case *syntax.Unsupported:
		return engine.Unsupported(t.Pos, t.What)
	default:
		return sqlstate.New(sqlstate.FeatureNotSupported, "this statement is not supported by nextid")
	}
	return nil
}

func nothing(*engine.Exec) error { return nil }

// selectStatement plans a query.
func selectStatement(p *engine.Planner, st *Statement, t *syntax.Select) error {
	q, err := p.Query(t, nil)
	if err != nil {
		return err
	}
	p.SettleResult(q)
	st.yields("SELECT", q)
	st.fast = fastStatement(p, t)
	return nil
}

// fastStatement recognises the statements of the fast path: SELECT next_id('name'),
// SELECT next_id($1), SELECT nextval('name'), MySQL's SELECT nextval(name), and
// SELECT NEXT VALUE FOR name. For any other statement it returns nil.
func fastStatement(p *engine.Planner, t *syntax.Select) *fastID {
	core, ok := t.Body.(*syntax.SelectCore)
	if !ok || len(t.With) > 0 || t.OrderBy != nil || t.Limit != nil || t.Offset != nil || len(core.Targets) != 1 ||
		len(core.From) > 0 || core.Where != nil || core.GroupBy != nil || core.Having != nil || core.Distinct {
		return nil
	}
	target := core.Targets[0].Expr
	if next, ok := target.(*syntax.NextValueFor); ok {
		return fastName(next.Name.Last())
	}
	call, ok := target.(*syntax.FuncCall)
	if !ok || len(call.Args) != 1 || call.Star || call.Distinct || call.Over != nil {
		return nil
	}
	plain := call.Name.Last() == "next_id" // nextval's argument has other quoting rules
	if !plain && call.Name.Last() != "nextval" {
		return nil
	}
	switch a := call.Args[0].Value.(type) {
	case *syntax.Literal:
		if a.Kind != syntax.StringLiteral {
			return nil
		}
		name, err := a.Text, error(nil)
		if !plain {
			name, err = ids.SequenceName(a.Text)
		}
		if err == nil {
			return fastName(name)
		}
	case *syntax.Column: // MySQL's NEXTVAL(orders); without FROM there are no columns
		if !plain {
			return fastName(a.Name.Last())
		}
	case *syntax.Param:
		if plain && a.Number == 1 && len(p.Params) == 1 {
			switch p.Params[0] {
			case datum.Unknown, datum.Text, datum.Varchar, datum.Name, datum.BPChar:
				return &fastID{}
			}
		}
	}
	return nil
}

// fastName returns the fastID of a name. An invalid name is left to the slow path,
// which has its error.
func fastName(name string) *fastID {
	if generator.CheckName(name) != nil {
		return nil
	}
	return &fastID{name: name}
}

// explain plans EXPLAIN. The statement is analysed and never run, so that no id is
// drawn.
func explain(p *engine.Planner, st *Statement, t *syntax.Explain) error {
	if t.Analyze {
		return sqlstate.New(sqlstate.FeatureNotSupported, "EXPLAIN ANALYZE is not supported by nextid").
			WithHint("It would run the statement and draw ids. Use EXPLAIN.")
	}
	if err := planStatement(p, &Statement{}, t.Statement); err != nil {
		return err
	}
	st.yields("EXPLAIN", plannedFor(p).dialect.explain(t))
	return nil
}

// call plans MySQL's DO, which computes expressions and discards the results.
func call(p *engine.Planner, st *Statement, t *syntax.Call) error {
	exprs, err := p.Exprs(nil, t.Exprs)
	st.tag = "DO"
	st.do = func(x *engine.Exec) error {
		_, err := engine.EvalAll(x, exprs)
		return err
	}
	return err
}
