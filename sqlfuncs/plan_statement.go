package sqlfuncs

import (
	"nextid/generator"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// statement fills st for a tree.
func (p *planner) statement(st *Statement, tree syntax.Statement) error {
	st.exits = exitsTransaction(tree)
	var err error
	if p.mysql {
		if done, err := p.statementMySQL(st, tree); done || err != nil {
			return err
		}
	}
	switch t := tree.(type) {
	case *syntax.Select:
		err = p.selectStatement(st, t)
	case *syntax.Transaction:
		var run utilityFunc
		st.tag, run, err = transactionPlan(t)
		st.utility = run
	case *syntax.Set:
		err = p.set(st, t)
	case *syntax.ResetAll:
		st.tag, st.utility = "RESET", utilityFunc(resetAll)
	case *syntax.Show:
		err = p.show(st, t)
	case *syntax.Explain:
		err = p.explain(st, t)
	case *syntax.Prepare:
		err = p.prepare(st, t)
	case *syntax.Execute:
		err = p.execute(st, t)
	case *syntax.Deallocate:
		deallocatePlan(st, t)
	case *syntax.Discard:
		err = discardPlan(st, t)
	case *syntax.Declare:
		err = p.declare(st, t)
	case *syntax.Fetch:
		p.fetch(st, t)
	case *syntax.CloseCursor:
		closeCursorPlan(st, t)
	case *syntax.Copy:
		err = p.copy(st, t)
	case *syntax.Call:
		err = p.call(st, t)
	case *syntax.CreateSequence:
		err = createSequencePlan(st, t)
	case *syntax.AlterSequence:
		err = alterSequencePlan(st, t)
	case *syntax.DropSequence:
		dropSequencePlan(st, t)
	case *syntax.SequenceNote:
		sequenceNotePlan(st, t)
	case *syntax.Listen:
		err = listenPlan(st, t)
	case *syntax.Lock:
		st.tag, st.utility = t.Tag, utilityFunc(func(*exec) error { return nil })
	case *syntax.Use:
		st.tag, st.utility = "USE", utilityFunc(func(*exec) error { return nil })
	case *syntax.Unsupported:
		err = unsupported(t.Pos, t.What)
	default:
		err = sqlstate.New(sqlstate.FeatureNotSupported, "this statement is not supported by nextid")
	}
	if p.private {
		st.shared = false
	}
	return err
}

func (p *planner) selectStatement(st *Statement, t *syntax.Select) error {
	q, err := p.query(t, nil)
	if err != nil {
		return err
	}
	p.settle(q)
	st.query, st.Columns, st.tag = q, q.columns, "SELECT"
	st.fast = p.fastStatement(t)
	return nil
}

// fastStatement recognises SELECT next_id(name) and SELECT nextval(name)
// with a literal or $1, SELECT NEXT VALUE FOR name, and nothing else.
func (p *planner) fastStatement(t *syntax.Select) *fastID {
	core, ok := t.Body.(*syntax.SelectCore)
	if !ok || len(t.With) > 0 || t.OrderBy != nil || t.Limit != nil || t.Offset != nil || len(core.Targets) != 1 ||
		len(core.From) > 0 || core.Where != nil || core.GroupBy != nil || core.Having != nil || core.Windows != nil || core.Distinct {
		return nil
	}
	target := unparen(core.Targets[0].Expr)
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
	plain := call.Name.Last() == "next_id" // nextval's text has quoting rules of its own
	switch a := unparen(call.Args[0].Value).(type) {
	case *syntax.Literal:
		if a.Kind != syntax.StringLiteral {
			return nil
		}
		name, err := a.Text, error(nil)
		if !plain {
			name, err = sequenceName(a.Text)
		}
		if err == nil {
			return fastName(name)
		}
	case *syntax.Column: // MySQL's NEXTVAL(orders)
		if p.mysql && !plain {
			return fastName(a.Name.Last())
		}
	case *syntax.Param:
		if plain && a.Number == 1 && len(p.params) == 1 {
			switch p.params[0] {
			case datum.Unknown, datum.Text, datum.Varchar, datum.Name, datum.BPChar:
				return &fastID{}
			}
		}
	}
	return nil
}

func fastName(name string) *fastID {
	if generator.CheckName(name) != nil {
		return nil
	}
	return &fastID{name: name}
}

// utility is what a statement without a query does. rows is nil for most.
type utility interface {
	run(x *exec) (rows rowIter, err error)
}

// utilityFunc is a utility that returns no rows.
type utilityFunc func(x *exec) error

func (f utilityFunc) run(x *exec) (rowIter, error) { return nil, f(x) }
