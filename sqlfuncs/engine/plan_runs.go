package engine

import (
	"io"

	"nextid/generator"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/syntax"
)

// runsOf recognises queries that yield only a run of ids, which the protocols send
// without making rows:
//
//	SELECT * FROM next_ids(name, n)        SELECT next_ids(name, n)
//	SELECT next_id(name) FROM a function that Counts from a to b
func (p *Planner) runsOf(c *syntax.SelectCore, plan *selectPlan) func(x *Exec) (NumberRun, error) {
	if plan.filter != nil || plan.groups != nil || plan.windows != nil || plan.sort != nil || plan.distinct || len(c.Targets) != 1 || len(plan.targets) != 1 {
		return nil
	}
	if len(c.From) == 0 {
		if sets := plan.sets.calls; len(sets) == 1 {
			if _, ok := c.Targets[0].Expr.(*syntax.FuncCall); ok {
				return sets[0].run()
			}
		}
		return nil
	}
	scan, ok := plan.source.(*scanSource)
	if !ok || len(scan.filter) > 0 || scan.call == nil {
		return nil
	}
	if run := scan.call.run(); run != nil && plan.targets[0].Column {
		return run
	}
	return p.repeated(c, scan.call)
}

// noNumbers is an empty run.
type noNumbers struct{}

func (noNumbers) Next(*Exec, int64) (generator.Range, error) { return generator.Range{}, io.EOF }
func (noNumbers) Close()                                     {}

// run returns what starts the run of a call, nil if its rows are no ids.
func (c *setCall) run() func(x *Exec) (NumberRun, error) {
	ids, ok := c.f.Does.(IDs)
	if !ok {
		return nil
	}
	return func(x *Exec) (NumberRun, error) {
		values, null, err := EvalArgs(x, c.args)
		if err != nil || null {
			return noNumbers{}, err
		}
		return ids(x, values)
	}
}

// repeated plans SELECT f(constant) FROM series as a run, if series Counts in steps of 1.
func (p *Planner) repeated(c *syntax.SelectCore, series *setCall) func(x *Exec) (NumberRun, error) {
	call, ok := c.Targets[0].Expr.(*syntax.FuncCall)
	if !ok || len(call.Args) != 1 || !series.f.Counts || len(series.args) != 2 {
		return nil
	}
	var either EvalOrIDs
	for _, f := range p.Catalog.Functions[call.Name.Last()] {
		if does, ok := f.Does.(EvalOrIDs); ok && f.MinArgs() == 1 && f.Args[0].Type == datum.Text {
			either = does
		}
	}
	if either.IDs == nil {
		return nil
	}
	name, err := p.Expr(nil, call.Args[0].Value)
	if err != nil || !name.IsConstant() {
		return nil
	}
	if name, err = p.Coerce(name, datum.Text, datum.ImplicitCast); err != nil {
		return nil
	}
	return func(x *Exec) (NumberRun, error) {
		values, null, err := EvalArgs(x, append([]*Expr{name}, series.args...))
		if err != nil || null || values[2].Int < values[1].Int {
			return noNumbers{}, err
		}
		return either.IDs(x, []datum.Value{values[0], datum.MakeInt8(seriesLength(values[1].Int, values[2].Int))})
	}
}

// seriesLength returns b - a + 1, at most the largest int64.
func seriesLength(a, b int64) int64 {
	if n := uint64(b) - uint64(a); n < 1<<63-1 {
		return int64(n) + 1
	}
	return 1<<63 - 1
}

// isNextValues recognises SELECT NEXT n VALUES FROM name.
func isNextValues(c *syntax.SelectCore) bool {
	if len(c.Targets) != 1 {
		return false
	}
	_, ok := c.Targets[0].Expr.(*syntax.NextValues)
	return ok
}
