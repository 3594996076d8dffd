package sqlfuncs

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/mysql"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// statementMySQL plans statements that only the MySQL dialect has or that differ
// there. It reports whether tree is one of them.
func statementMySQL(p *engine.Planner, st *Statement, tree syntax.Statement) (bool, error) {
	switch t := tree.(type) {
	case *syntax.Select:
		if len(t.Into) > 0 {
			return true, selectInto(p, st, t)
		}
		return false, nil
	case *syntax.Transaction:
		return true, transactionMySQL(st, t)
	case *syntax.Set:
		return true, setMySQL(p, st, t.Items)
	case *syntax.SetStatement:
		return true, setStatement(p, st, t)
	case *syntax.ShowMySQL:
		var err error
		if st.query, st.keepsWarnings, err = mysql.Show(p, t); err == nil {
			st.tag, st.Columns = "SHOW", st.query.Columns
		}
		return true, err
	case *syntax.Explain:
		return true, explainMySQL(p, st, t)
	case *syntax.Use:
		st.tag = "USE"
		st.utility = utilityFunc(func(x *engine.Exec) error { return sessionOf(x).UseDatabase(t.Database) })
		return true, nil
	case *syntax.Kill:
		return true, kill(p, st, t)
	case *syntax.Prepare:
		return true, prepareMySQL(p, st, t)
	case *syntax.Lock:
		st.tag = t.Tag // no lock is needed: sessions write no rows
		st.utility = utilityFunc(func(*engine.Exec) error { return nil })
		return true, nil
	case *syntax.CallProcedure:
		return true, mysql.CallProcedure(p, t)
	}
	return false, nil
}

// syntaxErrorMySQL gives a parser's error the message of MySQL's error 1064: the
// next 80 bytes at most, and the line.
func syntaxErrorMySQL(text string, err error) error {
	var e *sqlstate.Error
	if !errors.As(err, &e) || e.Code != sqlstate.SyntaxError || e.Position == 0 {
		return err
	}
	from := 0
	for range e.Position - 1 {
		_, n := utf8.DecodeRuneInString(text[from:])
		from += n
	}
	near := text[from:]
	if len(near) > 80 {
		near = strings.ToValidUTF8(near[:80], "")
	}
	c := *e
	c.Message = "You have an error in your SQL syntax; check the manual that corresponds to your nextid server version for the right syntax to use near '" +
		near + "' at line " + strconv.Itoa(1+strings.Count(text[:from], "\n"))
	return &c
}

// selectInto plans SELECT … INTO @a, @b, which takes at most one row. Without a row
// the variables keep their values.
func selectInto(p *engine.Planner, st *Statement, t *syntax.Select) error {
	q, err := p.Query(t, nil)
	if err != nil {
		return err
	}
	p.Settle(q)
	if len(q.Columns) != len(t.Into) {
		return sqlstate.New(sqlstate.Cardinality, "The used SELECT statements have a different number of columns").WithMySQL(1222, "21000")
	}
	st.tag = "SELECT INTO"
	st.utility = utilityFunc(func(x *engine.Exec) error {
		rows, err := q.Open(x)
		if err != nil {
			return err
		}
		defer rows.Close()
		row, err := rows.Next(x)
		if errors.Is(err, io.EOF) {
			mysql.Warn(x, sqlstate.New(sqlstate.Warning, "No data - zero rows fetched, selected, or processed").WithMySQL(1329, "02000"))
			affected(x, 0)
			return nil
		}
		if err != nil {
			return err
		}
		values := append([]datum.Value(nil), row...)
		if _, err := rows.Next(x); !errors.Is(err, io.EOF) {
			if err != nil {
				return err
			}
			return sqlstate.New(sqlstate.Cardinality, "Result consisted of more than one row").WithMySQL(1172, "42000")
		}
		for i, name := range t.Into {
			if err := sessionOf(x).mysql.SetUserVariable(name, values[i]); err != nil {
				return err
			}
		}
		affected(x, 1)
		return nil
	})
	return nil
}

// affected sets the row count for the OK packet.
func affected(x *engine.Exec, n int64) {
	sessionOf(x).mysql.Affected = n
}

// kill plans KILL, which the connection executes.
func kill(p *engine.Planner, st *Statement, t *syntax.Kill) error {
	id, err := p.Expr(nil, t.ID)
	if err == nil {
		id, err = p.Coerce(id, datum.Int8, datum.ImplicitCast)
	}
	if err != nil {
		return err
	}
	st.tag = "KILL"
	st.utility = utilityFunc(func(x *engine.Exec) error {
		v, err := id.Eval(x)
		if err != nil {
			return err
		}
		if k, ok := sessionOf(x).connection.(Killer); ok {
			return k.Kill(v.Int, t.Query)
		}
		return sqlstate.New(sqlstate.UndefinedObject, "Unknown thread id: %d", v.Int).
			WithMySQL(1094, "HY000")
	})
	return nil
}

// prepareMySQL plans PREPARE name FROM 'text' or @variable. It replaces a statement
// of the same name.
func prepareMySQL(p *engine.Planner, st *Statement, t *syntax.Prepare) error {
	st.tag = "PREPARE"
	st.utility = utilityFunc(func(x *engine.Exec) error {
		s, text := sessionOf(x), t.Text
		if t.Variable != "" {
			text = mysql.TextOf(x, s.mysql.Users[t.Variable])
		}
		tree, err := s.parseOne(text)
		if err != nil {
			return err
		}
		if _, nested := tree.(*syntax.Prepare); nested {
			return sqlstate.New(sqlstate.FeatureNotSupported, "This command is not supported in the prepared statement protocol yet").WithMySQL(1295, "HY000")
		}
		s.Unprepare([]byte(t.Name))
		inner, err := s.plan(tree, text, text, nil)
		if err != nil {
			return err
		}
		return s.keep(t.Name, inner, "")
	})
	return nil
}

// explainMySQL answers EXPLAIN with one row. It runs nothing and draws no id.
func explainMySQL(p *engine.Planner, st *Statement, t *syntax.Explain) error {
	if t.Analyze {
		return sqlstate.New(sqlstate.FeatureNotSupported, "ANALYZE is not supported by nextid").
			WithHint("It would run the statement and draw ids. Use EXPLAIN.")
	}
	inner := &Statement{}
	if err := planStatement(p, inner, t.Statement); err != nil {
		return err
	}
	st.query = explainRow(t.Statement)
	st.tag, st.Columns = "EXPLAIN", st.query.Columns
	return nil
}

// explainRow plans the row that EXPLAIN shows for a statement.
func explainRow(t syntax.Statement) *engine.QueryPlan {
	table, access, extra := datum.Null(datum.Text), datum.Null(datum.Text), "No tables used"
	rows := datum.Null(datum.Int8)
	if sel, ok := t.(*syntax.Select); ok {
		if core, ok := sel.Body.(*syntax.SelectCore); ok && len(core.From) > 0 {
			access, rows, extra = datum.MakeText("ALL"), datum.MakeInt8(1), ""
			if from, ok := core.From[0].(*syntax.Table); ok {
				table = datum.MakeText(from.Name.Last())
			}
		}
	}
	null := datum.Null(datum.Text)
	return &engine.QueryPlan{
		Columns: []engine.Column{
			{Name: "id", Type: datum.Int8, TypeMod: -1, Len: 8},
			engine.TextColumn("select_type"), engine.TextColumn("table"), engine.TextColumn("type"),
			engine.TextColumn("possible_keys"), engine.TextColumn("key"), engine.TextColumn("key_len"), engine.TextColumn("ref"),
			{Name: "rows", Type: datum.Int8, TypeMod: -1, Len: 8},
			engine.TextColumn("Extra"),
		},
		Open: func(*engine.Exec) (engine.Rows, error) {
			return engine.SingleRow(datum.MakeInt8(1), datum.MakeText("SIMPLE"), table, access, null, null, null, null, rows, datum.MakeText(extra)), nil
		},
	}
}

// transactionMySQL plans BEGIN, COMMIT, SAVEPOINT and the like. A rollback does not
// restore settings, and an error does not fail the transaction.
func transactionMySQL(st *Statement, t *syntax.Transaction) error {
	var run func(s *Session) error
	switch t.Kind {
	case syntax.Begin, syntax.StartTransaction:
		st.tag = "BEGIN"
		run = func(s *Session) error { s.beginMySQL(readOnly(t.Modes)); return nil }
	case syntax.Commit, syntax.Rollback:
		st.tag = map[bool]string{true: "COMMIT", false: "ROLLBACK"}[t.Kind == syntax.Commit]
		run = func(s *Session) error { s.endMySQL(t.Chain); return nil }
	case syntax.Savepoint:
		st.tag = "SAVEPOINT"
		run = func(s *Session) error { return s.savepointMySQL(t.Savepoint) }
	case syntax.ReleaseSavepoint, syntax.RollbackToSavepoint:
		st.tag = "RELEASE"
		keep := 0
		if t.Kind == syntax.RollbackToSavepoint {
			st.tag, keep = "ROLLBACK", 1
		}
		run = func(s *Session) error { return s.toSavepointMySQL(t.Savepoint, keep) }
	default:
		return sqlstate.New(sqlstate.FeatureNotSupported, "two-phase transactions are not supported by nextid").
			WithHint("nextid has no data to commit; use COMMIT or ROLLBACK.")
	}
	st.utility = utilityFunc(func(x *engine.Exec) error { return run(sessionOf(x)) })
	return nil
}

// beginMySQL opens a transaction. With autocommit off, the first drawn id opens one.
func (s *Session) beginMySQL(readOnly bool) {
	def, _ := s.vars.Get("tx_read_only")
	s.tx = transaction{state: txOpen, began: s.server.now(), savepoints: s.tx.savepoints[:0], readOnly: readOnly || def == "ON"}
	s.envOK = false
}

// readOnly reports whether the modes of a transaction say READ ONLY.
func readOnly(modes []syntax.SetItem) bool {
	return slices.ContainsFunc(modes, func(m syntax.SetItem) bool {
		value, ok := m.Values[0].(*syntax.Literal)
		return ok && m.Name == "transaction_read_only" && value.Text == "on"
	})
}

// endMySQL runs COMMIT and ROLLBACK. With chain (AND CHAIN) it opens the next
// transaction.
func (s *Session) endMySQL(chain bool) {
	if s.tx.state != txIdle {
		s.leaveBlock(true)
	}
	if chain {
		s.beginMySQL(false)
	}
}

// savepointMySQL sets a savepoint and removes an older one of the same name. Outside
// a transaction it does nothing; with autocommit off, it opens one.
func (s *Session) savepointMySQL(name string) error {
	if s.tx.state == txIdle && s.mysql.Autocommit {
		return nil
	}
	if s.tx.state == txIdle {
		s.beginMySQL(false)
	}
	if i := s.savepointIndex(name); i >= 0 {
		s.tx.savepoints = append(s.tx.savepoints[:i], s.tx.savepoints[i+1:]...)
	}
	return s.savepoint(name)
}

// savepointIndex returns the index of the newest savepoint of that name, or -1. Case
// does not matter.
func (s *Session) savepointIndex(name string) int {
	for i, v := range slices.Backward(s.tx.savepoints) {
		if strings.EqualFold(v.name, name) {
			return i
		}
	}
	return -1
}

// toSavepointMySQL removes the savepoints after the named one. keep is 1 to keep the
// named one (ROLLBACK TO), otherwise 0 (RELEASE).
func (s *Session) toSavepointMySQL(name string, keep int) error {
	i := -1
	if s.tx.state != txIdle {
		i = s.savepointIndex(name)
	}
	if i < 0 {
		return sqlstate.New(sqlstate.InvalidSavepoint, "SAVEPOINT %s does not exist", sqlstate.Cut(name, 64))
	}
	s.tx.savepoints = s.tx.savepoints[:i+keep]
	return nil
}

// setMySQL plans SET. It checks all items before it sets the first one.
func setMySQL(p *engine.Planner, st *Statement, items []syntax.SetItem) error {
	plan, err := mysql.Assignments(p, items)
	if err != nil {
		return err
	}
	st.tag, st.utility = "SET", utilityFunc(func(x *engine.Exec) error { return mysql.AssignAll(x, plan) })
	return nil
}
