package uuid

import (
	"context"
	"encoding/json"
	"time"

	"nextid/generator"
	"nextid/generator/kinds"
)

// Kinds returns the kinds whose ids are texts: UUID, ULID, KSUID, XID, NanoID, CUID2
// and TypeID. The UUIDs of all names are of one Source, so that their times rise over
// the names.
func Kinds(clock generator.Clock) []generator.Kind {
	const noOptions = "This kind has no options."
	none := func(*struct{}) error { return nil }
	source, xids := NewSource(clock), newXIDMaker(clock) // of all generators: ids rise on over an alter
	return []generator.Kind{
		kindOf(KindName, "Options: version (1, 1mc, 4, 6, 7, 8), form (standard, hex, base58, base62, guid, swapped), public. UUIDs of names are made by uuid_generate_v3 and uuid_generate_v5.", (*uuidOptions).check, func(g *Generator, o uuidOptions) {
			o.set(g, source)
		}),
		kindOf("ulid", noOptions, none, func(g *Generator, _ struct{}) {
			g.form.name = formULID
			g.make, g.explain = source.ULID, explainULID
		}),
		kindOf("ksuid", noOptions, none, func(g *Generator, _ struct{}) {
			g.make, g.explain = func() (string, error) { return newKSUID(clock) }, explainKSUID
		}),
		kindOf("xid", noOptions, none, func(g *Generator, _ struct{}) {
			g.make, g.explain = xids.make, explainXID
		}),
		kindOf("nanoid", "Options: size (21), alphabet. For short codes that never repeat take a segment with text and scatter.", (*nanoOptions).check, func(g *Generator, o nanoOptions) {
			g.make, g.explain = o.make, o.explain
		}),
		kindOf("cuid2", "Options: size (24).", (*cuidOptions).check, func(g *Generator, o cuidOptions) {
			g.make, g.explain = o.make, o.explain
		}),
		kindOf(formTypeID, "Options: prefix, public. TypeIDs are specified so: github.com/jetify-com/typeid, version 0.3.0.", (*typeOptions).check, func(g *Generator, o typeOptions) {
			o.set(g, source)
		}),
	}
}

// kind is a kind with options of type O.
type kind[O any] struct{ kinds.Base[O] }

// kindOf returns a kind of ids without the store. check also sets defaults. set sets
// the functions of a generator.
func kindOf[O any](name, hint string, check func(*O) error, set func(*Generator, O)) generator.Kind {
	return kind[O]{kinds.Base[O]{
		Called: name, Title: "a generator of kind " + name,
		Hint: hint, Check: check, Keep: keepKey[O],
		Make: func(of string, o O) (generator.Generator, error) {
			g := &Generator{name: of, kind: name}
			g.bounds = func(t time.Time) (string, string, error) { return TextBounds(name, t) }
			set(g, o)
			return g, nil
		},
	}}
}

// keepKey refuses another key of public.
func keepKey[O any](before, after *O) error {
	if had := keyOf(before).Key; had != "" && keyOf(after).Key != had {
		return generator.OptionError("Create another generator.", "the key of public cannot be changed: public UUIDs would lead to other rows")
	}
	return nil
}

func (kind[O]) Texts() {}

func (k kind[O]) Alter(stored, change json.RawMessage) (json.RawMessage, error) {
	altered, err := k.Base.Alter(stored, change)
	if err != nil {
		return nil, err
	}
	return k.complete(altered)
}

func (k kind[O]) Complete(_ context.Context, d generator.Definition) (json.RawMessage, error) {
	return k.complete(d.Options)
}

// complete creates the key for public => true.
func (k kind[O]) complete(options json.RawMessage) (json.RawMessage, error) {
	o, err := k.Read(options)
	if err != nil {
		return nil, err
	}
	keyOf(&o).complete()
	return json.Marshal(o)
}

// Public implements generator.Publisher. It leaves out the key.
func (k kind[O]) Public(stored json.RawMessage) json.RawMessage {
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

// Generator makes the ids of one name.
type Generator struct {
	name, kind string
	make       func() (string, error)
	explain    func(code string) (generator.Parts, bool)
	bounds     func(t time.Time) (least, greatest string, err error)
	uuid       func() UUID // of kind uuid, in the byte order of its form; nil for others
	form       Form        // of codes that stand for UUIDs; its name is "" for others
	public     public      // of UUIDs and TypeIDs
}

// Next implements generator.Generator. It fails: these ids are texts.
func (g *Generator) Next(context.Context, int64) (generator.Range, error) {
	return generator.Range{}, generator.Errorf(generator.ErrWrongKind, g.name, "Call next_code, or next_uuid for a UUID.",
		"generator %s is of kind %s, whose ids are no numbers", g.name, g.kind)
}

// NextCode implements generator.CodeGenerator.
func (g *Generator) NextCode(context.Context) (string, error) { return g.make() }

// UUIDs returns the function that makes the UUIDs of a generator, in the byte order of
// its form. It is nil for other kinds than uuid.
func UUIDs(g generator.Generator) func() UUID {
	if g, ok := g.(*Generator); ok {
		return g.uuid
	}
	return nil
}

// ExplainCode implements generator.CodeGenerator.
func (g *Generator) ExplainCode(code string) (generator.Parts, error) {
	p, ok := g.explain(code)
	if !ok {
		return p, generator.OptionError("Codes of generator "+g.name+" are made by next_code.", "%q is not an id of kind %s", clip(code), g.kind)
	}
	p.Kind = g.kind
	return p, nil
}

// Bounds implements generator.CodeBounder.
func (g *Generator) Bounds(t time.Time) (least, greatest string, err error) { return g.bounds(t) }

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
