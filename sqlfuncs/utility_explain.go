package sqlfuncs

import (
	"fmt"
	"strconv"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// planNode is what EXPLAIN says about a statement: where the rows come from.
type planNode struct {
	node     string
	relation string // of a scan
	rows     int
}

// explain plans EXPLAIN: the statement is analysed, never run.
func planExplain(p *engine.Planner, st *Statement, t *syntax.Explain) error {
	if t.Analyze {
		return sqlstate.New(sqlstate.FeatureNotSupported, "EXPLAIN ANALYZE is not supported by nextid").
			WithHint("It would run the statement and draw ids. Use EXPLAIN.")
	}
	statement := t.Statement
	if e, ok := statement.(*syntax.Execute); ok {
		p.Private = true
		inner, err := plannedFor(p).Prepared([]byte(e.Name))
		if err != nil {
			return err
		}
		if inner.tree != nil {
			statement = inner.tree
		}
	}
	inner := &Statement{}
	if err := planStatement(p, inner, statement); err != nil {
		return err
	}
	if d, ok := statement.(*syntax.Declare); ok {
		statement = d.Query
	}
	node := planNode{node: "Utility Statement"}
	if sel, ok := statement.(*syntax.Select); ok {
		node = describePlan(sel)
	} else if inner.query != nil {
		node = planNode{node: "Result", rows: 1}
	}
	typ, lines := node.print(t)
	st.tag = "EXPLAIN"
	st.query = &engine.QueryPlan{
		Columns: []engine.Column{{Name: "QUERY PLAN", Type: typ, TypeMod: -1, Len: -1}},
		Open:    func(*engine.Exec) (engine.Rows, error) { return &engine.SliceRows{Rows: lines}, nil },
	}
	st.Columns = st.query.Columns
	return nil
}

func describePlan(sel *syntax.Select) planNode {
	core, ok := sel.Body.(*syntax.SelectCore)
	if !ok || len(core.From) == 0 {
		return planNode{node: "Result", rows: 1}
	}
	switch f := core.From[0].(type) {
	case *syntax.Table:
		return planNode{"Foreign Scan", strings.Join(f.Name, "."), 1}
	case *syntax.TableFunc:
		return planNode{"Function Scan", f.Funcs[0].Name.Last(), 1000}
	}
	return planNode{node: "Nested Loop", rows: 1}
}

// What a plan costs, in the numbers that postgres_fdw reads.
const startupCost, totalCost, rowWidth = "0.00", "0.01", 8

// print writes the plan in a format of EXPLAIN: one row with all of it, or
// for text one a line.
func (n planNode) print(t *syntax.Explain) (datum.OID, [][]datum.Value) {
	typ, text := datum.Text, n.node
	switch strings.ToLower(t.Format) {
	case "json":
		typ, text = datum.JSON, "[\n  {\n    \"Plan\": {\n"+n.fields(t)+"\n    }\n  }\n]"
	default:
		if n.relation != "" {
			text += " on " + n.relation
		}
		if n.rows > 0 && !t.NoCosts {
			text += fmt.Sprintf("  (cost=%s..%s rows=%d width=%d)", startupCost, totalCost, n.rows, rowWidth)
		}
	}
	return typ, [][]datum.Value{{datum.MakeString(typ, text)}}
}

// properties are the names and values of a node, strings in quotes.
func (n planNode) properties(t *syntax.Explain) [][2]string {
	out := [][2]string{{"Node Type", quoteJSON(n.node)}, {"Parallel Aware", "false"}, {"Async Capable", "false"}}
	if n.relation != "" {
		out = append(out, [2]string{"Relation Name", quoteJSON(n.relation)})
	}
	if !t.NoCosts {
		out = append(out, [2]string{"Startup Cost", startupCost}, [2]string{"Total Cost", totalCost},
			[2]string{"Plan Rows", strconv.Itoa(n.rows)}, [2]string{"Plan Width", strconv.Itoa(rowWidth)})
	}
	return out
}

func (n planNode) fields(t *syntax.Explain) string {
	var lines []string
	for _, f := range n.properties(t) {
		lines = append(lines, fmt.Sprintf("      %q: %s", f[0], f[1]))
	}
	return strings.Join(lines, ",\n")
}

// quoteJSON writes a string as JSON does.
func quoteJSON(s string) string {
	return string(datum.AppendJSONString(nil, s))
}
