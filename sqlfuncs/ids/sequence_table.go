package ids

import (
	"errors"
	"math"

	"nextid/generator"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
)

// A generator is a table of one row as PostgreSQL's sequences are: SELECT
// last_value FROM orders. pg_dump and administration tools read it, and may
// set another sequence to it; therefore last_value is the end of what was
// reserved, not below any id that a server on the same store has issued.

// SequenceColumns are the columns of every sequence.
var SequenceColumns = engine.ColumnList("last_value:int8! log_cnt:int8! is_called:bool!")

// SequenceTable is the table of a generator.
func SequenceTable(known *engine.Catalog, name string) *engine.Table {
	oid, _ := known.OIDs.Sequence(name)
	return &engine.Table{
		Schema: "public", Name: name, OID: oid, Kind: 'S', Columns: SequenceColumns,
		Scan: func(x *engine.Exec, _ []engine.KeyValues) (engine.Rows, error) {
			last, buffered, err := sequenceState(x, name)
			return engine.SingleRow(datum.MakeInt8(last), datum.MakeInt8(buffered), datum.MakeBool(true)), err
		},
	}
}

// sequenceState returns the highest id that may have been issued. A
// generator that this server has not used yet draws one to learn where it is.
func sequenceState(x *engine.Exec, name string) (last, buffered int64, err error) {
	e, g, err := opened(x, name, allowed)
	if err != nil {
		return 0, 0, err
	}
	x.Host.Waits()
	last, buffered, known, err := highest(x, g)
	if err == nil && !known {
		var drawn int64
		if drawn, err = nextID(x, e); err == nil {
			last, buffered, known, err = highest(x, g)
		}
		if !known {
			last = drawn
		}
	}
	if err != nil {
		return last, buffered, err
	}
	d, err := e.Definition(x.Ctx)
	if s, counts := SeriesOf(d); err == nil && counts { // other servers may have reserved more
		var past int64
		if past, err = x.Host.Registry().Past(x.Ctx, name); s.Increment < 0 {
			return min(last, -(past - 1)), buffered, err
		}
		last = max(last, past-1)
	}
	return last, buffered, err
}

// highest is the highest id that g may have issued. known is
// false when g has not reserved anything here.
func highest(x *engine.Exec, g generator.Generator) (last, buffered int64, known bool, err error) {
	var stats generator.Stats
	if r, ok := g.(generator.Reporter); ok {
		stats = r.Stats()
	}
	if e, ok := g.(generator.Explainer); ok {
		last, err = e.Ceil(x.Host.Now())
		if errors.Is(err, generator.ErrWrongKind) { // its ids do not follow time
			return math.MaxInt64, stats.Buffered, true, nil
		}
		return last, stats.Buffered, true, err
	}
	switch end := stats.ReservedUntil; {
	case end > 0:
		return end - 1, stats.Buffered, true, nil
	case end < 0:
		return end + 1, stats.Buffered, true, nil
	}
	return 0, 0, false, nil
}

// SequenceLast is the greatest number that a generator has given, NULL while none
// is known.
func SequenceLast(x *engine.Exec, name string) (datum.Value, error) {
	e := x.Host.Registry().Lookup([]byte(name))
	if e == nil || e.Running() == nil {
		return datum.Null(datum.Int8), nil
	}
	last, _, known, err := highest(x, e.Running())
	return datum.Value{Type: datum.Int8, Valid: known, Int: last}, err
}
