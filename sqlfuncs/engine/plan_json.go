package engine

import (
	"encoding/json"
	"iter"
	"strings"

	"nextid/sqlfuncs/datum"
)

// jsonOperator plans -> and ->> on json and jsonb (9.16): a member of an object by
// its key, or an element of an array by its number, as JSON or as text.
func (p *Planner) jsonOperator(op string, l, r *Expr) (*Expr, error) {
	if l.Type == datum.Unknown && r.Type == datum.Unknown {
		return nil, ambiguousOperator(op)
	}
	if l.Type != datum.JSON && l.Type != datum.JSONB {
		return nil, noOperator(op, l, r)
	}
	want := datum.Text
	if r.Type == datum.Int2 || r.Type == datum.Int4 {
		want = datum.Int4
	}
	key, err := p.Coerce(r, want, datum.ImplicitCast)
	if err != nil {
		return nil, noOperator(op, l, r)
	}
	result := l.Type
	if op == "->>" {
		result = datum.Text
	}
	return Strict2(result, l, key, func(_ *Exec, a, b datum.Value) (datum.Value, error) {
		j := JSONOf(a.Str)
		var ok bool
		switch {
		case want == datum.Int4 && j.Kind() == '[':
			j, ok = j.element(b.Int)
		case want == datum.Text && j.Kind() == '{':
			j, ok = j.member(b.Str)
		}
		switch {
		case !ok:
			return datum.Null(result), nil
		case result == datum.Text:
			return j.asText()
		}
		return datum.MakeString(result, string(j)), nil
	}), nil
}

// JSONText is a value within the text of a JSON value. The text was checked when it
// became a json or jsonb and is not checked again.
type JSONText string

// Kind returns the first byte of the value: { [ " t f n, or 0 for a number.
func (j JSONText) Kind() byte {
	switch c := j[0]; c {
	case '{', '[', '"', 't', 'f', 'n':
		return c
	}
	return 0
}

// JSONOf returns a whole value without the white space around it.
func JSONOf(s string) JSONText { return JSONText(strings.Trim(s, " \t\n\r")) }

// Items yields the elements of an array, or the keys and values of an object, as
// written.
func (j JSONText) Items() iter.Seq2[string, JSONText] {
	return func(yield func(key string, value JSONText) bool) {
		d := json.NewDecoder(strings.NewReader(string(j)))
		open, _ := d.Token()
		for d.More() {
			var key string
			if open == json.Delim('{') {
				token, _ := d.Token()
				key, _ = token.(string)
			}
			var value json.RawMessage
			if d.Decode(&value) != nil || !yield(key, JSONText(value)) {
				return
			}
		}
	}
}

// member returns the value of a key; the last of several counts.
func (j JSONText) member(key string) (value JSONText, ok bool) {
	for k, v := range j.Items() {
		if k == key {
			value, ok = v, true
		}
	}
	return value, ok
}

// element returns the element n; negative numbers count from the end.
func (j JSONText) element(n int64) (value JSONText, ok bool) {
	if n < 0 {
		for range j.Items() {
			n++
		}
	}
	if n < 0 {
		return "", false
	}
	for _, v := range j.Items() {
		if n == 0 {
			return v, true
		}
		n--
	}
	return "", false
}

// asText returns a string without its quotes, NULL for null, and any other value as
// written.
func (j JSONText) asText() (datum.Value, error) {
	switch j.Kind() {
	case 'n':
		return datum.Null(datum.Text), nil
	case '"':
		s, err := datum.UnquoteJSON(string(j))
		return datum.MakeText(s), err
	}
	return datum.MakeText(string(j)), nil
}
