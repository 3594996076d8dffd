package sqlfuncs

import (
	"fmt"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// planExplain plans EXPLAIN. The statement is analysed and never run, so that no id
// is drawn.
func planExplain(p *engine.Planner, st *Statement, t *syntax.Explain) error {
	if t.Analyze {
		return sqlstate.New(sqlstate.FeatureNotSupported, "EXPLAIN ANALYZE is not supported by nextid").
			WithHint("It would run the statement and draw ids. Use EXPLAIN.")
	}
	if err := planStatement(p, &Statement{}, t.Statement); err != nil {
		return err
	}
	text, rows := describePlan(t.Statement)
	if !t.NoCosts { // postgres_fdw reads the numbers
		text += fmt.Sprintf("  (cost=0.00..0.01 rows=%d width=8)", rows)
	}
	st.tag = "EXPLAIN"
	st.query = &engine.QueryPlan{
		Columns: []engine.Column{engine.TextColumn("QUERY PLAN")},
		Open:    func(*engine.Exec) (engine.Rows, error) { return engine.SingleRow(datum.MakeText(text)), nil },
	}
	st.Columns = st.query.Columns
	return nil
}

// describePlan names the plan node that EXPLAIN shows, with a rough number of rows.
func describePlan(t syntax.Statement) (node string, rows int) {
	if sel, ok := t.(*syntax.Select); ok {
		if core, ok := sel.Body.(*syntax.SelectCore); ok && len(core.From) > 0 {
			switch f := core.From[0].(type) {
			case *syntax.Table:
				return "Foreign Scan on " + strings.Join(f.Name, "."), 1
			case *syntax.TableFunc:
				return "Function Scan", 1000
			}
			return "Nested Loop", 1
		}
	}
	return "Result", 1
}
