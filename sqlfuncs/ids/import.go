package ids

import (
	"encoding/json"
	"fmt"
	"math"

	"nextid/generator"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

// importFunctions take over other id systems.
var importFunctions = []engine.Function{
	administering("import_generator(name text, system text, dsn text, options jsonb?) text",
		"takes over the position of another id system and fences it; the generator goes on above", importGenerator),
}

// importGenerator creates a generator that continues after another system, or moves
// an existing one. All checks come before the other system is changed.
func importGenerator(x *engine.Exec, a []datum.Value) (datum.Value, error) {
	name := a[0].Str
	options, err := optionsArg(a, 3)
	if err == nil {
		err = generator.CheckName(name)
	}
	if err != nil {
		return datum.Value{}, err
	}
	if serverOf(x).Takeover == nil {
		return datum.Value{}, sqlstate.New(sqlstate.FeatureNotSupported, "this server takes over no other systems")
	}
	x.Host.Waits()
	target, err := importTarget(x, name)
	if err != nil {
		return datum.Value{}, err
	}
	p, err := serverOf(x).Takeover(x.Ctx, name, a[1].Str, a[2].Str, options, target.agree)
	if err != nil {
		return datum.Value{}, err
	}
	if !target.exists {
		if err := Registry(x).Create(x.Ctx, name, p.Kind, p.Options); err != nil {
			return datum.Value{}, err
		}
	}
	next, err := target.goOn(x, p)
	if err == nil {
		warnOfOutlook(x, name)
	}
	text := fmt.Sprintf("%s goes on at %d; %s", name, next, p.Report)
	if target.past > math.MinInt64 && !p.Fenced {
		text += fmt.Sprintf("; numbers below %d were reserved under this name before: another server that holds some gives them up within %v, or when it reaches the store again",
			target.past, generator.WatchEvery)
	}
	return datum.MakeText(text), err
}

// imported is the generator that an import creates or moves.
type imported struct {
	name   string
	exists bool
	past   int64 // numbers below it were reserved under the name, by any server, even before it was dropped
	start  int64 // of one that exists: its numbers are start + k·increment
	step   int64
}

// importTarget returns the generator of a name. Only kinds with a position can be
// moved.
func importTarget(x *engine.Exec, name string) (*imported, error) {
	t := &imported{name: name}
	var err error
	if t.past, err = Registry(x).Past(x.Ctx, name); err != nil {
		return nil, err
	}
	e, err := Registry(x).Existing(x.Ctx, name)
	if Missing(err) {
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	d, err := e.Definition(x.Ctx)
	if err != nil {
		return nil, err
	}
	if d.Kind != "segment" && d.Kind != "counter" {
		return nil, sqlstate.New(sqlstate.FeatureNotSupported, "generator %q exists, and is of kind %s, not segment or counter", name, d.Kind).
			WithHint("Use another name, or drop it first.")
	}
	var o series
	if err := json.Unmarshal(d.Options, &o); err != nil {
		return nil, err
	}
	t.exists, t.start, t.step = true, o.Start, o.Increment
	if o.Offset != nil {
		t.start = *o.Offset
	}
	return t, nil
}

// agree returns an error if the generator would give numbers that the other system,
// or another database of it, has given or will give.
func (t *imported) agree(p Position) error {
	switch {
	case t.exists && t.step < 0:
		return sqlstate.New(sqlstate.FeatureNotSupported, "generator %q descends", t.name).WithHint("Use another name.")
	case t.exists && (t.step%p.Increment != 0 || (t.start-p.Next)%p.Increment != 0):
		return sqlstate.New(sqlstate.NotPrerequisite,
			"generator %q draws numbers that belong to databases which are not taken over: only %d, %d, … is", t.name, p.Next, p.Next+p.Increment).
			WithHint("Name all databases, with spaces between their URLs, or use another name.")
	case t.past > p.Next && !p.Fenced:
		return sqlstate.New(sqlstate.NotPrerequisite,
			"numbers up to %d were reserved under the name %q already, and the other system goes on at %d", t.past-1, t.name, p.Next).
			WithHint("Nothing was changed. Use another name; numbers of both systems would be mixed under this one.")
	}
	return nil
}

// goOn moves the generator above the position and returns its next number.
func (t *imported) goOn(x *engine.Exec, p Position) (int64, error) {
	e, gen, err := opened(x, t.name, Known)
	if err != nil {
		return 0, err
	}
	x.Host.Waits()
	r, ok := gen.(generator.Raiser)
	if !ok {
		return 0, sqlstate.New(sqlstate.Internal, "generator %q cannot be raised", t.name)
	}
	if err := r.Raise(x.Ctx, p.Next, false); err != nil {
		return 0, err
	}
	if t.exists && !p.Fenced {
		// A new version of the definition: other servers give up what they hold.
		if err := Registry(x).Alter(x.Ctx, t.name, json.RawMessage("{}")); err != nil {
			return 0, err
		}
		if gen, err = e.Generator(x.Ctx); err != nil {
			return 0, err
		}
	}
	if peeker, ok := gen.(generator.Peeker); ok {
		return peeker.Peek(x.Ctx)
	}
	return p.Next, nil
}
