package engine

import (
	"nextid/sqlfuncs/datum"
)

// windowInput is one row of the query level with the results of its window
// functions.
type windowInput struct {
	row  []datum.Value   // of the level, or of its group
	keys [][]datum.Value // by window: partition and order
	part []string        // by window: which partition
	out  []datum.Value   // by call
}

// size returns the bytes that the row holds.
func (in *windowInput) size() int {
	n := SizeOfRow(in.row) + SizeOfRow(in.out)
	for i, values := range in.keys {
		n += SizeOfRow(values) + keyBytes + len(in.part[i])
	}
	return n
}

// open reads all rows of src and computes the window functions. The rows are width
// columns of the frame base.
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
		if rows, err = d.sorted(x, rows, i); err == nil {
			err = w.number(x, rows, i)
		}
		if err != nil {
			return nil, err
		}
	}
	return &windowRows{plan: w, rows: rows, base: base, width: width}, nil
}

// read copies the current row and computes its partition and order keys.
func (w *windowPlan) read(x *Exec, base, width int) (*windowInput, error) {
	in := &windowInput{
		row: append([]datum.Value(nil), x.Frame(base, width)[:width]...), out: make([]datum.Value, len(w.calls)),
		keys: make([][]datum.Value, len(w.windows)), part: make([]string, len(w.windows)),
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

// sorted sorts rows into the order of a window. Rows with equal keys keep their
// order.
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

// number computes the calls over one window, partition by partition. The rows are
// in the window's order.
func (w *windowPlan) number(x *Exec, rows []*windowInput, window int) error {
	d, first, peer := w.windows[window], 0, 0 // first row of the partition; first row with equal keys
	for at, row := range rows {
		if err := x.Tick(); err != nil {
			return err
		}
		if row.part[window] != rows[first].part[window] {
			first, peer = at, at
		}
		for k := len(d.partition); k < len(d.keys) && peer < at; k++ {
			c, err := datum.Compare(rows[peer].keys[window][k], row.keys[window][k])
			if err != nil {
				return err
			}
			if c != 0 {
				peer = at
			}
		}
		for i, call := range w.calls {
			if call.window == window {
				row.out[i] = datum.MakeInt8(call.number(int64(at-first)+1, int64(peer-first)+1))
			}
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
