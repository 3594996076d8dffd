package ids

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"nextid/generator"
	"nextid/generator/layout"
	"nextid/generator/uuid"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

// partColumns are the fields of an id, in the order of parse_id.
var partColumns = engine.ColumnList("kind:text time:timestamptz datacenter:int8 worker:int8 rollback:int8 sequence:int8 field:int8")

// parseColumns are the columns of SELECT * FROM parse_id(x).
var parseColumns = engine.OutColumns("kind:text layout:text time:timestamptz datacenter:int8 worker:int8 rollback:int8 sequence:int8 field:int8")

// parseFunctions decode ids.
var parseFunctions = []engine.Function{
	parseFunction("int8"), parseFunction("uuid"), parseFunction("text"),
	timeFunction("int8"), timeFunction("uuid"), timeFunction("text"),
	boundFunction("id_floor", false, "least id of an instant"), boundFunction("id_ceil", true, "greatest id of an instant"),
}

// timeFunction is id_time for one type of id.
func timeFunction(t string) engine.Function {
	f := reading("id_time(id "+t+":int8, by text?) timestamptz", "when an id was made", func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
		p, err := explain(x, a[0], optionalText(a, 1), false)
		if err != nil || p.Time == nil {
			return datum.Null(datum.TimestampTZ), err
		}
		return datum.TimestampTZFromTime(*p.Time), nil
	})
	f.Args[0].AnyID = true
	return f
}

// parseFunction is parse_id for one type of id: jsonb as a value, columns
// in FROM. A bare $1 is a number, which most ids are, for clients that ask; one
// that sends text without asking may send any id.
func parseFunction(t string) engine.Function {
	f := engine.Func("parse_id(id "+t+":int8, by text?) jsonb", engine.Stable, "takes an id apart; by is a generator's name, else a layout's", engine.EvalOrRow{
		Eval: func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
			p, err := explain(x, a[0], optionalText(a, 1), true)
			if err != nil {
				return datum.Value{}, err
			}
			return datum.MakeString(datum.JSONB, PartsJSON(p)), nil
		},
		Row: func(x *engine.Exec, a []datum.Value) ([]datum.Value, error) {
			p, err := explain(x, a[0], optionalText(a, 1), false)
			if err != nil {
				return nil, err
			}
			values := partValues(p)
			return append([]datum.Value{values[0], datum.TextOrNull(p.Layout)}, values[1:]...), nil
		},
	})
	f.Args[0].AnyID, f.Columns = true, parseColumns
	return f
}

func optionalText(a []datum.Value, i int) datum.Value {
	if i < len(a) {
		return a[i]
	}
	return datum.Null(datum.Text)
}

// partValues are the values of partColumns.
func partValues(p generator.Parts) []datum.Value {
	number := func(n *int64) datum.Value {
		if n == nil {
			return datum.Null(datum.Int8)
		}
		return datum.MakeInt8(*n)
	}
	at := datum.Null(datum.TimestampTZ)
	if p.Time != nil {
		at = datum.TimestampTZFromTime(*p.Time)
	}
	return []datum.Value{datum.TextOrNull(p.Kind), at, number(p.Datacenter), number(p.Worker), number(p.Rollback), number(p.Sequence), number(p.Field)}
}

// appendTime appends a time in ISO 8601, UTC, with milliseconds.
func appendTime(dst []byte, t time.Time) []byte {
	dst = t.UTC().AppendFormat(dst, time.RFC3339) // the form that Go is quick with
	millis := t.Nanosecond() / int(time.Millisecond)
	return append(dst[:len(dst)-len("Z")], '.', byte('0'+millis/100), byte('0'+millis/10%10), byte('0'+millis%10), 'Z')
}

// PartsJSON returns what parse_id answers. What a layout does not have is left out. The
// members are in jsonb's order: by the length of the key, then by the key.
func PartsJSON(p generator.Parts) string {
	var buf [256]byte
	out := append(buf[:0], '{')
	baidu := p.Layout == "baidu" || p.Layout == "ring" // the keys of its parseUID, too
	if baidu {
		out = append(strconv.AppendInt(append(out, `"UID": "`...), p.ID, 10), `", `...)
	}
	out = datum.AppendJSONString(append(out, `"kind": `...), p.Kind)
	text := func(key, v string) {
		if v != "" {
			out = datum.AppendJSONString(append(out, key...), v)
		}
	}
	text(`, "name": `, p.Name)
	text(`, "text": `, p.Text)
	if p.Time != nil {
		out = append(appendTime(append(out, `, "time": "`...), *p.Time), '"')
	}
	number := func(key string, v *int64) {
		if v != nil {
			out = strconv.AppendInt(append(out, key...), *v, 10)
		}
	}
	var start, offset, increment, position *int64
	if at := p.Place; at != nil {
		start, offset, increment = &at.Start, &at.Offset, &at.Increment
		if at.Number > 0 {
			position = &at.Number
		}
		if at.Block.Count > 0 {
			out = fmt.Appendf(out, `, "block": [%d, %d]`, at.Block.First, at.Block.Last())
		}
	}
	number(`, "field": `, p.Field)
	number(`, "start": `, start)
	text(`, "layout": `, p.Layout)
	number(`, "number": `, position)
	number(`, "offset": `, offset)
	number(`, "worker": `, p.Worker)
	number(`, "rollback": `, p.Rollback)
	number(`, "sequence": `, p.Sequence)
	if baidu {
		text(`, "workerId": `, strconv.FormatInt(*p.Worker, 10))
	}
	number(`, "increment": `, increment)
	if baidu {
		text(`, "timestamp": `, p.Time.UTC().Format(time.DateTime))
	}
	number(`, "datacenter": `, p.Datacenter)
	for i, name := range p.Owned {
		key := `, `
		if i == 0 {
			key = `, "generators": [`
		}
		text(key, name)
	}
	if len(p.Owned) > 0 {
		out = append(out, ']')
	}
	return string(append(out, '}'))
}

// MaxIDDigits is the number of digits of a bigint. A longer text of digits is an id
// of another kind, such as KSUID's Nil.
const MaxIDDigits = 19

// explain takes an id apart. by is NULL, the name of a generator, or else
// that of a layout. Names, text forms and places are for the JSON only: whole.
func explain(x *engine.Exec, id, by datum.Value, whole bool) (p generator.Parts, err error) {
	if id.Type == datum.UUID {
		return UUIDOf(id).Explain(), nil
	}
	var e *generator.Entry
	var gen generator.Generator
	if by.Valid {
		if e, gen, err = find(x, by.Str); err != nil {
			return p, err
		}
	}
	if id.Type == datum.Text {
		if gen != nil {
			return explainCode(x, e, gen, id.Str)
		}
		if u, err := datum.ParseText(datum.UUID, id.Str, nil); err == nil {
			return UUIDOf(u).Explain(), nil
		}
		p, known := uuid.ExplainText(id.Str)
		n, err := datum.ParseText(datum.Int8, id.Str, nil)
		if known && (err != nil || len(id.Str) > MaxIDDigits) {
			return p, nil //nolint:nilerr // it is no number
		}
		if e, ok := errors.AsType[*sqlstate.Error](err); ok && e.Code == sqlstate.NumericOutOfRange {
			return p, err
		}
		if err != nil {
			return p, sqlstate.New(sqlstate.InvalidParameterValue, "%q is neither a number nor a UUID, nor another id that tells what it is", sqlstate.Cut(id.Str, 64)).
				WithHint("Name the generator whose code it is: parse_id(code, 'name').")
		}
		id = n
	}
	switch {
	case gen != nil:
		return explainNumber(x, e, gen, id.Int, whole)
	case by.Valid:
		l, err := layout.Preset(by.Str)
		if err != nil {
			return p, sqlstate.New(sqlstate.InvalidParameterValue, "there is no generator and no layout %q%s", sqlstate.Cut(by.Str, 64), generator.DidYouMean(sqlstate.Cut(by.Str, 64), layout.Names())).
				WithHint("SELECT name FROM nextid.layouts lists the layouts.")
		}
		return l.Explain(id.Int)
	}
	if p, err = serverOf(x).Layout.Explain(id.Int); err == nil && whole {
		p.Owned = owners(x, id.Int)
	}
	return p, err
}

// explainCode takes a code of a generator apart.
func explainCode(x *engine.Exec, e *generator.Entry, gen generator.Generator, code string) (p generator.Parts, err error) {
	if own, ok := gen.(generator.CodeGenerator); ok {
		return own.ExplainCode(code)
	}
	coder, err := e.Coder(x.Ctx)
	if err != nil {
		return p, err
	}
	id, err := coder.ParseCode(code)
	if err != nil {
		return p, err
	}
	return explainNumber(x, e, gen, id, true)
}

// explainNumber takes a number of a generator apart.
func explainNumber(x *engine.Exec, e *generator.Entry, gen generator.Generator, id int64, whole bool) (p generator.Parts, err error) {
	if _, codes := gen.(generator.CodeGenerator); codes {
		return p, sqlstate.New(sqlstate.FeatureNotSupported, "the ids of generator %q are no numbers", e.Name()).
			WithHint("Give the id as a text or a uuid: parse_id('…', '%s').", e.Name())
	}
	if ex, ok := gen.(generator.Explainer); ok {
		if p, err = ex.Explain(id); err != nil || !whole {
			return p, err
		}
	} else {
		p.Sequence = &id
	}
	d, err := e.Definition(x.Ctx)
	if err != nil {
		return p, err
	}
	p.Name, p.Kind = e.Name(), d.Kind
	if !whole {
		return p, nil
	}
	if s, ok := gen.(generator.Placer); ok {
		if place := s.Place(id); place.Increment != 0 {
			p.Place = &place
		}
	}
	coder, err := e.Coder(x.Ctx)
	if err != nil {
		return p, err
	}
	// A number that the generator cannot have given has no text.
	if text, err := coder.AppendCode(nil, id); err == nil && string(text) != strconv.FormatInt(id, 10) {
		p.Text = string(text)
	}
	return p, nil
}

const (
	mostOwners   = 10
	mostSearched = 1000 // running generators
)

// owners returns at most ten names of generators running on this server whose
// reservations contain id. It does not ask the store.
func owners(x *engine.Exec, id int64) (names []string) {
	searched := 0
	x.Host.Registry().Running(func(d generator.Definition, g generator.Generator) bool {
		searched++
		if p, ok := g.(generator.Placer); ok && p.Place(id).Reserved && x.Host.Client().May(d.Name) == nil {
			names = append(names, d.Name)
		}
		return searched < mostSearched && len(names) < mostOwners
	})
	slices.Sort(names)
	return names
}

// boundFunction is id_floor or id_ceil. Its result has the type of the ids:
// where the name is a constant, planning looks its kind up. Otherwise it is
// bigint.
func boundFunction(name string, greatest bool, help string) engine.Function {
	return engine.Func(name+"(name text, ts timestamptz) int8", engine.Stable, help, engine.Typed(func(p *engine.Planner, args []*engine.Expr) (*engine.Expr, error) {
		by, err := p.Coerce(args[0], datum.Text, datum.ImplicitCast)
		if err != nil {
			return nil, err
		}
		ts, err := p.Coerce(args[1], datum.TimestampTZ, datum.ImplicitCast)
		if err != nil {
			return nil, err
		}
		result := datum.Int8
		if v, ok := p.ConstantValue(by); ok && v.Valid {
			result = boundType(p, v.Str)
		}
		return engine.Strict2(result, by, ts, func(x *engine.Exec, name, at datum.Value) (datum.Value, error) {
			return idBound(x, name.Str, at.GoTime(), greatest, result)
		}), nil
	}))
}

// boundType is the type of the ids of a generator or, if there is none of the
// name, of a layout or a format.
func boundType(p *engine.Planner, name string) datum.OID {
	p.Private = true // a generator of the name may be of another kind later
	p.Host.Waits()
	ctx, cancel := context.WithTimeout(context.Background(), lookupTimeout)
	defer cancel()
	if k, err := p.Host.Registry().KindOf(ctx, name); err == nil {
		_, texts := generator.KindAs[generator.TextKind](k)
		switch {
		case k.Name() == uuid.KindName:
			return datum.UUID
		case texts:
			return datum.Text
		}
		return datum.Int8
	}
	switch strings.ToLower(name) {
	case "uuidv6", "uuidv7":
		return datum.UUID
	case "ulid", "ksuid", "xid":
		return datum.Text
	}
	return datum.Int8
}

// idBound is id_floor and id_ceil of a type.
func idBound(x *engine.Exec, name string, t time.Time, greatest bool, result datum.OID) (datum.Value, error) {
	_, gen, err := find(x, name)
	if err != nil {
		return datum.Value{}, err
	}
	_, codes := gen.(generator.CodeGenerator)
	if codes != (result != datum.Int8) && gen != nil {
		return datum.Value{}, sqlstate.New(sqlstate.FeatureNotSupported, "the ids of generator %q are not of type %s here", name, datum.FormatType(result, -1)).
			WithHint("Write its name as a literal in the statement, and prepare it again when the generator was dropped and created.")
	}
	if result != datum.Int8 {
		return codeBound(gen, name, t, greatest, result)
	}
	ex, ok := gen.(generator.Explainer)
	if gen != nil && !ok {
		return datum.Value{}, sqlstate.New(sqlstate.FeatureNotSupported, "the ids of generator %q hold no time", name).
			WithHint("They are plain numbers: parse_id(id, '%s') tells their place in the series.", name)
	}
	if ex == nil {
		l, err := layout.Preset(name)
		if err != nil {
			return datum.Value{}, generator.Errorf(generator.ErrUnknown, name,
				"Use the name of a generator, of a layout, or uuidv6, uuidv7, ulid, ksuid or xid, as a literal.",
				`generator "%s" does not exist`, sqlstate.Cut(name, 64))
		}
		ex = l
	}
	bound := ex.Floor
	if greatest {
		bound = ex.Ceil
	}
	id, err := bound(t)
	return datum.MakeInt8(id), err
}

// codeBound is idBound of ids that are no numbers. gen is nil for a format.
func codeBound(gen generator.Generator, name string, t time.Time, greatest bool, result datum.OID) (datum.Value, error) {
	var lo, hi string
	var err error
	format := strings.ToLower(name)
	switch b, ok := gen.(generator.CodeBounder); {
	case ok:
		lo, hi, err = b.Bounds(t)
	case result == datum.UUID:
		var least, most uuid.UUID
		least, most, err = uuid.Bounds(int(format[len(format)-1]-'0'), t)
		lo, hi = least.String(), most.String()
	default:
		lo, hi, err = uuid.TextBounds(format, t)
	}
	if err != nil {
		return datum.Value{}, err
	}
	if greatest {
		lo = hi
	}
	return datum.ParseText(result, lo, nil)
}
