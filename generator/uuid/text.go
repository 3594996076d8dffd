package uuid

import (
	"context"
	"encoding/json"

	"nextid/generator"
	"nextid/generator/kinds"
)

// TextKinds returns the kinds whose ids are texts: ULID, KSUID, XID, NanoID,
// CUID2 and TypeID.
func TextKinds(clock generator.Clock) []generator.Kind {
	none := func(*struct{}) error { return nil }
	source, xids := NewSource(clock), newXIDMaker(clock) // of all generators: ids rise on over an alter
	return []generator.Kind{
		textOf("ulid", "48 bits of milliseconds and 80 random ones; they rise on each server", none, func(g *TextGenerator, _ struct{}) {
			g.form.name = formULID
			g.make, g.explain = source.ULID, explainULID
		}),
		textOf("ksuid", "32 bits of seconds and 128 random ones, after Segment", none, func(g *TextGenerator, _ struct{}) {
			g.make, g.explain = func() (string, error) { return newKSUID(clock) }, explainKSUID
		}),
		textOf("xid", "seconds, process and counter, after MongoDB's ObjectId", none, func(g *TextGenerator, _ struct{}) {
			g.make, g.explain = xids.make, explainXID
		}),
		textOf("nanoid", "random letters of an alphabet", (*nanoOptions).check, func(g *TextGenerator, o nanoOptions) {
			g.make, g.explain = o.make, o.explain
		}),
		textOf("cuid2", "a random letter, and random letters and digits, as CUID2", (*cuidOptions).check, func(g *TextGenerator, o cuidOptions) {
			g.make, g.explain = o.make, o.explain
		}),
		textOf(formTypeID, "a prefix that names the type, and a UUID of version 7", (*typeOptions).check, func(g *TextGenerator, o typeOptions) {
			g.form, g.public = Form{name: formTypeID}, o.Public
			if o.Prefix != "" {
				g.form.prefix = o.Prefix + "_"
			}
			g.make = func() (string, error) { return g.form.Code(source.V7()), nil }
			g.explain = func(code string) (generator.Parts, bool) {
				u, err := g.form.UUID(code)
				return u.Explain(), err == nil
			}
		}),
	}
}

// textKind is a kind with options of type O.
type textKind[O any] struct{ kinds.Base[O] }

// keepKey refuses another key of public.
func keepKey[O any](before, after *O) error {
	if had := keyOf(before).Key; had != "" && keyOf(after).Key != had {
		return generator.OptionError("Create another generator.", "the key of public cannot be changed: public UUIDs would lead to other rows")
	}
	return nil
}

// newTextKind returns a kind of ids without the store. check also sets defaults.
func newTextKind[O any](name, help string, check func(*O) error, open func(name string, o O) generator.Generator) generator.Kind {
	return textKind[O]{kinds.Base[O]{
		Called: name, About: help, Title: "a generator of kind " + name,
		Hint: "The kind " + name + " makes " + help + "; docs/codes.md has its options.", Check: check, Keep: keepKey[O],
		Make: func(name string, o O) (generator.Generator, error) { return open(name, o), nil },
	}}
}

// textOf returns a kind of TextGenerators. set sets their functions.
func textOf[O any](kind, help string, check func(*O) error, set func(*TextGenerator, O)) generator.Kind {
	return newTextKind(kind, help, check, func(name string, o O) generator.Generator {
		g := &TextGenerator{name: name, kind: kind}
		set(g, o)
		return g
	})
}

func (textKind[O]) Texts() {}

func (k textKind[O]) Alter(stored, change json.RawMessage) (json.RawMessage, error) {
	altered, err := k.Base.Alter(stored, change)
	if err != nil {
		return nil, err
	}
	return k.complete(altered)
}

func (k textKind[O]) Complete(_ context.Context, d generator.Definition) (json.RawMessage, error) {
	return k.complete(d.Options)
}

// complete creates the key for public => true.
func (k textKind[O]) complete(options json.RawMessage) (json.RawMessage, error) {
	o, err := k.Read(options)
	if err != nil {
		return nil, err
	}
	keyOf(&o).complete()
	return json.Marshal(o)
}

// Public implements generator.Publisher. It leaves out the key.
func (k textKind[O]) Public(stored json.RawMessage) json.RawMessage {
	o, err := k.Read(stored)
	if err == nil {
		keyOf(&o).Key = ""
		stored, err = json.Marshal(o)
	}
	if err != nil {
		return json.RawMessage("{}") // shows no key in any case
	}
	return stored
}

// TextGenerator makes the ids of one name.
type TextGenerator struct {
	name, kind string
	make       func() (string, error)
	explain    func(code string) (generator.Parts, bool)
	form       Form   // of TypeIDs and ULIDs; its name is "" for others
	public     public // of TypeIDs
}

// Next implements generator.Generator. It fails: these ids are texts.
func (g *TextGenerator) Next(context.Context, int64) (generator.Range, error) {
	return generator.Range{}, generator.Errorf(generator.ErrWrongKind, g.name, "Call next_code.",
		"generator %s is of kind %s, whose ids are no numbers", g.name, g.kind)
}

// NextCode implements generator.CodeGenerator.
func (g *TextGenerator) NextCode(context.Context) (string, error) { return g.make() }

// ExplainCode implements generator.CodeGenerator.
func (g *TextGenerator) ExplainCode(code string) (generator.Parts, error) {
	p, ok := g.explain(code)
	if !ok {
		return p, generator.OptionError("Codes of generator "+g.name+" are made by next_code.", "%q is not an id of kind %s", code[:min(len(code), 64)], g.kind)
	}
	p.Kind = g.kind
	return p, nil
}

// ExplainText explains a text whose form shows its kind: a TypeID with a prefix, a
// ULID, a KSUID, an XID, or an id of foreign.go.
func ExplainText(code string) (generator.Parts, bool) {
	for _, k := range []struct {
		kind    string
		explain func(string) (generator.Parts, bool)
	}{
		{"typeid", explainType},
		{"ulid", explainULID},
		{"ksuid", explainKSUID},
		{"xid", explainXID},
		{"objectid", explainObjectID},
		{"tid", explainTID},
		{"cuid2", explainCUID2},
	} {
		if p, ok := k.explain(code); ok {
			p.Kind = k.kind
			return p, true
		}
	}
	return generator.Parts{}, false
}
