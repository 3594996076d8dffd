package ids

import (
	"encoding/json"
	"math/rand/v2"
	"time"

	"nextid/generator"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

// holdFunctions draw gap-free numbers in two phases.
var holdFunctions = []engine.Function{
	drawing("hold_id(name text, for interval, holder text?) int8", holdHelp, holdID),
	drawing("hold_id(name text, for text, holder text?) int8", holdHelp, holdID), // MySQL writes intervals as texts
	drawing("confirm_id(name text, n int8, holder text?) int8", "ends the hold of a number, which is used from now on",
		func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
			_, h, err := holder(x, a[0].Str)
			if err != nil {
				return datum.Value{}, err
			}
			return a[1], h.Confirm(x.Ctx, a[1].Int, heldBy(x, a, 2))
		}),
	drawing("void_id(name text, n int8, why text, holder text?) int8", "notes in nextid.voids that a number, held or given, is not used",
		func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
			_, h, err := holder(x, a[0].Str)
			if err != nil {
				return datum.Value{}, err
			}
			return a[1], h.Void(x.Ctx, a[1].Int, a[2].Str, x.Host.Client().User, heldBy(x, a, 3))
		}),
}

const holdHelp = "the next number of a counter, held for the caller until it is confirmed, voided, or the time is over"

func holdID(x *engine.Exec, a []datum.Value) (datum.Value, error) {
	name := a[0].Str
	now, d := datum.TimestampTZFromTime(x.Host.Now()), a[1]
	var err error
	if d.Type == datum.Text {
		if d, err = datum.ParseText(datum.Interval, d.Str, nil); err != nil {
			return datum.Value{}, err
		}
	}
	until, err := datum.Compute('+', now, d, x.Env())
	if err != nil {
		return datum.Value{}, err
	}
	e, h, err := holder(x, name)
	if err != nil {
		return datum.Value{}, err
	}
	n, err := charged(x, e, func() (int64, error) {
		return h.Hold(x.Ctx, time.UnixMicro(until.Int).Sub(time.UnixMicro(now.Int)), heldBy(x, a, 2))
	})
	if err == nil {
		recordDraw(x, e, generator.Range{First: n, Step: 1, Count: 1})
	}
	return datum.MakeInt8(n), err
}

// heldBy returns the holder of argument i, or the session.
func heldBy(x *engine.Exec, a []datum.Value, i int) generator.HeldBy {
	d := sessionOf(x).Drawn()
	for d.holder == 0 {
		d.holder = rand.Uint64()
	}
	return generator.HeldBy{Name: optionalText(a, i).Str, Session: d.holder}
}

// holder returns a generator whose numbers can be held. A counter becomes one by its
// first use here.
func holder(x *engine.Exec, name string) (*generator.Entry, generator.Holder, error) {
	e, gen, err := opened(x, name, allowed)
	if Missing(err) {
		return nil, nil, sqlstate.New(sqlstate.UndefinedTable, "generator %q does not exist", name).
			WithHint("Create it: SELECT create_generator('%s', 'counter').", name)
	}
	if err != nil {
		return nil, nil, err
	}
	if h, ok := gen.(generator.Holder); ok && !h.Holds() {
		if err := Registry(x).Alter(x.Ctx, name, json.RawMessage(`{"holds":true}`)); err != nil {
			return nil, nil, err
		}
		if gen, err = e.Generator(x.Ctx); err != nil {
			return nil, nil, err
		}
	}
	h, ok := gen.(generator.Holder)
	if !ok {
		return nil, nil, sqlstate.New(sqlstate.FeatureNotSupported, "the numbers of generator %q cannot be held", name).
			WithHint("Those of kind counter without scatter can: SELECT create_generator('…', 'counter').")
	}
	x.Host.Waits()
	return e, h, nil
}

// voidRows are the rows of nextid.voids.
func voidRows(x *engine.Exec) (rows [][]any, err error) {
	voids, err := Registry(x).Voids(x.Ctx)
	for _, v := range voids {
		if x.Host.Client().May(v.Name) == nil {
			rows = append(rows, []any{v.Name, v.Number, v.Why, v.By, v.At})
		}
	}
	return rows, err
}
