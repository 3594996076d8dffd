package ids

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"nextid/generator"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// SequenceStatement plans CREATE, ALTER and DROP SEQUENCE and what else a tree
// says of sequences, for administrators. The generators are of kind segment.
func SequenceStatement(tree syntax.Statement) (tag string, run func(x *engine.Exec) error, err error) {
	var does func(x *engine.Exec) error
	switch t := tree.(type) {
	case *syntax.CreateSequence:
		tag = "CREATE SEQUENCE"
		does, err = createSequence(t)
	case *syntax.AlterSequence:
		tag = "ALTER SEQUENCE"
		does, err = alterSequence(t)
	case *syntax.DropSequence:
		tag, does = "DROP SEQUENCE", dropSequences(t)
	case *syntax.SequenceNote:
		tag, does = t.Tag, sequenceNote(t)
	}
	return tag, func(x *engine.Exec) error {
		if !x.Host.Client().Admin {
			return sqlstate.New(sqlstate.InsufficientPrivilege, "permission denied for %s", tag).
				WithHint("Connect as a user with the role admin.")
		}
		return does(x)
	}, err
}

// sequenceOptions turns the options of CREATE and ALTER SEQUENCE into those
// of the kind segment. CYCLE would repeat ids and is refused.
func sequenceOptions(o *syntax.SequenceOptions) (json.RawMessage, error) {
	if o.Cycle != nil && *o.Cycle {
		return nil, sqlstate.New(sqlstate.FeatureNotSupported, "CYCLE is not supported: it would give ids twice").
			WithHint("Leave CYCLE out; an exhausted generator answers 2200H.")
	}
	bounded := *o
	if err := boundSequence(&bounded); err != nil {
		return nil, err
	}
	o = &bounded
	out := map[string]any{}
	for key, n := range map[string]*int64{"start": o.Start, "increment": o.Increment, "min": o.MinValue, "max": o.MaxValue, "step": o.Cache} {
		if n != nil {
			out[key] = *n
		}
	}
	if o.Comment != nil {
		out["description"] = *o.Comment
	}
	if o.NoMinValue {
		out["min"] = nil
	}
	if o.NoMaxValue {
		out["max"] = nil
	}
	return object(out), nil
}

func createSequence(t *syntax.CreateSequence) (func(x *engine.Exec) error, error) {
	options, err := sequenceOptions(&t.Options)
	if err != nil {
		return nil, engine.At(t.Pos, err)
	}
	name := t.Name.Last()
	return func(x *engine.Exec) error {
		if t.OrReplace {
			if err := dropSequence(x, name); err != nil && !Missing(err) {
				return err
			}
		}
		err := Registry(x).Create(x.Ctx, name, "segment", options)
		switch exists := errors.Is(err, generator.ErrExists); {
		case exists && t.IfNotExists:
			x.Host.Notice("relation \"" + name + "\" already exists, skipping")
			return nil
		case exists:
			return sqlstate.New(sqlstate.DuplicateTable, "relation %q already exists", name)
		case err != nil:
			return err
		}
		warnOfOutlook(x, name)
		return goOnAbove(x, name)
	}, nil
}

// dropSequence drops a generator that CREATE SEQUENCE could make again, or that
// nextval made of a new name: ORMs drop what they have used before they create
// it. Dumps do so, too: what the dump cannot say of another generator would be
// lost. Whatever follows under the name goes on above.
func dropSequence(x *engine.Exec, name string) error {
	e, err := Registry(x).Existing(x.Ctx, name)
	if err != nil {
		return err
	}
	d, err := e.Definition(x.Ctx)
	if err != nil {
		return err
	}
	s, counts := SeriesOf(d)
	again := object(map[string]any{
		"start": s.Start, "increment": s.Increment, "min": s.Min, "max": s.Max, "step": s.Step, "restart": s.Restart, "called": s.Called,
		"description": s.Description,
	})
	registry := x.Host.Registry()
	same := counts && d.Kind == "segment" && registry.Alike(d, again)
	if made := serverOf(x).Sequence; !same && (d.Kind != made.Kind || !registry.Alike(d, made.Options)) {
		return sqlstate.New(sqlstate.WrongObjectType, "%q is no sequence that CREATE SEQUENCE could make again: it is a generator of kind %s with options of its own", name, d.Kind).
			WithHint("drop_generator('%s') drops it.", name)
	}
	return Registry(x).Drop(x.Ctx, name)
}

func alterSequence(t *syntax.AlterSequence) (func(x *engine.Exec) error, error) {
	options, err := sequenceOptions(&t.Options)
	if err != nil {
		return nil, engine.At(t.Pos, err)
	}
	name := t.Name.Last()
	return func(x *engine.Exec) error {
		if _, err := Registry(x).Existing(x.Ctx, name); Missing(err) {
			if t.IfExists {
				x.Host.Notice("relation \"" + name + "\" does not exist, skipping")
				return nil
			}
			return engine.NoRelation(name)
		}
		return changeSequence(x, name, options, &t.Options)
	}, nil
}

// changeSequence alters a generator that exists. A new increment counts from the
// last number, as in PostgreSQL.
func changeSequence(x *engine.Exec, name string, options json.RawMessage, o *syntax.SequenceOptions) error {
	s, err := openSequence(x, name)
	if err != nil {
		return err
	}
	switch {
	case o.RestartWith != nil:
		return s.moveTo(x, *o.RestartWith, false, options)
	case o.Restart && s.counts:
		return s.moveTo(x, s.Start, false, options)
	case o.Restart:
		return sqlstate.New(sqlstate.FeatureNotSupported, "RESTART of generator %q needs a value: its ids have no start", name).
			WithHint("Use RESTART WITH n to go up.")
	}
	if o.Increment != nil && !s.counts {
		return roomFor(x, s.definition, *o.Increment, options)
	}
	if o.Increment != nil {
		if last, given, err := s.lastGiven(x); err != nil {
			return err
		} else if given {
			options = withRestart(options, last, true)
		}
	}
	if string(options) == "{}" {
		return nil
	}
	return Registry(x).Alter(x.Ctx, name, options)
}

// roomFor answers INCREMENT BY for ids that follow the clock: it asks for no more than
// they are apart, or is refused.
func roomFor(x *engine.Exec, d generator.Definition, n int64, options json.RawMessage) error {
	apart := Increment(d)
	if string(options) != string(object(map[string]any{"increment": n})) || n < 1 || n > apart {
		return sqlstate.New(sqlstate.FeatureNotSupported, "the ids of generator %q, of kind %s, are %d or more apart, and that is all that INCREMENT BY can ask for", d.Name, d.Kind, apart).
			WithHint("DROP SEQUENCE %s; CREATE SEQUENCE %s INCREMENT BY %d goes on above, with numbers that are so far apart.", d.Name, d.Name, n)
	}
	if n < apart {
		x.Host.Notice(fmt.Sprintf("the ids of sequence %q stay %d or more apart, which is enough for INCREMENT BY %d", d.Name, apart, n))
	}
	return nil
}

func dropSequences(t *syntax.DropSequence) func(x *engine.Exec) error {
	return func(x *engine.Exec) error {
		for _, n := range t.Names {
			name := n.Last()
			err := dropSequence(x, name)
			if Missing(err) {
				if !t.IfExists {
					return sqlstate.New(sqlstate.UndefinedTable, "sequence %q does not exist", name)
				}
				x.Host.Notice("sequence \"" + name + "\" does not exist, skipping")
				err = nil
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// sequenceNote answers statements about what nextid keeps nothing of, so
// that a dump of PostgreSQL's sequences can be read.
func sequenceNote(t *syntax.SequenceNote) func(x *engine.Exec) error {
	return func(x *engine.Exec) error {
		for _, n := range t.Names {
			name := n.Last()
			if _, err := Registry(x).Existing(x.Ctx, name); Missing(err) && !t.IfExists {
				return engine.At(t.Pos, engine.NoRelation(name))
			} else if err != nil && !Missing(err) {
				return err
			}
		}
		x.Host.Notice("nextid keeps no " + t.What + " of sequences: nothing is changed")
		return nil
	}
}

// sequenceTypes are the greatest values of AS type.
var sequenceTypes = map[datum.OID]int64{datum.Int2: math.MaxInt16, datum.Int4: math.MaxInt32, datum.Int8: math.MaxInt64}

// boundSequence applies AS type: its ends are those of the sequence where none are given.
func boundSequence(o *syntax.SequenceOptions) error {
	if o.As == nil {
		return nil
	}
	oid, _ := datum.TypeByName(o.As.Name.Last())
	highest, ok := sequenceTypes[oid]
	if !ok || o.As.Array > 0 {
		return engine.At(o.As.Pos, sqlstate.New(sqlstate.InvalidParameterValue, "sequence type must be smallint, integer, or bigint"))
	}
	if highest == math.MaxInt64 {
		return nil
	}
	lowest := -highest - 1
	for name, v := range map[string]*int64{"MINVALUE": o.MinValue, "MAXVALUE": o.MaxValue} {
		if v != nil && (*v < lowest || *v > highest) {
			return engine.At(o.As.Pos, sqlstate.New(sqlstate.InvalidParameterValue, "%s (%d) is out of range for sequence data type %s",
				name, *v, datum.FormatType(oid, -1)))
		}
	}
	if down := o.Increment != nil && *o.Increment < 0; down && o.MinValue == nil {
		o.MinValue, o.NoMinValue = &lowest, false
	} else if !down && o.MaxValue == nil {
		o.MaxValue, o.NoMaxValue = &highest, false
	}
	return nil
}
