package ids

import (
	"math"

	"nextid/generator"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// idFunctions draw ids. A count is any integer: clients that encode by the described
// type have an int at hand for one, so a bare $2 is an int4.
var idFunctions = []engine.Function{
	engine.Func("next_id(name text, field int8:int8?, at timestamptz?) int8", engine.Volatile,
		"one new id from the generator; field is the caller's bits, where its layout has a field; at is a time that is over, which the id carries",
		engine.EvalOrIDs{Eval: oneID, IDs: idOfEachRow}),
	drawing("next_id_at(name text, at timestamptz) int8", "next_id(name, at => at), for dialects without named arguments",
		func(x *engine.Exec, a []datum.Value) (datum.Value, error) { return drawAt(x, a[0].Str, a[1], 0) }),
	drawing("next_id_for(name text, field int8:int8) int8", "next_id(name, field), under the name that it has in databases of applications", oneID),
	engine.Func("next_ids(name text, n int8:int4) int8", engine.Volatile, "n new ids, one a row", engine.IDs(nextIDs)),
	nextRangeFunction(),
	administering("next_block(name text, n int8:int4) int8", "the first of n consecutive numbers, reserved for a sequence that is fed", nextBlock),
}

func nextRangeFunction() engine.Function {
	f := engine.Func("next_range(name text, n int8:int4) record", engine.Volatile,
		"runs that together hold n new ids: first, first + step, and so on to last", engine.Set(nextRange))
	f.Columns = engine.OutColumns("first:int8 last:int8 step:int8")
	return f
}

func oneID(x *engine.Exec, a []datum.Value) (datum.Value, error) {
	if len(a) > 2 {
		return drawAt(x, a[0].Str, a[2], a[1].Int) // 0 where it is left out
	}
	if len(a) > 1 {
		return drawWith(x, a[0].Str, a[1].Int)
	}
	return DrawID(x, a[0].Str)
}

// idOfEachRow is next_id over generate_series: the statement's rows are the limit.
func idOfEachRow(x *engine.Exec, a []datum.Value) (engine.NumberRun, error) {
	e, err := entry(x, a[0].Str)
	return &idRun{entry: e, left: a[1].Int}, err
}

func nextIDs(x *engine.Exec, a []datum.Value) (engine.NumberRun, error) {
	run, err := newIDRun(x, a[0].Str, a[1].Int)
	return &run, err
}

// DrawID draws one id of a name, which is created if it is new.
func DrawID(x *engine.Exec, name string) (datum.Value, error) {
	e, err := entry(x, name)
	if err != nil {
		return datum.Value{}, err
	}
	id, err := nextID(x, e)
	return datum.MakeInt8(id), err
}

// drawWith draws an id with the caller's bits.
func drawWith(x *engine.Exec, name string, v int64) (datum.Value, error) {
	return drawOne(x, name, func(e *generator.Entry) (int64, error) {
		if id, ok := e.TryNextWith(v); ok {
			return id, nil
		}
		x.Host.Waits()
		return e.NextWith(x.Ctx, v)
	})
}

// drawAt draws an id of the past with the caller's bits.
func drawAt(x *engine.Exec, name string, at datum.Value, v int64) (datum.Value, error) {
	return drawOne(x, name, func(e *generator.Entry) (int64, error) {
		x.Host.Waits()
		return e.NextAt(x.Ctx, at.GoTime(), v)
	})
}

// drawOne draws an id in a way that not all generators have. Only a template creates a
// generator: others that are made of a name alone have no field.
func drawOne(x *engine.Exec, name string, draw func(e *generator.Entry) (int64, error)) (datum.Value, error) {
	e, err := allowed(x, name)
	if Missing(err) {
		e, err = Registry(x).Templated(x.Ctx, name)
	}
	if err != nil {
		return datum.Value{}, err
	}
	id, err := charged(x, e, func() (int64, error) { return draw(e) })
	if err != nil {
		e.NoteTrouble(err, x.Host.Now())
		return datum.Value{}, err
	}
	recordDraw(x, e, generator.Range{First: id, Step: 1, Count: 1})
	sessionOf(x).Drew(e, id)
	return datum.MakeInt8(id), nil
}

// newIDRun prepares n ids of a generator.
func newIDRun(x *engine.Exec, name string, n int64) (idRun, error) {
	if err := checkCount(x, n); err != nil {
		return idRun{}, err
	}
	e, err := entry(x, name)
	if err == nil {
		warnOfRate(x, e, n)
	}
	return idRun{entry: e, left: n}, err
}

func nextRange(x *engine.Exec, a []datum.Value) (engine.Rows, error) {
	run, err := newIDRun(x, a[0].Str, a[1].Int)
	if err != nil {
		return nil, err
	}
	return &rangeRows{run, x.Row(3)}, nil
}

// rangeRows are the rows of next_range.
type rangeRows struct {
	idRun
	row []datum.Value
}

// Next implements engine.Rows.
func (rows *rangeRows) Next(x *engine.Exec) ([]datum.Value, error) {
	r, err := rows.idRun.Next(x, math.MaxInt64)
	rows.row[0], rows.row[1], rows.row[2] = datum.MakeInt8(r.First), datum.MakeInt8(r.Last()), datum.MakeInt8(r.Step)
	return rows.row, err
}

// NextValues is Vitess's SELECT NEXT n VALUES FROM seq: one row, the first
// of n ids in a row.
func NextValues(p *engine.Planner, s *engine.Scope, c *syntax.SelectCore, e *syntax.NextValues) (*engine.Expr, error) {
	if len(c.From) != 1 {
		return nil, engine.At(e.Pos, sqlstate.New(sqlstate.SyntaxError, "NEXT VALUES needs one generator in FROM"))
	}
	t, ok := c.From[0].(*syntax.Table)
	if !ok {
		return nil, engine.At(e.Pos, sqlstate.New(sqlstate.SyntaxError, "NEXT VALUES needs a generator's name in FROM"))
	}
	count := engine.Constant(datum.MakeInt8(1))
	if e.Count != nil {
		var err error
		if count, err = p.Expr(s, e.Count); err == nil {
			count, err = p.Coerce(count, datum.Int8, datum.AssignmentCast)
		}
		if err != nil {
			return nil, engine.At(e.Pos, err)
		}
	}
	name := t.Name.Last()
	x := engine.Derive(datum.Int8, func(x *engine.Exec) (datum.Value, error) {
		n, err := count.Eval(x)
		if err != nil {
			return n, err
		}
		run, err := newIDRun(x, name, n.Int)
		if err != nil {
			return datum.Value{}, err
		}
		defer run.Close()
		var r generator.Range
		if n.Int == 1 || inARow(x, run.entry) {
			if err = run.begin(x); err == nil && len(run.held) < 2 {
				r, err = run.contiguous(x)
			}
		}
		if err == nil && r.Count < n.Int {
			err = sqlstate.New(sqlstate.LockNotAvailable, "generator %q has no %d ids in a row now", name, n.Int).
				WithHint("Try again, or ask for fewer.")
		}
		return datum.MakeInt8(r.First), err
	}, count)
	return p.MarkVolatile(x), nil
}

// inARow reports whether ids that are drawn together can follow one another
// without a hole. Of a generator whose ids end it is known before they are drawn.
func inARow(x *engine.Exec, e *generator.Entry) bool {
	if e.Streams() {
		return true
	}
	d, err := e.Definition(x.Ctx)
	s, counts := SeriesOf(d)
	return err != nil || d.Kind == "dated" || counts && s.Increment == 1
}

// SequenceName reads the argument of nextval and its family: a name as SQL
// writes it, quoted and qualified parts included.
func SequenceName(text string) (string, error) {
	parts := syntax.SplitIdentifier(text)
	if len(parts) == 0 {
		return "", sqlstate.New(sqlstate.InvalidName, "invalid name syntax")
	}
	if len(parts) > 1 {
		if schema := parts[0]; len(parts) == 2 && (schema == "public" || schema == engine.NextidSchema || schema == engine.PGCatalog) {
			return parts[1], nil
		}
		return text, nil // a dot is allowed in our names
	}
	return parts[0], nil
}
