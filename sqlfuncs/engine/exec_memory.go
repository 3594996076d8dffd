package engine

import (
	"nextid/sqlfuncs/datum"
)

// The memory of a statement counts against its session's account (package account).
// Rows and groups count until the statement ends (hold), computed values until the
// next row (value). All sizes are in bytes.

const (
	valueBytes = 64  // a datum.Value without what it points to
	rowBytes   = 48  // a row's slice, and its place in the slice of rows
	keyBytes   = 64  // an entry in a map, without the key
	groupBytes = 512 // the state of an aggregate

	// targetBytes bounds what a plan holds for each column of a select list (a
	// * has many), and for each column that an expression reads, once for each
	// expression around it.
	targetBytes = 512
	refBytes    = 64

	// longRow is the size from which an encoded row is counted.
	longRow = 64 << 10

	// uncounted is the size up to which a computed value is not counted. Most
	// values are smaller, and a row has few.
	uncounted = 4 << 10

	// WorkFactor limits the memory of a running function, as a multiple of its
	// arguments: trees of JSON, slices of parts.
	WorkFactor = 24

	// callWork is the work of a call besides reading its arguments; see Work.
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

// dropRows stops counting rows that were held.
func (x *Exec) dropRows(rows [][]datum.Value) {
	n := int64(0)
	for _, row := range rows {
		n += int64(SizeOfRow(row))
	}
	x.giveBack(n)
}

// giveBack stops counting bytes that were held. It does nothing after Release.
func (x *Exec) giveBack(n int64) {
	n = min(n, x.held)
	x.held -= n
	x.Host.Memory().Return(n)
}

// passing runs a subquery and then stops counting its rows, except for results that
// are kept (lasts).
func (x *Exec) passing(run func(x *Exec) (datum.Value, error)) (datum.Value, error) {
	held, lasting := x.held, x.lasting
	v, err := run(x)
	x.giveBack(max(x.held-held-(x.lasting-lasting), 0))
	return v, err
}

// lasts marks the bytes held since x.held and x.lasting had the given values. They
// count until the statement ends.
func (x *Exec) lasts(held, lasting int64) { x.lasting = lasting + x.held - held }

// value counts a computed value until rowDone.
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

// rowDone stops counting the values counted since x.values was mark. It is called
// after a row, and after a condition has been evaluated.
func (x *Exec) rowDone(mark int64) {
	if n := x.values - mark; n > 0 {
		x.Host.Memory().Return(n)
		x.values = mark
	}
}

// Encode counts the memory of a row in its encoded form until the statement ends. That
// form has a copy of each value, and one value may be in many columns.
func (x *Exec) Encode(row []datum.Value) error {
	n := 2 * SizeOfRow(row) // a buffer that grows is copied
	if n <= max(longRow, x.encoded) {
		return nil
	}
	if err := x.Hold(n - x.encoded); err != nil {
		return err
	}
	x.encoded = n
	return nil
}

// Release stops counting all that the statement holds, after the statement or its
// rows have ended.
func (x *Exec) Release() {
	x.encoded = 0
	x.rowDone(0)
	if x.held > 0 {
		x.Host.Memory().Return(x.held)
		x.held = 0
	}
}

// Cast calls datum.Cast and counts the result.
func (x *Exec) Cast(v datum.Value, t datum.OID) (datum.Value, error) {
	if len(v.Str)+len(v.Elems) > uncounted/valueBytes {
		defer x.rowDone(x.values)
		if err := x.working([]datum.Value{v}); err != nil {
			return v, err
		}
	}
	return datum.Cast(v, t, x.Env())
}

// Compared counts the work of an operator that reads its operands.
func (x *Exec) Compared(a, b datum.Value) error {
	return x.Work(callWork + len(a.Str) + len(b.Str) + (len(a.Elems)+len(b.Elems))*valueBytes)
}

// working counts the memory and the work of a function that processes its
// arguments. The caller ends it with rowDone.
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

// counted returns e with its values counted while a row is computed. Values that
// are always small or that are counted elsewhere stay uncounted.
func counted(e *Expr) *Expr {
	if info, ok := datum.TypeInfo(e.Type); e.counted || e.fixed() || ok && info.Len > 0 {
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

// SizeOf returns the bytes that a value holds beyond the datum.Value itself.
func SizeOf(v datum.Value) int {
	n := len(v.Str)
	for _, e := range v.Elems {
		n += valueBytes + SizeOf(e)
	}
	return n
}

// SizeOfRow returns the memory of a row in bytes.
func SizeOfRow(row []datum.Value) int {
	n := rowBytes + len(row)*valueBytes
	for i := range row {
		if v := &row[i]; v.Str != "" || v.Elems != nil {
			n += SizeOf(*v)
		}
	}
	return n
}
