package sqlfuncs

import (
	"nextid/generator"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/ids"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// planStatement plans the statement of a tree into st. A plan that depends on the
// session (p.Private) is not shared.
func planStatement(p *engine.Planner, st *Statement, tree syntax.Statement) error {
	st.exits = exitsTransaction(tree)
	var err error
	if isMySQL(p) {
		if done, err := statementMySQL(p, st, tree); done || err != nil {
			return err
		}
	}
	switch t := tree.(type) {
	case *syntax.Select:
		err = selectStatement(p, st, t)
	case *syntax.Transaction:
		var run utilityFunc
		st.tag, run, err = transactionPlan(t)
		st.utility = run
	case *syntax.Set:
		err = set(p, st, t)
	case *syntax.ResetAll:
		st.tag, st.utility = "RESET", utilityFunc(resetAll)
	case *syntax.Show:
		err = show(p, st, t)
	case *syntax.Explain:
		err = planExplain(p, st, t)
	case *syntax.Prepare:
		err = prepare(p, st, t)
	case *syntax.Execute:
		err = execute(p, st, t)
	case *syntax.Deallocate:
		deallocatePlan(st, t)
	case *syntax.Discard:
		err = discardPlan(st, t)
	case *syntax.Declare:
		err = declare(p, st, t)
	case *syntax.Fetch:
		fetch(p, st, t)
	case *syntax.CloseCursor:
		closeCursorPlan(st, t)
	case *syntax.Copy:
		err = planCopy(p, st, t)
	case *syntax.Call:
		err = call(p, st, t)
	case *syntax.CreateSequence, *syntax.AlterSequence, *syntax.DropSequence, *syntax.SequenceNote:
		var run func(x *engine.Exec) error
		st.tag, run, err = ids.SequenceStatement(t)
		st.utility = utilityFunc(run)
	case *syntax.Listen:
		err = listenPlan(st, t)
	case *syntax.Lock:
		st.tag, st.utility = t.Tag, utilityFunc(func(*engine.Exec) error { return nil })
	case *syntax.Use:
		st.tag, st.utility = "USE", utilityFunc(func(*engine.Exec) error { return nil })
	case *syntax.Unsupported:
		err = engine.Unsupported(t.Pos, t.What)
	default:
		err = sqlstate.New(sqlstate.FeatureNotSupported, "this statement is not supported by nextid")
	}
	if p.Private {
		st.shared = false
	}
	return err
}

// selectStatement plans a query.
func selectStatement(p *engine.Planner, st *Statement, t *syntax.Select) error {
	q, err := p.Query(t, nil)
	if err != nil {
		return err
	}
	p.SettleResult(q)
	st.query, st.Columns, st.tag = q, q.Columns, "SELECT"
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
	if !ok || len(call.Args) != 1 || call.Star || call.Distinct || call.Over != nil || call.Filter != nil {
		return nil
	}
	if last := call.Name.Last(); last != "next_id" && last != "nextval" {
		return nil
	}
	plain := call.Name.Last() == "next_id" // nextval's argument has other quoting rules
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
	case *syntax.Column: // MySQL's NEXTVAL(orders)
		if isMySQL(p) && !plain {
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

// utility runs a statement that is no query. Most return nil rows.
type utility interface {
	run(x *engine.Exec) (rows engine.Rows, err error)
}

// utilityFunc is a utility that returns no rows.
type utilityFunc func(x *engine.Exec) error

func (f utilityFunc) run(x *engine.Exec) (engine.Rows, error) { return nil, f(x) }
