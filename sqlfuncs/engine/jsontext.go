package engine

import (
	"iter"
	"strings"

	"nextid/sqlfuncs/datum"
)

// JSONText is a part of a JSON value's text that is a value itself. The text
// was checked when it became a json or jsonb, so nothing is checked again.
type JSONText string

// Kind is the first byte of a value: { [ " t f n, or 0 for a number.
func (j JSONText) Kind() byte {
	switch c := j[0]; c {
	case '{', '[', '"', 't', 'f', 'n':
		return c
	}
	return 0
}

// JSONOf is a whole value without the white space around it.
func JSONOf(s string) JSONText { return JSONText(strings.Trim(s, " \t\n\r")) }

// jsonSpace skips white space from i on.
func (j JSONText) space(i int) int {
	for i < len(j) && IsSpace(j[i]) {
		i++
	}
	return i
}

// end is where the value that begins at i ends.
func (j JSONText) end(i int) int {
	depth := 0
	for i < len(j) {
		switch j[i] {
		case '"':
			i = j.stringEnd(i)
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 { // of what holds a bare word or number
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ':', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}

// stringEnd is where the string that begins at i ends.
func (j JSONText) stringEnd(i int) int {
	for i++; i < len(j); i++ {
		switch j[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(j)
}

// jsonCursor steps through the elements of an array or the members of an
// object.
type jsonCursor struct {
	j JSONText
	i int
}

func (j JSONText) open() *jsonCursor { return &jsonCursor{j, j.space(1)} }

// next returns the next value, and in an object its key, a string with
// quotes.
func (c *jsonCursor) next() (key, value JSONText, ok bool) {
	j := c.j
	if c.i >= len(j) || j[c.i] == ']' || j[c.i] == '}' {
		return "", "", false
	}
	start := c.i
	if j[0] == '{' {
		end := j.stringEnd(start)
		key = j[start:end]
		start = j.space(j.space(end) + 1) // behind the colon
	}
	end := j.end(start)
	if c.i = j.space(end); c.i < len(j) && j[c.i] == ',' {
		c.i = j.space(c.i + 1)
	}
	return key, j[start:end], true
}

// Items are the keys and values that a jsonCursor steps through.
func (j JSONText) Items() iter.Seq2[JSONText, JSONText] {
	return func(yield func(key, value JSONText) bool) {
		c := j.open()
		for key, value, ok := c.next(); ok && yield(key, value); key, value, ok = c.next() {
		}
	}
}

// member finds a key; of several the last one counts.
func (j JSONText) member(key string) (value JSONText, ok bool) {
	for k, v := range j.Items() {
		if s, err := k.unquote(); err == nil && s == key {
			value, ok = v, true
		}
	}
	return value, ok
}

// element finds an element by its number, counted from the end if negative.
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

// unquote is the text of a string.
func (j JSONText) unquote() (string, error) { return datum.UnquoteJSON(string(j)) }

// IsSpace reports whether a byte is white space of JSON (RFC 8259 section 2).
func IsSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }
