package uuid

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"nextid/generator"
)

// KindName is the name of the kind of UUIDs.
const KindName = "uuid"

// Forms of the UUIDs of a generator.
const (
	formStandard = "standard" // the order of RFC 9562
	formHex      = "hex"      // standard without dashes
	formBase58   = "base58"   // 22 digits of Bitcoin's alphabet
	formBase62   = "base62"   // 22 digits, 0-9 A-Z a-z
	formULID     = "ulid"     // the ULID of the same bytes; no generator of this kind has it
	formGUID     = "guid"     // byte order of Microsoft's structure: see UUID.GUID
	formSwapped  = "swapped"  // byte order of MySQL's UUID_TO_BIN(u, 1): see UUID.Swapped
)

// makers are the versions that need only the time and random bits. Versions 3 and
// 5, which need names, are SQL functions.
var makers = map[version]func(*Source) UUID{
	"1": (*Source).V1, "1mc": (*Source).V1MC, "4": (*Source).V4, "6": (*Source).V6, "7": (*Source).V7, "8": (*Source).V8,
}

// uuidOptions are the options of kind uuid.
type uuidOptions struct {
	Version version `json:"version"`
	Form    string  `json:"form"`
	publicOption
}

// version is written 7, "7" or "v7" in JSON.
type version string

func (v *version) UnmarshalJSON(b []byte) error {
	text := string(b)
	if text == "null" { // keeps the value
		return nil
	}
	_ = json.Unmarshal(b, &text) // not a string: a number
	*v = version(strings.TrimPrefix(strings.ToLower(text), "v"))
	return nil
}

func (o *uuidOptions) check() error {
	o.Version, o.Form = cmp.Or(o.Version, "7"), cmp.Or(o.Form, formStandard)
	_, known := FormOf(o.Form)
	switch {
	case makers[o.Version] == nil:
		return generator.WrongOption("there are no generators of UUID version %q", o.Version)
	case o.Form == formULID || !known && o.Form != formGUID && o.Form != formSwapped:
		return generator.WrongOption("form must be standard, hex, base58, base62, guid or swapped, not %q", o.Form)
	case o.Form == formSwapped && o.Version != "1" && o.Version != "1mc":
		return generator.OptionError("MySQL's swapped form is for version 1. Versions 6 and 7 rise with time as they are.", "form swapped does not go with version %s", o.Version)
	case o.Public.On && (o.Version != "7" || o.Form == formGUID):
		return generator.OptionError("Make the UUIDs of version 7 with the form standard, hex, base58 or base62.", "public needs UUIDs of version 7 in their order")
	}
	return nil
}

// set sets the functions of a generator of UUIDs.
func (o uuidOptions) set(g *Generator, source *Source) {
	g.form, g.public = Form{name: o.Form}, o.Public
	maker, reordered := makers[o.Version], false
	to, from := func(u UUID) UUID { return u }, func(u UUID) UUID { return u } // to the bytes of the form, and back
	switch o.Form {
	case formGUID:
		g.form.name, reordered, to, from = formStandard, true, UUID.GUID, UUID.GUID
	case formSwapped:
		g.form.name, reordered, to, from = formStandard, true, UUID.Swapped, UUID.Unswapped
	}
	g.uuid = func() UUID { return to(maker(source)) }
	g.make = func() (string, error) { return g.form.Code(g.uuid()), nil }
	g.explain = func(code string) (generator.Parts, bool) {
		u, err := g.form.UUID(code)
		u = from(u)
		p := u.Explain()
		if o.Version == "8" && u.Version() == 8 {
			p.Time = new(u.time8())
		}
		return p, err == nil
	}
	g.bounds = func(t time.Time) (least, greatest string, err error) { // in the standard form, whatever that of the codes
		if reordered {
			return "", "", generator.Errorf(generator.ErrWrongKind, g.name, "Keep the time in a column of its own.",
				"UUIDs of the form %s are not in the order of time", o.Form)
		}
		lo, hi, err := Bounds(int(o.Version[0]-'0'), t)
		return lo.String(), hi.String(), err
	}
}

func clip(s string) string { return s[:min(len(s), 64)] }

// Parse parses a UUID of 32 hexadecimal digits. It may have dashes in the usual
// places, and may be in braces or after "urn:uuid:".
func Parse(s string) (UUID, bool) {
	if len(s) > len("urn:uuid:") && strings.EqualFold(s[:len("urn:uuid:")], "urn:uuid:") {
		s = s[len("urn:uuid:"):]
	} else if len(s) > 2 && s[0] == '{' && s[len(s)-1] == '}' {
		s = s[1 : len(s)-1]
	}
	var u UUID
	if len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' {
		s = s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:]
	}
	if len(s) != 2*len(u) {
		return u, false
	}
	_, err := hex.Decode(u[:], []byte(s))
	return u, err == nil
}

// Explain returns the parts of a UUID.
func (u UUID) Explain() generator.Parts {
	p := generator.Parts{Kind: KindName}
	if !u.Standard() {
		return p
	}
	p.Layout = "uuidv" + string('0'+byte(u.Version()))
	if t, ok := u.Time(); ok {
		p.Time = new(t.Truncate(time.Microsecond))
	}
	if sequence, node, ok := u.Sequence(); ok {
		p.Sequence, p.Worker = &sequence, &node
	}
	if u.Version() == 2 {
		u.explainDCE(&p)
	}
	return p
}

// explainDCE explains version 2 of DCE 1.1. It is version 1 with the lowest 32 bits
// of the time replaced by the id of a user or a group (Field). The low eight bits
// of the clock sequence are its domain (Datacenter: 0 person, 1 group, 2
// organization). The remaining bits of the time count steps of seven minutes.
func (u UUID) explainDCE(p *generator.Parts) {
	one := u.mark(1)
	clear(one[:4])
	at, _ := one.Time()
	sequence, node, _ := one.Sequence()
	p.Time, p.Sequence, p.Worker = new(at.Truncate(time.Microsecond)), new(sequence>>8), &node
	p.Field, p.Datacenter = new(bigEndian(u[:4])), new(int64(u[9]))
}

// V8 returns a UUID of version 8 as in RFC 9562, appendix B.1: 60 bits of Unix time
// in units of 10 ns, and 62 random bits. Each is greater than the one before on
// this server.
func (s *Source) V8() UUID {
	u := joined(uint64(s.time8()), 0)
	fillRandom(u[8:])
	return u.mark(8)
}

// tick8 is the unit of V8's time in ns.
const tick8 = 10

// time8 returns the present in units of tick8, greater than all earlier results.
func (s *Source) time8() int64 { return rising(&s.last8, s.clock.Wall()/tick8, 1) }

// time8 returns the time of a UUID that Source.V8 made.
func (u UUID) time8() time.Time {
	high, _ := u.halves()
	t := int64(high)
	return time.Unix(t/(1e9/tick8), t%(1e9/tick8)*tick8).UTC()
}
