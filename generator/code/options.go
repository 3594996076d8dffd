package code

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"nextid/generator"
)

const hint = "Options of codes: text (" + baseNames + "), case, prefix, pad, check, group, separator, alphabet, salt; and scatter (true, bit_reverse, a key, or {\"bits\": 40})."

func optionError(format string, args ...any) error {
	return generator.OptionError(hint, format, args...)
}

// options are the stored options of this package.
type options struct {
	Text    *Text    `json:"text,omitempty"`
	Scatter *scatter `json:"scatter,omitempty"`
}

// scatter is the option of that name. An empty Key makes the server create one.
type scatter struct {
	Bits    int    `json:"bits"`
	Key     string `json:"key,omitempty"`
	Reverse bool   `json:"bit_reverse,omitempty"` // without a key; see newReversal
}

// minKey is the least length of a key in bytes.
const minKey = 16

var ours = []string{"text", "case", "prefix", "pad", "check", "group", "separator", "alphabet", "salt", "scatter"}

// split separates the options of this package from those of the kind. It leaves what
// is not a JSON object to the kind, which returns the error.
func split(raw json.RawMessage) (own, rest json.RawMessage) {
	var all map[string]json.RawMessage
	if !mentioned(raw) || json.Unmarshal(raw, &all) != nil {
		return nil, raw
	}
	mine := map[string]json.RawMessage{}
	for _, name := range ours {
		if value, given := all[name]; given {
			mine[name] = value
			delete(all, name)
		}
	}
	if len(mine) == 0 {
		return nil, raw
	}
	own, _ = json.Marshal(mine) // cannot fail: the values are JSON
	rest, _ = json.Marshal(all)
	return own, rest
}

// mentioned reports whether a JSON text may contain an option of this package. It
// is fast, since most texts contain none and are read often.
func mentioned(raw json.RawMessage) bool {
	return bytes.IndexByte(raw, '\\') >= 0 || slices.ContainsFunc(ours, func(name string) bool {
		return bytes.Contains(raw, []byte(`"`+name+`"`))
	})
}

// join returns the stored form: the kind's options, then those of this package.
func join(kind json.RawMessage, o options) (json.RawMessage, error) {
	own, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	kind = bytes.TrimSpace(kind)
	switch {
	case string(own) == "{}":
		return kind, nil
	case len(kind) == 0 || string(kind) == "{}":
		return own, nil
	}
	return slices.Concat(kind[:len(kind)-1], []byte{','}, own[1:]), nil
}

// parse parses the options of this package as users write them. text is the name of
// a base, or an object with all options of the text form, as it is stored. bits is
// the number of bits of the kind's ids.
func parse(own json.RawMessage, bits int) (o options, err error) {
	var g struct {
		Text    json.RawMessage `json:"text"`
		Scatter json.RawMessage `json:"scatter"`
		textOptions
	}
	if err := generator.DecodeOptions(own, &g, hint); err != nil {
		return o, err
	}
	t := Text{Base: decimal}
	if !absent(g.Text) && json.Unmarshal(g.Text, &t.Base) != nil {
		if err := generator.DecodeOptions(g.Text, &t, hint); err != nil {
			return o, err
		}
		g.textOptions = t.textOptions
		if err := generator.DecodeOptions(own, &g, hint); err != nil { // options beside the object replace those in it
			return o, err
		}
	}
	if t.textOptions = g.textOptions; !absent(g.Text) || t.textOptions != (textOptions{}) {
		if o.Text = &t; t.Check == usual {
			t.Check = usualCheck(t.Base)
		}
		if t.Group > 0 && t.Separator == "" {
			t.Separator = "-"
		}
		if err := t.check(); err != nil {
			return o, err
		}
	}
	o.Scatter, err = parseScatter(g.Scatter, bits)
	return o, err
}

func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// bitReverse is the scatter without a key; see newReversal.
const bitReverse = "bit_reverse"

// parseScatter parses true, "bit_reverse", a key, or {"bits": …, "key": …}. Its
// errors do not contain the input, which may be a key.
func parseScatter(raw json.RawMessage, bits int) (*scatter, error) {
	s := &scatter{Bits: bits}
	var yes bool
	switch {
	case absent(raw):
		return nil, nil //nolint:nilnil // having no scatter is no error
	case json.Unmarshal(raw, &yes) == nil:
		if !yes {
			return nil, nil //nolint:nilnil // as above
		}
	case string(raw) == `"`+bitReverse+`"`:
		s.Reverse = true
	case json.Unmarshal(raw, &s.Key) == nil:
		if s.Key == "" {
			return nil, optionError("the key of scatter must have at least %d characters", minKey)
		}
	default:
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		if d.Decode(s) != nil {
			return nil, optionError("scatter must be true, bit_reverse, a key, or an object of bits and key")
		}
	}
	switch {
	case s.Reverse && s.Key != "":
		return nil, optionError("scatter with bit_reverse has no key")
	case s.Key != "" && len(s.Key) < minKey:
		return nil, optionError("the key of scatter must have at least %d characters", minKey)
	case s.Bits < minBits || s.Bits > maxBits:
		return nil, optionError("scatter needs %d to %d bits, not %d", minBits, maxBits, s.Bits)
	}
	return s, nil
}

// read decodes the options of this package in stored options. kind are the others.
func read(stored json.RawMessage) (o options, kind json.RawMessage, err error) {
	own, kind := split(stored)
	if own != nil {
		o, err = parse(own, maxBits)
	}
	if err != nil { // the cause is left out, since it may show a key
		return options{}, nil, generator.Errorf(generator.ErrRegressed, "", "", "the stored options of codes cannot be used")
	}
	return o, kind, nil
}

// String describes the scatter for messages and logs, without its key.
func (s scatter) String() string { return fmt.Sprintf("scatter of %d bits", s.Bits) }

// GoString returns String.
func (s scatter) GoString() string { return s.String() }
