package ids

import (
	"io"

	"nextid/generator"
	"nextid/generator/uuid"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

// codeLength returns how long a code can be: its prefix, digits, groups and check
// digits have limits.
func codeLength([]*engine.Expr) int32 { return 255 }

// codeFunctions convert ids to codes (texts) and draw codes.
var codeFunctions = []engine.Function{
	nextCodeFunction(),
	engine.Func("next_codes(name text, n int8:int4) text", engine.Volatile, "n new ids in their text form, one a row", engine.Set(nextCodes)),
	drawing("next_uuid(name text) uuid", "one new UUID from the generator", nextUUID),
	reading("parse_code(code text, name text) int8", "the id that a code of the generator stands for",
		func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
			coder, err := coder(x, a[1].Str)
			if err != nil {
				return datum.Value{}, err
			}
			id, err := coder.ParseCode(a[0].Str)
			return datum.MakeInt8(id), err
		}),
}

func nextCodeFunction() engine.Function {
	f := drawing("next_code(name text) text", "one new id of the generator in its text form", func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
		c, err := newCodes(x, a[0].Str)
		if err != nil {
			return datum.Value{}, err
		}
		return charged(x, c.entry, func() (datum.Value, error) { return c.draw(x) })
	})
	f.Length = codeLength
	return f
}

// codes draws the codes of one generator.
type codes struct {
	entry *generator.Entry
	own   generator.CodeGenerator // nil where the codes are numbers
	coder generator.Coder
	buf   []byte
}

func newCodes(x *engine.Exec, name string) (c codes, err error) {
	e, gen, err := opened(x, name, entry)
	if err != nil {
		return c, err
	}
	c.entry = e
	if own, ok := gen.(generator.CodeGenerator); ok {
		c.own = own
		return c, nil
	}
	c.coder, err = e.Coder(x.Ctx)
	return c, err
}

// draw draws a code that was charged.
func (c *codes) draw(x *engine.Exec) (datum.Value, error) {
	if c.own != nil {
		code, err := c.own.NextCode(x.Ctx)
		if err != nil {
			c.entry.NoteTrouble(err, x.Host.Now())
			return datum.Value{}, err
		}
		recordCode(x, c.entry, code)
		return datum.MakeText(code), nil
	}
	run, err := draw(x, c.entry, 1)
	if err != nil {
		return datum.Value{}, err
	}
	return c.text(run.First)
}

// text is the code of an id.
func (c *codes) text(id int64) (v datum.Value, err error) {
	c.buf, err = c.coder.AppendCode(c.buf[:0], id)
	return datum.MakeText(string(c.buf)), err
}

func nextCodes(x *engine.Exec, a []datum.Value) (engine.Rows, error) {
	if err := checkCount(x, a[1].Int); err != nil {
		return nil, err
	}
	c, err := newCodes(x, a[0].Str)
	if err != nil {
		return nil, err
	}
	row := make([]datum.Value, 1)
	if c.own == nil {
		run := &idRun{entry: c.entry, left: a[1].Int}
		return engine.ClosingRows{RowsFunc: func(x *engine.Exec) ([]datum.Value, error) {
			id, err := run.Next(x, 1)
			if err == nil {
				row[0], err = c.text(id.First)
			}
			return row, err
		}, OnClose: run.Close}, nil
	}
	if err := sessionOf(x).Charge(a[0].Str, a[1].Int); err != nil {
		return nil, err
	}
	left := a[1].Int
	return engine.RowsFunc(func(x *engine.Exec) ([]datum.Value, error) {
		if left == 0 {
			return nil, io.EOF
		}
		left--
		var err error
		if row[0], err = c.draw(x); err != nil {
			sessionOf(x).Refund(a[0].Str, left+1)
		}
		return row, err
	}), nil
}

func nextUUID(x *engine.Exec, a []datum.Value) (datum.Value, error) {
	e, gen, err := opened(x, a[0].Str, entry)
	if err != nil {
		return datum.Value{}, err
	}
	next := uuid.UUIDs(gen)
	if next == nil {
		return datum.Value{}, notUUIDs(a[0].Str)
	}
	u, err := charged(x, e, func() (uuid.UUID, error) { return next(), nil })
	if err == nil {
		recordCode(x, e, u.String())
	}
	return datum.MakeUUID(u), err
}

// coder returns the text form of a generator that exists.
func coder(x *engine.Exec, name string) (generator.Coder, error) {
	e, gen, err := opened(x, name, Known)
	if err != nil {
		return nil, err
	}
	if _, ok := gen.(generator.CodeGenerator); ok {
		return nil, sqlstate.New(sqlstate.FeatureNotSupported, "the codes of generator %q stand for no numbers", name).
			WithHint("parse_id(code, name) takes them apart.")
	}
	return e.Coder(x.Ctx)
}
