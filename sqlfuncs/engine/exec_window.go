package engine

import (
	"nextid/sqlfuncs/datum"
)

// windowInput is one row of the level, and what its window functions make of
// it.
type windowInput struct {
	row    []datum.Value   // of the level, or of its group
	args   [][]datum.Value // by call
	passes []bool          // by call: FILTER lets it pass
	keys   [][]datum.Value // by window: partition and order
	part   []string        // by window: which partition
	out    []datum.Value   // by call
}

// partition is the rows of one partition in their order, with their peers:
// rows that ORDER BY does not tell apart.
type partition struct {
	x      *Exec
	def    *windowDef
	window int
	rows   []*windowInput
	group  []int // by row: number of its peer group
	starts []int // by group: its first row; one more at the end
}

// size is what the row holds.
func (in *windowInput) size() int {
	n := SizeOfRow(in.row) + SizeOfRow(in.out)
	for _, part := range [][][]datum.Value{in.args, in.keys} {
		for _, values := range part {
			n += SizeOfRow(values)
		}
	}
	for _, key := range in.part {
		n += keyBytes + len(key)
	}
	return n
}

// open reads all rows of src and computes the window functions. The rows lie
// in the frame base and are width wide.
func (w *windowPlan) open(x *Exec, src rowSource, base, width int) (rowSource, error) {
	var rows []*windowInput
	for {
		ok, err := src.next(x)
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		mark := x.values
		in, err := w.read(x, base, width)
		if err == nil {
			x.rowDone(mark)
			err = x.Hold(in.size())
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, in)
	}
	for i, d := range w.windows {
		var err error
		if rows, err = d.sorted(x, rows, i); err != nil {
			return nil, err
		}
		for from := 0; from < len(rows); {
			to := from + 1
			for to < len(rows) && rows[to].part[i] == rows[from].part[i] {
				to++
			}
			part, err := newPartition(x, d, i, rows[from:to])
			if err != nil {
				return nil, err
			}
			for c, call := range w.calls {
				if call.window == i {
					if err := part.run(call, c); err != nil {
						return nil, err
					}
				}
			}
			from = to
		}
	}
	return &windowRows{plan: w, rows: rows, base: base, width: width}, nil
}

// read computes everything that the current row contributes.
func (w *windowPlan) read(x *Exec, base, width int) (*windowInput, error) {
	in := &windowInput{
		row:  append([]datum.Value(nil), x.Frame(base, width)[:width]...),
		args: make([][]datum.Value, len(w.calls)), passes: make([]bool, len(w.calls)), out: make([]datum.Value, len(w.calls)),
		keys: make([][]datum.Value, len(w.windows)), part: make([]string, len(w.windows)),
	}
	for i, c := range w.calls {
		var err error
		if in.args[i], _, err = EvalArgs(x, c.args); err != nil {
			return nil, err
		}
		in.passes[i] = true
		if c.filter != nil {
			if in.passes[i], err = pass(x, []*Expr{c.filter}); err != nil {
				return nil, err
			}
		}
	}
	for i, d := range w.windows {
		by, err := EvalAll(x, d.partition)
		if err != nil {
			return nil, err
		}
		order, err := EvalAll(x, d.order)
		if err != nil {
			return nil, err
		}
		in.part[i] = string(rowKey(nil, by, nil))
		in.keys[i] = append(by, order...)
	}
	return in, nil
}

// sorted puts rows into the order of a window; rows that it does not tell
// apart keep their order.
func (d *windowDef) sorted(x *Exec, rows []*windowInput, window int) ([]*windowInput, error) {
	if len(d.keys) == 0 {
		return rows, nil
	}
	keyed := make([][]datum.Value, len(rows))
	for i, r := range rows {
		n := len(r.keys[window])
		keyed[i] = append(r.keys[window][:n:n], datum.MakeInt8(int64(i)))
	}
	if err := sortRows(x, keyed, d.keys); err != nil {
		return nil, err
	}
	out := make([]*windowInput, len(rows))
	for i, k := range keyed {
		out[i] = rows[k[len(k)-1].Int]
	}
	return out, nil
}

func newPartition(x *Exec, d *windowDef, window int, rows []*windowInput) (*partition, error) {
	p := &partition{x: x, def: d, window: window, rows: rows, group: make([]int, len(rows))}
	for i := range rows {
		same := i > 0
		for k := len(d.partition); same && k < len(d.keys); k++ {
			c, err := datum.Compare(rows[i-1].keys[window][k], rows[i].keys[window][k])
			if err != nil {
				return nil, err
			}
			same = c == 0
		}
		if !same {
			p.starts = append(p.starts, i)
		}
		p.group[i] = len(p.starts) - 1
	}
	p.starts = append(p.starts, len(rows))
	return p, nil
}

// peers are the rows from and up to (not including) which the order is that
// of row i.
func (p *partition) peers(i int) (from, to int) {
	return p.starts[p.group[i]], p.starts[p.group[i]+1]
}

// run computes one call for all rows of the partition.
func (p *partition) run(c *windowCall, call int) error {
	if c.f.Aggregate != nil {
		return p.aggregate(c, call)
	}
	for i := range p.rows {
		if err := p.x.Tick(); err != nil {
			return err
		}
		v, err := c.f.Window(&windowRow{partition: p, call: call, at: i})
		if err != nil {
			return err
		}
		if !v.Valid {
			v = datum.Null(c.f.resultFor(c.args))
		}
		p.rows[i].out[call] = v
	}
	return nil
}

// aggregate computes an aggregate over all rows up to the last peer of each.
func (p *partition) aggregate(c *windowCall, call int) error {
	agg := newAggregate(c.f, c.args, c.argType, c.folds)
	to := 0 // what agg has seen
	for i, row := range p.rows {
		_, end := p.peers(i)
		for ; to < end; to++ {
			if err := p.x.Tick(); err != nil {
				return err
			}
			if r := p.rows[to]; r.passes[call] {
				if err := agg.Add(p.x, r.args[call]); err != nil {
					return err
				}
			}
		}
		var err error
		if row.out[call], err = agg.Result(); err != nil {
			return err
		}
	}
	return nil
}

// windowRows yields the rows with their window functions' results.
type windowRows struct {
	plan        *windowPlan
	rows        []*windowInput
	base, width int
}

func (r *windowRows) next(x *Exec) (bool, error) {
	if len(r.rows) == 0 {
		return false, nil
	}
	in := r.rows[0]
	r.rows = r.rows[1:]
	copy(x.Frame(r.base, r.width), in.row)
	copy(x.Frame(r.plan.frame, len(r.plan.calls)), in.out)
	return true, nil
}

func (r *windowRows) close() { r.rows = nil }
