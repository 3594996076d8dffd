package sqlfuncs

import (
	"bytes"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/syntax"
)

// CopyOut encodes rows for COPY TO STDOUT (PostgreSQL documentation, COPY,
// file formats).
type CopyOut struct {
	csv       bool // else text
	delimiter byte
	null      string // text of NULL
	header    bool   // begin with a line of column names
	columns   []engine.Column
}

// planCopy plans COPY (query) TO STDOUT. It clears st.fast: the fast path answers
// with DataRow, not with CopyData.
func planCopy(p *engine.Planner, st *Statement, t *syntax.Copy) error {
	if err := selectStatement(p, st, t.Query); err != nil {
		return err
	}
	out := &CopyOut{csv: t.CSV, delimiter: '\t', null: `\N`, header: t.Header, columns: st.Columns}
	if out.csv {
		out.delimiter, out.null = ',', ""
	}
	st.copy, st.tag, st.fast = out, "COPY", nil
	return nil
}

// Plain reports whether a row of one number is its digits and a newline. That is so
// in the text format.
func (c *CopyOut) Plain() bool { return !c.csv }

// AppendHeader appends the line of column names before the first row, if the format
// has one.
func (c *CopyOut) AppendHeader(dst []byte) []byte {
	if !c.header {
		return dst
	}
	names := make([]datum.Value, len(c.columns))
	for i, col := range c.columns {
		names[i] = datum.MakeText(col.Name)
	}
	return c.AppendRow(dst, names, nil)
}

// AppendRow appends one row's CopyData payload.
func (c *CopyOut) AppendRow(dst []byte, row []datum.Value, env *datum.Env) []byte {
	var scratch [64]byte
	for i, v := range row {
		if i > 0 {
			dst = append(dst, c.delimiter)
		}
		if !v.Valid {
			dst = append(dst, c.null...)
			continue
		}
		dst = c.appendField(dst, datum.AppendText(scratch[:0], v, env), len(row) == 1)
	}
	return append(dst, '\n')
}

// appendField appends a value. The text format escapes with backslashes, CSV quotes
// where needed. only reports that the value is the whole row: CSV then quotes \.
// too, the end-of-data marker.
func (c *CopyOut) appendField(dst, text []byte, only bool) []byte {
	if !c.csv {
		return appendEscaped(dst, text)
	}
	if !bytes.ContainsAny(text, ",\"\r\n") && len(text) > 0 && (!only || string(text) != `\.`) {
		return append(dst, text...)
	}
	dst = append(dst, '"')
	dst = append(dst, bytes.ReplaceAll(text, []byte{'"'}, []byte{'"', '"'})...)
	return append(dst, '"')
}

// escapes maps control characters to their letters in the text format.
var escapes = [256]byte{'\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't', '\v': 'v', '\\': '\\'}

// appendEscaped appends a value in the text format.
func appendEscaped(dst, text []byte) []byte {
	for _, b := range text {
		if letter := escapes[b]; letter != 0 {
			dst = append(dst, '\\', letter)
		} else {
			dst = append(dst, b)
		}
	}
	return dst
}
