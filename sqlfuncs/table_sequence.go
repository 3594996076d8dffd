package sqlfuncs

import (
	"errors"
	"math"

	"nextid/generator"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

// A generator is a table of one row as PostgreSQL's sequences are: SELECT
// last_value FROM orders. pg_dump and administration tools read it, and may
// set another sequence to it; therefore last_value is the end of what was
// reserved, not below any id that a server on the same store has issued.

// sequenceTable is the table of a generator.
func (s *Server) sequenceTable(name string) *engine.Table {
	oid, _ := s.sequenceOIDs.oid(name)
	return &engine.Table{
		Schema: "public", Name: name, OID: oid, Kind: 'S', Columns: sequenceColumns,
		Scan: func(x *engine.Exec, _ []engine.KeyValues) (engine.Rows, error) {
			last, buffered, err := sequenceState(x, name)
			return engine.SingleRow(datum.MakeInt8(last), datum.MakeInt8(buffered), datum.MakeBool(true)), err
		},
	}
}

// sequenceState returns the highest id that may have been issued. A
// generator that this server has not used yet draws one to learn where it is.
func sequenceState(x *engine.Exec, name string) (last, buffered int64, err error) {
	if err := sessionOf(x).may(name); err != nil {
		return 0, 0, err
	}
	e, err := registryOf(x).Existing(x.Ctx, name)
	if err != nil {
		return 0, 0, err
	}
	g, err := e.Generator(x.Ctx)
	if err != nil {
		return 0, 0, err
	}
	last, buffered, known, err := highest(x, g)
	if err != nil {
		return last, buffered, err
	}
	if known {
		last, err = highestOfAll(x, e, last)
		return last, buffered, err
	}
	drawn, err := nextID(x, e)
	if err != nil {
		return 0, 0, err
	}
	if last, buffered, known, err = highest(x, g); !known {
		last = drawn
	}
	return last, buffered, err
}

// highestOfAll is the highest id that may have been issued by any server on
// the store, where this one has reserved up to last.
func highestOfAll(x *engine.Exec, e *generator.Entry, last int64) (int64, error) {
	d, err := e.Definition(x.Ctx)
	if err != nil {
		return last, err
	}
	s, counts := seriesOf(d)
	if !counts {
		return last, nil
	}
	past, err := sessionOf(x).server.registry.Past(x.Ctx, e.Name())
	if s.Increment < 0 {
		return min(last, -(past - 1)), err
	}
	return max(last, past-1), err
}

// highest is the highest id that g may have issued. known is
// false when g has not reserved anything here.
func highest(x *engine.Exec, g generator.Generator) (last, buffered int64, known bool, err error) {
	var stats generator.Stats
	if r, ok := g.(generator.Reporter); ok {
		stats = r.Stats()
	}
	if e, ok := g.(generator.Explainer); ok {
		last, err = e.Ceil(sessionOf(x).server.now())
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

// sequenceLastValue is pg_sequence_last_value: NULL where answering would
// draw an id.
var sequenceLastValue = catalogFunc("pg_sequence_last_value", datum.Int8, []datum.OID{datum.RegClass},
	func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
		name, ok := sessionOf(x).server.sequenceOIDs.name(uint32(a[0].Int))
		if !ok {
			return datum.Value{}, sqlstate.New(sqlstate.UndefinedTable, "could not open relation with OID %d", a[0].Int)
		}
		return sequenceLast(x, name)
	})

func sequenceLast(x *engine.Exec, name string) (datum.Value, error) {
	e := sessionOf(x).server.registry.Lookup([]byte(name))
	if e == nil || e.Running() == nil {
		return datum.Null(datum.Int8), nil
	}
	last, _, known, err := highest(x, e.Running())
	return datum.Value{Type: datum.Int8, Valid: known, Int: last}, err
}
