package sqlfuncs

import (
	"sort"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// windowInput is one row of the level, and what its window functions make of
// it.
type windowInput struct {
	row     []datum.Value   // of the level, or of its group
	args    [][]datum.Value // by call
	passes  []bool          // by call: FILTER lets it pass
	keys    [][]datum.Value // by window: partition and order
	part    []string        // by window: which partition
	offsets [][2]datum.Value
	edges   [][2]datum.Value // by window: see frameBound.edge
	out     []datum.Value    // by call
}

// partition is the rows of one partition in their order, with their peers:
// rows that ORDER BY does not tell apart.
type partition struct {
	x      *exec
	def    *windowDef
	window int
	rows   []*windowInput
	group  []int // by row: number of its peer group
	starts []int // by group: its first row; one more at the end
}

// open reads all rows of src and computes the window functions. The rows lie
// in the frame base and are width wide.
func (w *windowPlan) open(x *exec, src rowSource, base, width int) (rowSource, error) {
	var rows []*windowInput
	for {
		ok, err := src.next(x)
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		if err := x.hold(1 + len(w.calls)); err != nil {
			return nil, err
		}
		in, err := w.read(x, base, width)
		if err != nil {
			return nil, err
		}
		rows = append(rows, in)
	}
	for i, d := range w.windows {
		var err error
		if rows, err = d.sorted(rows, i); err != nil {
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
func (w *windowPlan) read(x *exec, base, width int) (*windowInput, error) {
	in := &windowInput{
		row:  append([]datum.Value(nil), x.frame(base, width)[:width]...),
		args: make([][]datum.Value, len(w.calls)), passes: make([]bool, len(w.calls)), out: make([]datum.Value, len(w.calls)),
		keys: make([][]datum.Value, len(w.windows)), part: make([]string, len(w.windows)),
		offsets: make([][2]datum.Value, len(w.windows)), edges: make([][2]datum.Value, len(w.windows)),
	}
	for i, c := range w.calls {
		var err error
		if in.args[i], _, err = evalArgs(x, c.args); err != nil {
			return nil, err
		}
		in.passes[i] = true
		if c.filter != nil {
			if in.passes[i], err = pass(x, []*expr{c.filter}); err != nil {
				return nil, err
			}
		}
	}
	for i, d := range w.windows {
		by, err := evalAll(x, d.partition)
		if err != nil {
			return nil, err
		}
		order, err := evalAll(x, d.order)
		if err != nil {
			return nil, err
		}
		in.part[i] = string(rowKey(nil, by, nil))
		in.keys[i] = append(by, order...)
		for side, b := range []frameBound{d.frame.start, d.frame.end} {
			if b.offset == nil {
				continue
			}
			if in.offsets[i][side], err = frameOffset(x, b.offset, side); err != nil {
				return nil, err
			}
			if b.edge != nil {
				if in.edges[i][side], err = b.edge.eval(x); err != nil {
					return nil, err
				}
			}
		}
	}
	return in, nil
}

// frameOffset checks the n of n PRECEDING.
func frameOffset(x *exec, e *expr, side int) (datum.Value, error) {
	v, err := e.eval(x)
	if err != nil {
		return v, err
	}
	end := [2]string{"starting", "ending"}[side]
	if !v.Valid {
		return v, sqlstate.New(sqlstate.NullNotAllowed, "frame %s offset must not be null", end)
	}
	if v.Type == datum.Int8 && v.Int < 0 {
		return v, sqlstate.New(codeFrameSize, "frame %s offset must not be negative", end)
	}
	return v, nil
}

// codeFrameSize is invalid_preceding_or_following_size.
const codeFrameSize sqlstate.Code = "22013"

// sorted puts rows into the order of a window; rows that it does not tell
// apart keep their order.
func (d *windowDef) sorted(rows []*windowInput, window int) ([]*windowInput, error) {
	if len(d.keys) == 0 {
		return rows, nil
	}
	keyed := make([][]datum.Value, len(rows))
	for i, r := range rows {
		n := len(r.keys[window])
		keyed[i] = append(r.keys[window][:n:n], datum.MakeInt8(int64(i)))
	}
	if err := sortRows(keyed, d.keys); err != nil {
		return nil, err
	}
	out := make([]*windowInput, len(rows))
	for i, k := range keyed {
		out[i] = rows[k[len(k)-1].Int]
	}
	return out, nil
}

func newPartition(x *exec, d *windowDef, window int, rows []*windowInput) (*partition, error) {
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
	if c.f.agg != nil {
		return p.aggregate(c, call)
	}
	for i := range p.rows {
		if err := p.x.tick(); err != nil {
			return err
		}
		v, err := c.f.window(&windowRow{partition: p, call: call, at: i})
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

// aggregate computes an aggregate over the frame of each row. A frame that
// only grows at its end is read once.
func (p *partition) aggregate(c *windowCall, call int) error {
	var agg aggregate
	from, to := 0, 0 // what agg has seen
	for i, row := range p.rows {
		lo, hi, err := p.frame(i)
		if err != nil {
			return err
		}
		if agg == nil || lo != from || hi < to || p.def.frame.exclude != "" {
			agg, from, to = newAggregate(c.f, c.args, c.argType, c.folds), lo, lo
		}
		for ; to < hi; to++ {
			if err := p.x.tick(); err != nil {
				return err
			}
			if r := p.rows[to]; r.passes[call] && !p.excluded(i, to) {
				if err := agg.add(p.x, r.args[call]); err != nil {
					return err
				}
			}
		}
		if row.out[call], err = agg.result(); err != nil {
			return err
		}
	}
	return nil
}

// excluded reports whether the frame of row i leaves out row j.
func (p *partition) excluded(i, j int) bool {
	switch p.def.frame.exclude {
	case "CURRENT ROW":
		return i == j
	case "GROUP":
		return p.group[i] == p.group[j]
	case "TIES":
		return i != j && p.group[i] == p.group[j]
	}
	return false
}

// frame is the rows from lo up to hi that the frame of row i spans.
func (p *partition) frame(i int) (lo, hi int, err error) {
	f := p.def.frame
	if lo, err = p.bound(i, f.start, 0); err != nil {
		return 0, 0, err
	}
	hi, err = p.bound(i, f.end, 1)
	return lo, max(lo, hi), err
}

// bound is one end of row i's frame: the first row of it for side 0, the
// first row behind it for side 1.
func (p *partition) bound(i int, b frameBound, side int) (int, error) {
	n := len(p.rows)
	switch b.kind {
	case syntax.UnboundedPreceding:
		return 0, nil
	case syntax.UnboundedFollowing:
		return n, nil
	case syntax.CurrentRow:
		if p.def.frame.mode == "ROWS" {
			return i + side, nil
		}
		from, to := p.peers(i)
		return [2]int{from, to}[side], nil
	}
	if p.def.frame.mode == "RANGE" {
		return p.rangeBound(i, b, side)
	}
	last := n // positions are rows, or groups
	at := i
	if p.def.frame.mode == "GROUPS" {
		last, at = len(p.starts)-1, p.group[i]
	}
	by := int(min(p.rows[i].offsets[p.window][side].Int, int64(last)))
	if b.kind == syntax.OffsetPreceding {
		by = -by
	}
	at = max(0, min(at+by+side, last))
	if p.def.frame.mode == "GROUPS" {
		return p.starts[at], nil
	}
	return at, nil
}

// rangeBound finds the rows whose order key is not beyond the bound's. The
// frame of a row without a key is its peers.
func (p *partition) rangeBound(i int, b frameBound, side int) (int, error) {
	edge := p.rows[i].edges[p.window][side]
	if !edge.Valid {
		from, to := p.peers(i)
		return [2]int{from, to}[side], nil
	}
	negative, err := datum.Compare(p.rows[i].keys[p.window][len(p.def.partition)], edge)
	key := p.def.keys[len(p.def.partition)]
	if key.desc {
		negative = -negative
	}
	if b.kind == syntax.OffsetPreceding && negative < 0 || b.kind == syntax.OffsetFollowing && negative > 0 {
		return 0, sqlstate.New(codeFrameSize, "invalid preceding or following size in window function")
	}
	at := sort.Search(len(p.rows), func(j int) bool {
		k := p.rows[j].keys[p.window][len(p.def.partition)]
		if !k.Valid { // NULLs are at one end
			return !key.nullsFirst
		}
		c, cmpErr := datum.Compare(k, edge)
		if cmpErr != nil {
			err = cmpErr
		}
		if key.desc {
			c = -c
		}
		return c >= side
	})
	return at, err
}

// windowRows yields the rows with their window functions' results.
type windowRows struct {
	plan        *windowPlan
	rows        []*windowInput
	base, width int
}

func (r *windowRows) next(x *exec) (bool, error) {
	if len(r.rows) == 0 {
		return false, nil
	}
	in := r.rows[0]
	r.rows = r.rows[1:]
	copy(x.frame(r.base, r.width), in.row)
	copy(x.frame(r.plan.frame, len(r.plan.calls)), in.out)
	return true, nil
}

func (r *windowRows) close() { r.rows = nil }
