package uuid

import (
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"nextid/generator"
	"nextid/generator/code"
)

// Form is a text form of UUIDs. All codes of a form have the same length, and sort
// like their UUIDs.
type Form struct {
	name   string
	prefix string // prefix of a TypeID, with the underscore
}

// formTypeID is the form of generators of TypeIDs: after the prefix comes the UUID as a
// ULID in lower case (Crockford's base 32). TypeID's own library would add another
// UUID library for these few lines.
const formTypeID = "typeid"

// FormNames lists the names that FormOf accepts.
const FormNames = formStandard + ", " + formHex + ", " + formULID + ", " + formBase58 + ", " + formBase62

// FormOf returns the form of a name. It has no TypeIDs, whose prefix belongs to a
// generator.
func FormOf(name string) (Form, bool) {
	switch name {
	case formStandard, formHex, formULID, formBase58, formBase62:
		return Form{name: name}, true
	}
	return Form{}, false
}

// Numbers of digits in base 58 and 62. baseDigits digits hold 128 bits. A shorter
// text than leastDigits is not taken for a UUID.
const (
	baseDigits  = 22
	leastDigits = 16
)

// Code returns the text of a UUID.
func (f Form) Code(u UUID) string {
	switch f.name {
	case formHex:
		return hex.EncodeToString(u[:])
	case formULID:
		return ulid.ULID(u).String()
	case formTypeID:
		return f.prefix + strings.ToLower(ulid.ULID(u).String())
	case formBase58, formBase62:
		digits := code.Digits(f.name)
		var text [baseDigits]byte
		high, low := binary.BigEndian.Uint64(u[:8]), binary.BigEndian.Uint64(u[8:])
		for i := len(text) - 1; i >= 0; i-- {
			base := uint64(len(digits))
			var digit uint64
			low, digit = bits.Div64(high%base, low, base)
			high /= base
			text[i] = digits[digit]
		}
		return string(text[:])
	}
	return u.String()
}

// UUID parses a code. Leading zeros of base 58 and 62 may be missing, since other
// programs do not write them.
func (f Form) UUID(text string) (UUID, error) {
	var u UUID
	var ok bool
	switch f.name {
	case formULID:
		id, err := ulid.ParseStrict(text)
		u, ok = UUID(id), err == nil
	case formTypeID:
		if suffix, its := strings.CutPrefix(text, f.prefix); its {
			u, ok = typeSuffix(suffix)
		}
	case formBase58, formBase62:
		u, ok = parseBase(text, code.Digits(f.name))
	default:
		u, ok = Parse(text)
	}
	if ok {
		return u, nil
	}
	what := "a UUID"
	if f.name != formStandard {
		what += " in the form " + f.name
	}
	return u, generator.OptionError("Such a text looks like "+f.Code(URL.mark(7))+".", "%q is not %s", clip(text), what)
}

// parseBase parses digits of a base of at most 64. It reports false for numbers
// above 128 bits.
func parseBase(text, digits string) (u UUID, ok bool) {
	if len(text) < leastDigits || len(text) > baseDigits {
		return u, false
	}
	var high, low uint64
	for i := range len(text) {
		digit := strings.IndexByte(digits, text[i])
		over, product := bits.Mul64(high, uint64(len(digits)))
		carry, last := bits.Mul64(low, uint64(len(digits)))
		var more, lost uint64
		low, more = bits.Add64(last, uint64(max(digit, 0)), 0)
		high, lost = bits.Add64(product, carry, more)
		if digit < 0 || over+lost > 0 {
			return u, false
		}
	}
	binary.BigEndian.PutUint64(u[:8], high)
	binary.BigEndian.PutUint64(u[8:], low)
	return u, true
}

// ParseText parses a UUID in a form that the text itself shows: standard or hex, a
// ULID, or a TypeID with its prefix.
func ParseText(text string) (UUID, error) {
	if u, ok := Parse(text); ok {
		return u, nil
	}
	if id, err := ulid.ParseStrict(text); err == nil {
		return UUID(id), nil
	}
	if prefix, u, ok := parseType(text); ok && prefix != "" {
		return u, nil
	}
	return Nil, generator.OptionError("A code of base 58 or base 62 needs its form, or the name of its generator: code_uuid(code, 'base58').",
		"%q is no UUID, no TypeID with a prefix, and no ULID", clip(text))
}

// FormFor returns the form of a generator's codes. ok is false if they are not
// UUIDs. The byte orders guid and swapped are written in the standard form.
func FormFor(g generator.Generator) (f Form, ok bool) {
	if g, own := g.(*Generator); own {
		f = g.form
	}
	return f, f.name != ""
}

// typeOptions are the options of kind typeid.
type typeOptions struct {
	Prefix string `json:"prefix"`
	publicOption
}

func (o *typeOptions) check() error {
	if !typePrefix(o.Prefix) {
		return generator.WrongOption("prefix must be at most 63 letters a to z and, between them, underscores, not %q", o.Prefix[:min(len(o.Prefix), 64)])
	}
	return nil
}

// set sets the functions of a generator of TypeIDs.
func (o typeOptions) set(g *Generator, source *Source) {
	g.form, g.public = Form{name: formTypeID}, o.Public
	if o.Prefix != "" {
		g.form.prefix = o.Prefix + "_"
	}
	g.make = func() (string, error) { return g.form.Code(source.V7()), nil }
	g.explain = func(code string) (generator.Parts, bool) {
		u, err := g.form.UUID(code)
		return u.Explain(), err == nil
	}
	g.bounds = func(t time.Time) (least, greatest string, err error) {
		lo, hi, err := Bounds(7, t)
		return g.form.Code(lo), g.form.Code(hi), err
	}
}

// typePrefix reports whether a prefix is valid. "" is valid.
func typePrefix(s string) bool {
	return len(s) <= 63 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") == "" &&
		!strings.HasPrefix(s, "_") && !strings.HasSuffix(s, "_")
}

// explainType explains a TypeID with a prefix.
func explainType(code string) (p generator.Parts, ok bool) {
	prefix, u, ok := parseType(code)
	return u.Explain(), ok && prefix != ""
}

// parseType parses a TypeID.
func parseType(code string) (prefix string, u UUID, ok bool) {
	suffix := code
	if i := strings.LastIndexByte(code, '_'); i >= 0 {
		if prefix, suffix = code[:i], code[i+1:]; prefix == "" {
			return "", u, false
		}
	}
	u, ok = typeSuffix(suffix)
	return prefix, u, ok && typePrefix(prefix)
}

// typeSuffix parses the part after the prefix. Upper case is invalid.
func typeSuffix(s string) (u UUID, ok bool) {
	if strings.ToLower(s) != s {
		return u, false
	}
	id, err := ulid.ParseStrict(s)
	return UUID(id), err == nil
}
