package sqlfuncs

import (
	"slices"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// Window functions (PostgreSQL 3.5, 9.22) with the default frame: from the
// start of the partition to the last peer of the current row.

// windowPlan is the window functions of a query level. The values of the
// current row lie in a frame of their own.
type windowPlan struct {
	frame int
	calls []*windowCall
}

type windowCall struct {
	f         *function
	args      []*expr
	filter    *expr
	partition []*expr
	orderBy   []*expr
	order     []sortKey
}

// windowFunction computes the values of one partition: its rows in order,
// the arguments of each, and for each where its peers begin and end.
type windowFunction func(p *windowPartition) ([]datum.Value, error)

type windowPartition struct {
	args       [][]datum.Value
	peersStart []int
	peersEnd   []int
}

// windowFunctions need OVER.
var windowFunctions = []function{
	{name: "row_number", result: datum.Int8, window: countRows(func(_ *windowPartition, i, _ int) int { return i + 1 })},
	{name: "rank", result: datum.Int8, window: countRows(func(p *windowPartition, i, _ int) int { return p.peersStart[i] + 1 })},
	{name: "dense_rank", result: datum.Int8, window: countRows(func(_ *windowPartition, _, group int) int { return group })},
	{name: "lag", args: optional(1, anyElement, datum.Int4, anyElement), result: anyElement, window: shifted(-1)},
	{name: "lead", args: optional(1, anyElement, datum.Int4, anyElement), result: anyElement, window: shifted(1)},
	{name: "first_value", args: args(anyElement), result: anyElement, window: pick(func(*windowPartition, int) int { return 0 })},
	{name: "last_value", args: args(anyElement), result: anyElement, window: pick(func(p *windowPartition, i int) int { return p.peersEnd[i] - 1 })},
}

// countRows makes a function of a row's place and the number of its group of peers.
func countRows(n func(p *windowPartition, i, group int) int) windowFunction {
	return func(p *windowPartition) ([]datum.Value, error) {
		out := make([]datum.Value, len(p.args))
		group := 0
		for i := range out {
			if p.peersStart[i] == i {
				group++
			}
			out[i] = datum.MakeInt8(int64(n(p, i, group)))
		}
		return out, nil
	}
}

func pick(at func(p *windowPartition, i int) int) windowFunction {
	return func(p *windowPartition) ([]datum.Value, error) {
		out := make([]datum.Value, len(p.args))
		for i := range out {
			out[i] = p.args[at(p, i)][0]
		}
		return out, nil
	}
}

// shifted is lag and lead: the argument of a row some rows away, else the default.
func shifted(sign int) windowFunction {
	return func(p *windowPartition) ([]datum.Value, error) {
		out := make([]datum.Value, len(p.args))
		for i, a := range p.args {
			out[i] = datum.Null(a[0].Type)
			n := 1
			if len(a) > 1 {
				if !a[1].Valid {
					continue
				}
				n = int(a[1].Int)
			}
			if j := i + sign*n; j >= 0 && j < len(p.args) {
				out[i] = p.args[j][0]
			} else if len(a) > 2 {
				out[i] = a[2]
			}
		}
		return out, nil
	}
}

// windowCall analyses a call with OVER.
func (p *planner) windowCall(s *scope, e *syntax.FuncCall) (*expr, error) {
	if s == nil || s.windows == nil {
		return nil, at(e.Pos, sqlstate.New(sqlstate.WindowingError, "window functions are not allowed here"))
	}
	if e.Over.Name != "" {
		return nil, unsupported(e.Pos, "a named window")
	}
	w := s.windows
	s.windows = nil // no window function inside of another
	defer func() { s.windows = w }()
	f, args, err := p.resolveCall(s, e)
	if err != nil {
		return nil, err
	}
	if f.window == nil && f.agg == nil {
		return nil, at(e.Pos, sqlstate.New(sqlstate.WrongObjectType, "OVER specified, but %s is not a window function nor an aggregate function", f.name))
	}
	if e.Distinct {
		return nil, unsupported(e.Pos, "DISTINCT in a window function")
	}
	call := &windowCall{f: f, args: args}
	if e.Filter != nil {
		if call.filter, err = p.boolean(s, e.Filter, "FILTER"); err != nil {
			return nil, err
		}
	}
	if call.partition, err = p.exprs(s, e.Over.PartitionBy); err != nil {
		return nil, err
	}
	for i, o := range e.Over.OrderBy {
		x, err := p.expr(s, o.Expr)
		if err != nil {
			return nil, err
		}
		call.orderBy, call.order = append(call.orderBy, x), append(call.order, newSortKey(len(call.partition)+i, o))
	}
	frame, slot := w.frame, len(w.calls)
	w.calls = append(w.calls, call)
	x := &expr{typ: f.resultFor(args), mod: -1, name: f.name, refs: []ref{{frame, slot}}, volatile: true,
		eval: func(x *exec) (datum.Value, error) { return x.frames[frame][slot], nil }}
	return x, nil
}

// windowRow is a row of the level, kept until all are known.
type windowRow struct {
	frames [][]datum.Value // of windowRows.keep
	values []datum.Value   // of the window functions
}

// windowRows yields the rows of a level with the values of its window functions.
type windowRows struct {
	plan *windowPlan
	keep []int // frames whose values belong to a row
	rows []*windowRow
	i    int
}

// open reads all of src. keep lists the frames that src fills.
func (w *windowPlan) open(x *exec, src rowSource, keep []int) (rowSource, error) {
	r := &windowRows{plan: w, keep: keep}
	inputs := make([][][]datum.Value, len(w.calls)) // by call and row: partition, order, arguments, filter
	for {
		ok, err := src.next(x)
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		if err := x.hold(1); err != nil {
			return nil, err
		}
		row := &windowRow{values: make([]datum.Value, len(w.calls))}
		for _, f := range keep {
			row.frames = append(row.frames, slices.Clone(x.frames[f]))
		}
		r.rows = append(r.rows, row)
		for i, c := range w.calls {
			in, err := c.inputs(x)
			if err != nil {
				return nil, err
			}
			inputs[i] = append(inputs[i], in)
		}
	}
	for i, c := range w.calls {
		order, err := c.compute(x, inputs[i], func(row int, v datum.Value) { r.rows[row].values[i] = v })
		if err != nil {
			return nil, err
		}
		if i == len(w.calls)-1 { // the rows come out as the last window sorted them
			sorted := make([]*windowRow, len(order))
			for j, k := range order {
				sorted[j] = r.rows[k]
			}
			r.rows = sorted
		}
	}
	return r, nil
}

// inputs evaluates what the call looks at in the current row.
func (c *windowCall) inputs(x *exec) ([]datum.Value, error) {
	in, err := evalAll(x, slices.Concat(c.partition, c.orderBy))
	if err != nil {
		return nil, err
	}
	values, _, err := evalArgs(x, c.args)
	if err != nil {
		return nil, err
	}
	counts := true
	if c.filter != nil {
		if counts, err = pass(x, []*expr{c.filter}); err != nil {
			return nil, err
		}
	}
	return append(append(in, values...), datum.MakeBool(counts)), nil
}

// compute sorts the rows into partitions and gives each row its value. It
// returns the order of the rows.
func (c *windowCall) compute(x *exec, in [][]datum.Value, set func(row int, v datum.Value)) ([]int, error) {
	var keys []sortKey
	for i := range c.partition {
		keys = append(keys, sortKey{column: i})
	}
	keys = append(keys, c.order...)
	rows := make([][]datum.Value, len(in))
	for i, r := range in {
		rows[i] = append(slices.Clone(r), datum.MakeInt8(int64(i)))
	}
	if err := sortRows(rows, keys); err != nil {
		return nil, err
	}
	same := func(a, b []datum.Value, n int) bool {
		return string(rowKey(nil, a[:n], nil)) == string(rowKey(nil, b[:n], nil))
	}
	parts, all := len(c.partition), len(c.partition)+len(c.order)
	order := make([]int, len(rows))
	for from := 0; from < len(rows); {
		to := from + 1
		for to < len(rows) && same(rows[from], rows[to], parts) {
			to++
		}
		p := &windowPartition{}
		for i := from; i < to; i++ {
			start := i - from
			if i > from && same(rows[i-1], rows[i], all) {
				start = p.peersStart[len(p.peersStart)-1]
			}
			p.peersStart = append(p.peersStart, start)
			p.args = append(p.args, rows[i][all:all+len(c.args)])
		}
		p.peersEnd = make([]int, to-from)
		for i := to - from - 1; i >= 0; i-- {
			p.peersEnd[i] = i + 1
			if i+1 < to-from && p.peersStart[i+1] == p.peersStart[i] {
				p.peersEnd[i] = p.peersEnd[i+1]
			}
		}
		values, err := c.values(x, p, rows[from:to])
		if err != nil {
			return nil, err
		}
		for i := from; i < to; i++ {
			order[i] = int(rows[i][len(rows[i])-1].Int)
			set(order[i], values[i-from])
		}
		from = to
	}
	return order, nil
}

func (c *windowCall) values(x *exec, p *windowPartition, rows [][]datum.Value) ([]datum.Value, error) {
	if c.f.window != nil {
		return c.f.window(p)
	}
	argType := datum.OID(0)
	if len(c.args) > 0 {
		argType = c.args[0].typ
	}
	agg := c.f.agg(argType)
	out := make([]datum.Value, len(p.args))
	for i := 0; i < len(out); {
		end := p.peersEnd[i]
		for j := i; j < end; j++ {
			if rows[j][len(rows[j])-2].Int == 0 { // FILTER
				continue
			}
			if err := agg.add(x, p.args[j]); err != nil {
				return nil, err
			}
		}
		v, err := agg.result()
		if err != nil {
			return nil, err
		}
		for ; i < end; i++ {
			out[i] = v
		}
	}
	return out, nil
}

func (r *windowRows) next(x *exec) (bool, error) {
	if r.i >= len(r.rows) {
		return false, nil
	}
	row := r.rows[r.i]
	r.i++
	for i, f := range r.keep {
		copy(x.frames[f], row.frames[i])
	}
	copy(x.frame(r.plan.frame, len(row.values)), row.values)
	return true, x.tick()
}

func (r *windowRows) close() {}
