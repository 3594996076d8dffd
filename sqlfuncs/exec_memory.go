package sqlfuncs

import (
	"nextid/sqlfuncs/datum"
)

// What a statement holds counts against its session's account (see package
// account): rows and groups until it ends (hold), values that are being
// computed until the next row (value).

const (
	valueBytes = 64  // a datum.Value without what it points to
	rowBytes   = 48  // a row's slice, and its place in the slice of rows
	keyBytes   = 64  // an entry in a map, without the key
	groupBytes = 512 // the state of an aggregate

	// A plan holds at most so much for each column of a select list (a * has
	// many), and for each column that an expression reads, in the expression
	// and in those that it is a part of.
	targetBytes = 512
	refBytes    = 64

	// uncounted is how large a computed value may be without being counted
	// while it is computed: most are, and a row has few.
	uncounted = 4 << 10

	// workFactor is how much a function may need while it works, as a multiple
	// of its arguments: trees of JSON, slices of pieces.
	workFactor = 24
)

// hold counts bytes that are kept until the statement ends.
func (x *exec) hold(n int) error {
	if err := x.host.Memory().Draw(int64(n)); err != nil {
		return err
	}
	x.held += int64(n)
	return nil
}

// holdRow counts a row that is kept until the statement ends.
func (x *exec) holdRow(row []datum.Value) error { return x.hold(sizeOfRow(row)) }

// dropRows gives rows back that were held.
func (x *exec) dropRows(rows [][]datum.Value) {
	n := int64(0)
	for _, row := range rows {
		n += int64(sizeOfRow(row))
	}
	x.held -= n
	x.host.Memory().Return(n)
}

// value counts a computed value until the row is done; see rowDone.
func (x *exec) value(n int) error {
	if n <= uncounted {
		return nil
	}
	if err := x.host.Memory().Draw(int64(n)); err != nil {
		return err
	}
	x.values += int64(n)
	return nil
}

// rowDone gives back the values that were counted since x.values was mark: of
// the last row, or of a condition that has been decided.
func (x *exec) rowDone(mark int64) {
	if n := x.values - mark; n > 0 {
		x.host.Memory().Return(n)
		x.values = mark
	}
}

// release gives back all that the statement holds. It is over, or its rows are.
func (x *exec) release() {
	x.rowDone(0)
	if x.held > 0 {
		x.host.Memory().Return(x.held)
		x.held = 0
	}
}

// cast is datum.Cast, counted.
func (x *exec) cast(v datum.Value, t datum.OID) (datum.Value, error) {
	if len(v.Str)+len(v.Elems) > uncounted/valueBytes {
		defer x.rowDone(x.values)
		if err := x.working([]datum.Value{v}); err != nil {
			return v, err
		}
	}
	return datum.Cast(v, t, x.env())
}

// working counts what a function needs while it works on its arguments. The
// caller ends it with rowDone. Large arguments take time, too: a statement that
// has been stopped does not begin with them.
func (x *exec) working(args []datum.Value) error {
	n := 0
	for i := range args {
		n += len(args[i].Str) + len(args[i].Elems)*valueBytes/workFactor
	}
	if n <= uncounted {
		return nil
	}
	if err := x.ctx.Err(); err != nil {
		return err
	}
	return x.value(n * workFactor)
}

// counted makes the values of an expression count while a row is computed,
// unless they are always small or are kept elsewhere.
func counted(e *expr) *expr {
	if info, ok := datum.TypeInfo(e.typ); e.counted || e.column || e.lit != nil || e.param != 0 || ok && info.Len > 0 {
		return e
	}
	e.counted = true
	compute := e.eval
	e.eval = func(x *exec) (datum.Value, error) {
		v, err := compute(x)
		if err == nil && len(v.Str)+len(v.Elems)*valueBytes > uncounted {
			err = x.value(sizeOf(v))
		}
		return v, err
	}
	return e
}

// sizeOf is what a value holds beyond itself.
func sizeOf(v datum.Value) int {
	n := len(v.Str)
	for _, e := range v.Elems {
		n += valueBytes + sizeOf(e)
	}
	return n
}

func sizeOfRow(row []datum.Value) int {
	n := rowBytes + len(row)*valueBytes
	for i := range row {
		if v := &row[i]; v.Str != "" || v.Elems != nil {
			n += sizeOf(*v)
		}
	}
	return n
}
