package sqlfuncs

import (
	"context"
	"io"

	"nextid/generator"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// codeFunctions are ids as texts.
var codeFunctions = []function{
	{
		name: "next_code", schema: nextidSchema, args: nameArg, result: datum.Text, volatile: isVolatile,
		help: "one new id of the generator in its text form",
		eval: func(x *exec, a []datum.Value) (datum.Value, error) {
			c, err := x.newCodes(a[0].Str)
			if err != nil {
				return datum.Value{}, err
			}
			return c.draw(x)
		},
	},
	{
		name: "next_codes", schema: nextidSchema, args: countArgs,
		result: datum.Text, set: true, volatile: isVolatile, help: "n new ids in their text form, one a row",
		rows: nextCodes,
	},
	{
		name: "next_uuid", schema: nextidSchema, args: nameArg, result: datum.UUID, volatile: isVolatile,
		help: "one new UUID from the generator", eval: nextUUID,
	},
	{
		name: "to_code", schema: nextidSchema, result: datum.Text, volatile: stable, help: "the text form of an id of the generator",
		args: []argument{{name: "id", typ: datum.Int8}, {name: "name", typ: datum.Text}},
		eval: func(x *exec, a []datum.Value) (datum.Value, error) {
			coder, err := x.coder(a[1].Str)
			if err != nil {
				return datum.Value{}, err
			}
			b, err := coder.AppendCode(nil, a[0].Int)
			return datum.MakeText(string(b)), err
		},
	},
	{
		name: "parse_code", schema: nextidSchema, result: datum.Int8, volatile: stable, help: "the id that a code of the generator stands for",
		args: []argument{{name: "code", typ: datum.Text}, {name: "name", typ: datum.Text}},
		eval: func(x *exec, a []datum.Value) (datum.Value, error) {
			coder, err := x.coder(a[1].Str)
			if err != nil {
				return datum.Value{}, err
			}
			id, err := coder.ParseCode(a[0].Str)
			return datum.MakeInt8(id), err
		},
	},
}

// codes draws the codes of one generator.
type codes struct {
	entry *generator.Entry
	own   generator.CodeGenerator // nil where the codes are numbers
	coder generator.Coder
	buf   []byte
}

func (x *exec) newCodes(name string) (*codes, error) {
	e, err := x.entry(name)
	if err != nil {
		return nil, err
	}
	if e.Running() == nil {
		sessionOf(x).waits()
	}
	gen, err := e.Generator(x.ctx)
	if err != nil {
		return nil, err
	}
	c := &codes{entry: e}
	if own, ok := gen.(generator.CodeGenerator); ok {
		c.own = own
		return c, nil
	}
	c.coder, err = e.Coder(x.ctx)
	return c, err
}

func (c *codes) draw(x *exec) (datum.Value, error) {
	if c.own != nil {
		code, err := c.own.NextCode(x.ctx)
		return datum.MakeText(code), err
	}
	id, err := x.nextID(c.entry)
	if err != nil {
		return datum.Value{}, err
	}
	c.buf, err = c.coder.AppendCode(c.buf[:0], id)
	return datum.MakeText(string(c.buf)), err
}

func nextCodes(x *exec, a []datum.Value) (rowIter, error) {
	if err := checkCount(x, a[1].Int); err != nil {
		return nil, err
	}
	c, err := x.newCodes(a[0].Str)
	if err != nil {
		return nil, err
	}
	left, row := a[1].Int, make([]datum.Value, 1)
	return funcRows(func(x *exec) ([]datum.Value, error) {
		if left == 0 {
			return nil, io.EOF
		}
		left--
		var err error
		row[0], err = c.draw(x)
		return row, err
	}), nil
}

// uuidGenerator is a generator of the kind uuid.
type uuidGenerator interface {
	NextUUID(ctx context.Context) ([16]byte, error)
}

func nextUUID(x *exec, a []datum.Value) (datum.Value, error) {
	e, err := x.entry(a[0].Str)
	if err != nil {
		return datum.Value{}, err
	}
	sessionOf(x).waits()
	gen, err := e.Generator(x.ctx)
	if err != nil {
		return datum.Value{}, err
	}
	g, ok := gen.(uuidGenerator)
	if !ok {
		return datum.Value{}, sqlstate.New(sqlstate.FeatureNotSupported, "the ids of generator %q are no UUIDs", a[0].Str).
			WithHint("Create one of kind uuid, or use next_id or next_code.")
	}
	u, err := g.NextUUID(x.ctx)
	return datum.MakeUUID(u), err
}

// coder returns the text form of a generator that exists.
func (x *exec) coder(name string) (generator.Coder, error) {
	e, err := x.registry().Existing(x.ctx, name)
	if err != nil {
		return nil, err
	}
	gen, err := e.Generator(x.ctx)
	if err != nil {
		return nil, err
	}
	if _, ok := gen.(generator.CodeGenerator); ok {
		return nil, sqlstate.New(sqlstate.FeatureNotSupported, "the codes of generator %q stand for no numbers", name).
			WithHint("parse_id(code, name) takes them apart.")
	}
	return e.Coder(x.ctx)
}

// explainCode takes apart what a generator's next_code gave. done is false
// where the text is to be read without the generator: there is none of that
// name.
func (x *exec) explainCode(code, name string) (p generator.Parts, done bool, err error) {
	gen, err := x.existing(name)
	if gen == nil || err != nil {
		return p, false, err
	}
	if own, ok := gen.(generator.CodeGenerator); ok {
		p, err = own.ExplainCode(code)
		return p, true, err
	}
	coder, err := x.coder(name)
	if err != nil {
		return p, true, err
	}
	id, err := coder.ParseCode(code)
	if err != nil {
		return p, true, err
	}
	if ex, ok := gen.(generator.Explainer); ok {
		p, err = ex.Explain(id)
		return p, true, err
	}
	e, err := x.registry().Existing(x.ctx, name)
	if err != nil {
		return p, true, err
	}
	d, err := e.Definition(x.ctx)
	return generator.Parts{Kind: d.Kind, Sequence: &id}, true, err
}
