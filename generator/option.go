package generator

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
)

// sharedOptions are the options that package code adds to kinds of numbers.
var sharedOptions = []string{"text", "prefix", "pad", "check", "group", "separator", "alphabet", "salt", "scatter"}

// OptionError returns an ErrOption with a message and a hint.
func OptionError(hint, format string, args ...any) error {
	return Errorf(ErrOption, "", hint, format, args...)
}

// WrongOption returns an ErrOption without a hint. Package kinds adds that of the kind.
func WrongOption(format string, args ...any) error { return OptionError("", format, args...) }

// Within returns an ErrOption unless the option v lies within its bounds.
func Within[N cmp.Ordered](option string, v, least, most N) error {
	if v >= least && v <= most { // not true of NaN
		return nil
	}
	return WrongOption("%s must be between %v and %v, not %v", option, least, most, v)
}

// OneOf returns an ErrOption unless the option v has one of its values.
func OneOf(option, v string, values ...string) error {
	if slices.Contains(values, v) {
		return nil
	}
	return WrongOption("%s must be one of %s, not %q", option, strings.Join(values, ", "), v)
}

// DecodeOptions decodes a JSON object into the struct that into points to. Unknown
// options and values of a wrong type are ErrOption with this hint. Empty input is
// an empty object.
func DecodeOptions(raw json.RawMessage, into any, hint string) error {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			return OptionError(hint, "the options are more than one JSON object")
		}
		return nil
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return OptionError(hint, "the options must be a JSON object, not a JSON %s", wrong.Value)
		}
		name := wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:] // before it are embedded structs, which JSON does not show
		return OptionError(hint, "option %s must be %s, not a JSON %s", name, describe(wrong.Type), wrong.Value)
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return OptionError(hint, "unknown option %s%s", name, DidYouMean(strings.Trim(name, `"`), slices.Concat(optionNames(reflect.TypeOf(into)), sharedOptions)))
	}
	return OptionError(hint, "options: %s", strings.TrimPrefix(err.Error(), "json: "))
}

func describe(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a text"
	case reflect.Float64:
		return "a number"
	default:
		return "a whole number"
	}
}

// Duration is a duration in JSON: "5ms". A number is milliseconds.
type Duration time.Duration

// String writes the duration as time.Duration does.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalJSON implements json.Marshaler.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON implements json.Unmarshaler.
func (d *Duration) UnmarshalJSON(b []byte) error {
	if string(b) == "null" { // keeps the value
		return nil
	}
	text := string(b)
	var s string
	if json.Unmarshal(b, &s) == nil {
		text = s
	} else {
		text += "ms"
	}
	v, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("a duration is written \"5ms\", not %s", b)
	}
	*d = Duration(v)
	return nil
}

// Instant is a time in JSON with a precision of milliseconds. It reads RFC 3339, a
// date, or a number of Unix milliseconds.
type Instant time.Time

// instantForm is the form in which Instant is written.
const instantForm = "2006-01-02T15:04:05.000Z"

// String writes the instant in UTC.
func (i Instant) String() string { return time.Time(i).UTC().Format(instantForm) }

// MarshalJSON implements json.Marshaler.
func (i Instant) MarshalJSON() ([]byte, error) { return json.Marshal(i.String()) }

// UnmarshalJSON implements json.Unmarshaler.
func (i *Instant) UnmarshalJSON(b []byte) error {
	if string(b) == "null" { // keeps the value
		return nil
	}
	var ms int64
	if json.Unmarshal(b, &ms) == nil {
		*i = Instant(time.UnixMilli(ms).UTC())
		return nil
	}
	var s string
	if json.Unmarshal(b, &s) == nil {
		for _, form := range []string{time.RFC3339Nano, time.DateTime, time.DateOnly} {
			if v, err := time.Parse(form, s); err == nil {
				*i = Instant(v.UTC())
				return nil
			}
		}
	}
	return fmt.Errorf("a time is written \"2024-01-01T00:00:00Z\", or in Unix milliseconds, not %s", b)
}

// maxDescription is the greatest length of the option description in bytes, as in
// Leaf's table.
const maxDescription = 256

// CheckDescription returns ErrOption for a description that is too long or contains
// control characters.
func CheckDescription(text string) error {
	const hint = "A description is one line of text for operators."
	if len(text) > maxDescription {
		return OptionError(hint, "the description has %d bytes, more than %d", len(text), maxDescription)
	}
	if strings.ContainsFunc(text, unicode.IsControl) {
		return OptionError(hint, "the description contains control characters")
	}
	return nil
}
