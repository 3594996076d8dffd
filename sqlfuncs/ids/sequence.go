package ids

import (
	"errors"
	"fmt"

	"nextid/generator"
	"nextid/generator/layout"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

// sequenceFunctions are PostgreSQL's sequence functions, for clients written for
// sequences. A sequence is a text, or PostgreSQL's regclass
// (nextval('orders'::regclass)).
var sequenceFunctions = []engine.Function{
	drawing("lastval() int8", "the newest id that this session drew", lastval),
	drawing("nextval(name text) int8", "one new id from the generator", onSequence(nextval)),
	drawing("nextval(name regclass) int8", "one new id from the generator", onSequence(nextval)),
	drawing("currval(name text) int8", "the newest id of the generator that this session drew", onSequence(currval)),
	drawing("currval(name regclass) int8", "the newest id of the generator that this session drew", onSequence(currval)),
	administering("setval(name text, n int8, is_called bool?) int8", "raises the generator above n; it never lowers it", onSequence(setval)),
	administering("setval(name regclass, n int8, is_called bool?) int8", "raises the generator above n; it never lowers it", onSequence(setval)),
}

// onSequence resolves the name argument of a sequence function.
func onSequence(f func(x *engine.Exec, name string, a []datum.Value) (datum.Value, error)) func(*engine.Exec, []datum.Value) (datum.Value, error) {
	return func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
		text := a[0].Str
		if a[0].Type == datum.RegClass {
			name, ok := x.Env().Names.ObjectName(datum.RegClass, uint32(a[0].Int))
			if !ok {
				return datum.Value{}, sqlstate.New(sqlstate.UndefinedTable, "could not open relation with OID %d", a[0].Int)
			}
			text = name
		}
		name, err := SequenceName(text)
		if err != nil {
			return datum.Value{}, err
		}
		return f(x, name, a)
	}
}

func nextval(x *engine.Exec, name string, _ []datum.Value) (datum.Value, error) {
	if err := sequenceFor(x, name); err != nil {
		return datum.Value{}, err
	}
	return DrawID(x, name)
}

// sequenceFor makes the generator of a name that a client asks for as a
// sequence and that does not exist: what the configuration gives to sequences,
// or what next_id would make. A client that counts on from what it gets (JPA's
// allocationSize) needs room between the ids, or two of them take the same. hi/lo
// multiplies what it gets, which overflows with ids of time. The notice says both.
func sequenceFor(x *engine.Exec, name string) error {
	registry := x.Host.Registry()
	if err := x.Host.Client().May(name); err != nil || registry.Lookup([]byte(name)) != nil || x.Host.Client().NoCreate {
		return err
	}
	if _, err := Registry(x).Existing(x.Ctx, name); !Missing(err) {
		return err
	}
	var e *generator.Entry
	var err error
	if auto := serverOf(x).Sequence; auto.Kind != "" {
		e, err = registry.GetAs(x.Ctx, name, auto.Kind, auto.Options)
	} else {
		e, err = registry.Get(x.Ctx, name)
	}
	if err != nil {
		return err
	}
	noteOfResembling(x, name)
	d, err := e.Definition(x.Ctx)
	if err != nil {
		return err
	}
	room := "1 apart: a client that takes several numbers from one call would take those of others"
	if n := Increment(d); n != 1 {
		room = fmt.Sprintf("%d or more apart, for clients that take so many numbers from one call", n)
	}
	if _, counts := SeriesOf(d); !counts {
		room += ", and too large for hi/lo, which multiplies them"
	}
	x.Host.Notice(fmt.Sprintf("sequence %q did not exist: a generator of kind %s was made, whose ids are %s; "+
		"CREATE SEQUENCE … INCREMENT BY makes others, and auto_create_sequence says what is made", name, d.Kind, room))
	return nil
}

// Increment returns the smallest distance between two ids of a generator (INCREMENT
// BY).
func Increment(d generator.Definition) int64 {
	if s, counts := SeriesOf(d); counts {
		return s.Increment
	}
	return layout.PoolOf(d.Options)
}

func currval(x *engine.Exec, name string, _ []datum.Value) (datum.Value, error) {
	e, err := Known(x, name)
	if err != nil {
		return datum.Value{}, err
	}
	if id, ok := sessionOf(x).Drawn().Newest(e); ok {
		return datum.MakeInt8(id), nil
	}
	return datum.Value{}, sqlstate.New(sqlstate.NotPrerequisite, "currval of sequence %q is not yet defined in this session", name).
		WithHint("Call next_id or nextval on the generator first, in the same session.")
}

func lastval(x *engine.Exec, _ []datum.Value) (datum.Value, error) {
	if sessionOf(x).Drawn().last == nil {
		return datum.Value{}, sqlstate.New(sqlstate.NotPrerequisite, "lastval is not yet defined in this session").
			WithHint("Call next_id or nextval first, in the same session.")
	}
	return datum.MakeInt8(sessionOf(x).Drawn().lastID), nil
}

// setval moves a generator forward. If is_called is false, the next id is n itself.
// MariaDB returns NULL where nothing was moved.
func setval(x *engine.Exec, name string, a []datum.Value) (datum.Value, error) {
	s, err := openSequence(x, name)
	if err != nil {
		return a[1], err
	}
	err = s.moveTo(x, a[1].Int, len(a) < 3 || a[2].Int != 0, nil)
	if e, ok := errors.AsType[*generator.Error](err); ok && errors.Is(err, generator.ErrNotHeld) { // another server has moved it further
		err = sqlstate.New(sqlstate.NotPrerequisite, "%s", e.Message).WithHint("%s", e.Hint)
	}
	if e, ok := errors.AsType[*sqlstate.Error](err); ok && x.Dialect.Traits().Lenient && e.Code == sqlstate.NotPrerequisite {
		x.Host.Warn(sqlstate.New(sqlstate.Warning, "%s", e.Message))
		return datum.Null(datum.Int8), nil
	}
	return a[1], err
}

// Missing reports whether an error says that a generator does not exist.
func Missing(err error) bool { return errors.Is(err, generator.ErrUnknown) }
