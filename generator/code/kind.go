// Package code adds two features to kinds whose ids are numbers: a text form and
// scatter. The kinds do not know of them.
//
// A text form (type Text) writes an id in a base and reads it back. It may have a
// prefix, padding, a check digit and separators. Scatter permutes the ids 0 …
// 2^bits-1 by a secret key (type permutation). Scattered ids stay unique, and show
// neither their number nor their order.
//
// WrapAll adds the options of both to kinds:
//
//	create_generator('orders', 'segment', '{"text":"base32","prefix":"ORD-","check":true,"scatter":{"bits":40}}')
//
// Stored text forms, keys and permutations never change: an id or a code would get
// another meaning, and could appear twice.
package code

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"
	"time"

	"nextid/generator"
	"nextid/generator/kinds"
)

// WrapAll calls Wrap for several kinds.
func WrapAll(store generator.Reserver, kinds ...generator.Kind) []generator.Kind {
	for i, k := range kinds {
		kinds[i] = Wrap(k, store)
	}
	return kinds
}

// Wrap adds text forms and scatter to a kind whose ids are numbers. Without their
// options it changes neither generators nor stored options.
func Wrap(k generator.Kind, store generator.Reserver) generator.Kind { return wrapped{k, store} }

// wrapped is a Kind with the options of this package. Other optional interfaces are
// those of the Kind inside; see generator.KindAs.
type wrapped struct {
	generator.Kind
	store generator.Reserver
}

// Unwrap returns the Kind without the options of this package.
func (w wrapped) Unwrap() generator.Kind { return w.Kind }

func (w wrapped) Normalize(raw json.RawMessage) (json.RawMessage, error) {
	own, rest := split(raw)
	kind, err := w.Kind.Normalize(rest)
	if err != nil || own == nil {
		return kind, err
	}
	bits := maxBits
	shaped, fixed := generator.KindAs[generator.Shaped](w.Kind)
	if fixed {
		s, err := shaped.Shape(kind)
		if err != nil {
			return nil, err
		}
		bits = s.Bits
	}
	o, err := parse(own, bits)
	if err != nil {
		return nil, err
	}
	if o.Scatter != nil && fixed && o.Scatter.Bits < bits {
		return nil, optionError("the ids of this generator have %d bits, and scatter was given %d", bits, o.Scatter.Bits)
	}
	return join(kind, o)
}

// Alter implements generator.Kind. It can add a text form. It changes no other
// option of this package: another text form or permutation could make a code or an
// id appear again.
func (w wrapped) Alter(stored, change json.RawMessage) (json.RawMessage, error) {
	own, rest := split(change)
	o, kind, err := read(stored)
	if err != nil {
		return nil, err
	}
	if own != nil {
		more, err := parse(own, maxBits)
		switch {
		case err != nil:
			return nil, err
		case more.Scatter != nil:
			return nil, optionError("scatter cannot be changed: an id could appear twice")
		case o.Text != nil:
			return nil, optionError("the text form of a generator cannot be changed: a code could appear twice")
		case more.Text != nil && !more.Text.unlikeNumbers():
			return nil, optionError("a generator that had decimal codes can only get a text form with a prefix that begins with no digit")
		}
		o.Text = more.Text
	}
	if kind, err = w.Kind.Alter(kind, rest); err != nil {
		return nil, err
	}
	return join(kind, o)
}

// Complete implements generator.Completer. It makes the key for scatter => true.
func (w wrapped) Complete(ctx context.Context, d generator.Definition) (json.RawMessage, error) {
	o, inner, err := w.definition(d)
	if err != nil {
		return nil, err
	}
	if c, ok := generator.KindAs[generator.Completer](w.Kind); ok {
		if inner.Options, err = c.Complete(ctx, inner); err != nil {
			return nil, err
		}
	}
	if o.Scatter != nil {
		// Continuing above the numbers of an earlier generator would not help, since
		// scattered numbers have no order.
		if m, _, err := w.store.Mark(ctx, generator.NameKey(d.Name)); err != nil {
			return nil, err
		} else if m.Hi > 0 {
			return nil, generator.OptionError("Use another name.", "a generator of this name was dropped, and scatter could make its numbers again")
		}
		if o.Scatter.Key == "" && !o.Scatter.Reverse {
			var key [16]byte
			_, _ = rand.Read(key[:]) // does not fail
			o.Scatter.Key = hex.EncodeToString(key[:])
		}
	}
	return join(inner.Options, o)
}

// Public implements generator.Publisher. It leaves out the key and the salt.
func (w wrapped) Public(stored json.RawMessage) json.RawMessage {
	o, kind, err := read(stored)
	if err != nil {
		return json.RawMessage("{}") // shows no key in any case
	}
	if p, ok := generator.KindAs[generator.Publisher](w.Kind); ok {
		kind = p.Public(kind)
	}
	if o.Scatter != nil {
		o.Scatter = &scatter{Bits: o.Scatter.Bits, Reverse: o.Scatter.Reverse}
	}
	if o.Text != nil && o.Text.Salt != "" {
		shown := *o.Text
		shown.Salt = ""
		o.Text = &shown
	}
	shown, err := join(kind, o)
	if err != nil {
		return json.RawMessage("{}")
	}
	return shown
}

func (w wrapped) Coder(stored json.RawMessage) (generator.Coder, error) {
	o, _, err := read(stored)
	if err != nil {
		return nil, err
	}
	if o.Text != nil {
		return o.Text, nil
	}
	if c, ok := generator.KindAs[generator.CoderKind](w.Kind); ok {
		return c.Coder(stored)
	}
	return nil, nil //nolint:nilnil // having no text form is no error
}

// ExplainStored implements generator.StoredExplainer. The numbers of a Kind that is
// none have a sequence only.
func (w wrapped) ExplainStored(stored json.RawMessage, id string) (generator.Parts, error) {
	o, kind, err := read(stored)
	if err != nil {
		return generator.Parts{}, err
	}
	n, err := o.number(id)
	if err != nil {
		return generator.Parts{}, err
	}
	if k, ok := generator.KindAs[generator.StoredExplainer](w.Kind); ok {
		return k.ExplainStored(kind, strconv.FormatInt(n, 10))
	}
	return generator.Parts{Kind: w.Name(), Sequence: &n}, nil
}

// number returns the number that the kind made for an id or a code. The digits of an id
// may be a code by chance, mostly of a number that Scatter never gives.
func (o options) number(id string) (int64, error) {
	n, err := generator.ParseNumber(id)
	if o.Text != nil {
		if v, wrong := o.Text.ParseCode(id); err != nil || wrong == nil && o.gives(v) {
			n, err = v, wrong
		}
	}
	switch {
	case err != nil || o.Scatter == nil:
		return n, err
	case !o.gives(n):
		return 0, optionError("%d has more bits than the ids of this generator", n)
	}
	return o.Scatter.permutation().Unscatter(n), nil
}

// gives reports whether n can be an id by its bits.
func (o options) gives(n int64) bool { return o.Scatter == nil || o.Scatter.permutation().Holds(n) }

func (w wrapped) Open(ctx context.Context, d generator.Definition) (generator.Generator, error) {
	o, inner, err := w.definition(d)
	if err != nil {
		return nil, err
	}
	gen, err := w.Kind.Open(ctx, inner)
	if err != nil || o.Scatter == nil {
		return gen, err
	}
	s := &scattered{gen: gen, name: d.Name, kind: d.Kind, p: o.Scatter.permutation()}
	s.try, _ = gen.(generator.TryGenerator)
	s.explainer, _ = gen.(generator.Explainer)
	return s, nil
}

// permutation returns the permutation of the option.
func (s *scatter) permutation() *permutation {
	if s.Reverse {
		return newReversal(s.Bits)
	}
	return newPermutation(s.Key, s.Bits)
}

// definition splits the options of this package off a definition.
func (w wrapped) definition(d generator.Definition) (options, generator.Definition, error) {
	o, kind, err := read(d.Options)
	d.Options = kind
	return o, d, err
}

// Retire implements generator.Retirer. If numbers were issued, it moves the name
// above every id that scatter may have made of them.
func (w wrapped) Retire(ctx context.Context, d generator.Definition) error {
	o, inner, err := w.definition(d)
	if err != nil {
		return err
	}
	if r, ok := generator.KindAs[generator.Retirer](w.Kind); ok {
		if err := r.Retire(ctx, inner); err != nil {
			return err
		}
	}
	if o.Scatter == nil {
		return nil
	}
	m, _, err := w.store.Mark(ctx, generator.NameKey(d.Name))
	if greatest := min(int64(1)<<o.Scatter.Bits-1, math.MaxInt64-2); err == nil && m.Hi > 0 && m.Hi <= greatest {
		err = kinds.Bury(ctx, w.store, d.Name, greatest)
	}
	return err
}

// scattered is a generator whose ids a permutation replaces. They have no order. So
// it cannot be raised, and has no bounds for times.
type scattered struct {
	gen       generator.Generator
	try       generator.TryGenerator // gen if it implements the interface, else nil
	explainer generator.Explainer    // likewise
	name      string
	kind      string
	p         *permutation
}

// TryNext implements generator.TryGenerator. Runs have one id.
func (s *scattered) TryNext(int64) (generator.Range, bool) {
	if s.try == nil {
		return generator.Range{}, false
	}
	r, ok := s.try.TryNext(1)
	if !ok || !s.p.Holds(r.First) {
		return generator.Range{}, false
	}
	r.First = s.p.Scatter(r.First)
	return r, true
}

// Next implements generator.Generator. Runs have one id.
func (s *scattered) Next(ctx context.Context, _ int64) (generator.Range, error) {
	r, err := s.gen.Next(ctx, 1)
	if err != nil {
		return r, err
	}
	if !s.p.Holds(r.First) {
		return generator.Range{}, s.errFull()
	}
	r.First = s.p.Scatter(r.First)
	return r, nil
}

// errFull returns the error of a generator whose numbers have more bits than its
// scatter.
func (s *scattered) errFull() error {
	return generator.Errorf(generator.ErrExhausted, s.name, "Create a generator with another name and more bits, and move to it.",
		"generator %s has used up the bits of its scatter", s.name)
}

func (s *scattered) Ends() bool {
	all, ok := s.gen.(generator.AllGenerator)
	return ok && all.Ends()
}

func (s *scattered) NextAll(ctx context.Context, n int64) ([]generator.Range, error) {
	runs, err := s.gen.(generator.AllGenerator).NextAll(ctx, n)
	if err == nil && !s.p.Holds(runs[len(runs)-1].Last()) {
		s.GiveBack(runs)
		return nil, generator.FewError(s.name, n, s.errFull())
	}
	return runs, err
}

func (s *scattered) GiveBack(runs []generator.Range) { s.gen.(generator.AllGenerator).GiveBack(runs) }

// Convert implements generator.Converter. Runs have one id.
func (s *scattered) Convert(run generator.Range) generator.Range {
	return generator.Range{First: s.p.Scatter(run.First), Step: 1, Count: 1}
}

func (s *scattered) Explain(id int64) (generator.Parts, error) {
	if !s.p.Holds(id) {
		return generator.Parts{}, optionError("%d is not an id of generator %s: it has too many bits", id, s.name)
	}
	number := s.p.Unscatter(id)
	if s.explainer != nil {
		return s.explainer.Explain(number)
	}
	return generator.Parts{Kind: s.kind, Sequence: &number}, nil
}

// Place implements generator.Placer. It returns the place of the number before
// scatter.
func (s *scattered) Place(id int64) generator.Place {
	if p, ok := s.gen.(generator.Placer); ok && s.p.Holds(id) {
		return p.Place(s.p.Unscatter(id))
	}
	return generator.Place{}
}

// unordered returns the error for bounds in time.
func (s *scattered) unordered() error {
	return generator.Errorf(generator.ErrWrongKind, s.name, "Keep a column with the time, or use a generator without scatter.",
		"the ids of generator %s are scattered and do not follow time", s.name)
}

func (s *scattered) Floor(time.Time) (int64, error) { return 0, s.unordered() }

func (s *scattered) Ceil(time.Time) (int64, error) { return 0, s.unordered() }

func (s *scattered) Stats() generator.Stats {
	if r, ok := s.gen.(generator.Reporter); ok {
		return r.Stats()
	}
	return generator.Stats{}
}

func (s *scattered) Close(ctx context.Context) error {
	if c, ok := s.gen.(generator.Closer); ok {
		return c.Close(ctx)
	}
	return nil
}

// Unwrap returns the generator before scatter.
func (s *scattered) Unwrap() generator.Generator { return s.gen }
