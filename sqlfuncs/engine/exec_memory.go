package engine

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

	// uncounted bounds how large a computed value may be without being counted
	// while it is computed: most are, and a row has few.
	uncounted = 4 << 10

	// WorkFactor bounds how much a function may need while it works, as a multiple
	// of its arguments: trees of JSON, slices of pieces.
	WorkFactor = 24

	// callWork holds what a call takes beside looking at its arguments, see Work.
	callWork = 16
)

// Hold counts bytes that are kept until the statement ends.
func (x *Exec) Hold(n int) error {
	if err := x.Host.Memory().Draw(int64(n)); err != nil {
		return err
	}
	x.held += int64(n)
	return nil
}

// HoldRow counts a row that is kept until the statement ends.
func (x *Exec) HoldRow(row []datum.Value) error { return x.Hold(SizeOfRow(row)) }

// dropRows gives rows back that were held.
func (x *Exec) dropRows(rows [][]datum.Value) {
	n := int64(0)
	for _, row := range rows {
		n += int64(SizeOfRow(row))
	}
	x.giveBack(n)
}

// giveBack gives bytes back that were held, unless Release was before.
func (x *Exec) giveBack(n int64) {
	n = min(n, x.held)
	x.held -= n
	x.Host.Memory().Return(n)
}

// passing runs a subquery and gives back what its rows held, but not what lasts.
func (x *Exec) passing(run func(x *Exec) (datum.Value, error)) (datum.Value, error) {
	held, lasting := x.held, x.lasting
	v, err := run(x)
	x.giveBack(max(x.held-held-(x.lasting-lasting), 0))
	return v, err
}

// lasts notes that the bytes held since x.held was held and x.lasting was lasting
// stay until the statement ends.
func (x *Exec) lasts(held, lasting int64) { x.lasting = lasting + x.held - held }

// value counts a computed value until the row is done; see rowDone.
func (x *Exec) value(n int) error {
	if n <= uncounted {
		return nil
	}
	if err := x.Work(n); err != nil {
		return err
	}
	if err := x.Host.Memory().Draw(int64(n)); err != nil {
		return err
	}
	x.values += int64(n)
	return nil
}

// rowDone gives back the values that were counted since x.values was mark: of
// the last row, or of a condition that has been decided.
func (x *Exec) rowDone(mark int64) {
	if n := x.values - mark; n > 0 {
		x.Host.Memory().Return(n)
		x.values = mark
	}
}

// Release gives back all that the statement holds, when it or its rows have ended.
func (x *Exec) Release() {
	x.rowDone(0)
	if x.held > 0 {
		x.Host.Memory().Return(x.held)
		x.held = 0
	}
}

// Cast is datum.Cast, counted.
func (x *Exec) Cast(v datum.Value, t datum.OID) (datum.Value, error) {
	if len(v.Str)+len(v.Elems) > uncounted/valueBytes {
		defer x.rowDone(x.values)
		if err := x.working([]datum.Value{v}); err != nil {
			return v, err
		}
	}
	return datum.Cast(v, t, x.Env())
}

// Compared counts the time that an operator needs to look at its operands.
func (x *Exec) Compared(a, b datum.Value) error {
	return x.Work(callWork + len(a.Str) + len(b.Str) + (len(a.Elems)+len(b.Elems))*valueBytes)
}

// working counts what a function needs while it works on its arguments, bytes
// and time. The caller ends it with rowDone.
func (x *Exec) working(args []datum.Value) error {
	n := 0
	for i := range args {
		n += len(args[i].Str) + len(args[i].Elems)*valueBytes/WorkFactor
	}
	if err := x.Work(n + callWork); err != nil || n <= uncounted {
		return err
	}
	return x.value(n * WorkFactor)
}

// counted makes the values of an expression count while a row is computed,
// unless they are always small or are kept elsewhere.
func counted(e *Expr) *Expr {
	if info, ok := datum.TypeInfo(e.Type); e.counted || e.Column || e.constant || e.Param != 0 || ok && info.Len > 0 {
		return e
	}
	e.counted = true
	compute := e.compute
	if compute == nil {
		compute = e.slot
	}
	e.compute = func(x *Exec) (datum.Value, error) {
		v, err := compute(x)
		if err == nil && len(v.Str)+len(v.Elems)*valueBytes > uncounted {
			err = x.value(SizeOf(v))
		}
		return v, err
	}
	return e
}

// SizeOf returns what a value holds beyond itself.
func SizeOf(v datum.Value) int {
	n := len(v.Str)
	for _, e := range v.Elems {
		n += valueBytes + SizeOf(e)
	}
	return n
}

// SizeOfRow returns what a row takes of the memory, in bytes.
func SizeOfRow(row []datum.Value) int {
	n := rowBytes + len(row)*valueBytes
	for i := range row {
		if v := &row[i]; v.Str != "" || v.Elems != nil {
			n += SizeOf(*v)
		}
	}
	return n
}
