package sqlfuncs

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// CopyOut encodes rows for COPY TO STDOUT (PostgreSQL documentation, COPY,
// file formats).
type CopyOut struct {
	format    string
	delimiter byte
	null      string
	quote     byte
	escape    byte
	header    bool
	columns   []engine.Column
	force     []bool // columns that are always quoted
}

// copy plans COPY (query) TO STDOUT.
func planCopy(p *engine.Planner, st *Statement, t *syntax.Copy) error {
	if t.Unsupported != "" {
		return engine.Unsupported(t.Pos, t.Unsupported)
	}
	if err := selectStatement(p, st, t.Query); err != nil {
		return err
	}
	out, err := newCopyOut(&t.Options, st.Columns)
	if err != nil {
		return engine.At(t.Pos, err)
	}
	st.copy, st.tag, st.fast = out, "COPY", nil
	return nil
}

func newCopyOut(o *syntax.CopyOptions, columns []engine.Column) (*CopyOut, error) {
	c := &CopyOut{format: o.Format, delimiter: '\t', null: `\N`, quote: '"', header: o.Header, columns: columns}
	if c.format == "" {
		c.format = "text"
	}
	if c.format == "csv" {
		c.delimiter, c.null = ',', ""
	}
	one := func(what, s string, into *byte) error {
		if len(s) != 1 {
			return sqlstate.New(sqlstate.FeatureNotSupported, "COPY %s must be a single one-byte character", what)
		}
		*into = s[0]
		return nil
	}
	bad := func(what string) error {
		return sqlstate.New(sqlstate.SyntaxError, "cannot specify %s in %s mode", what, strings.ToUpper(c.format))
	}
	if o.HasDelimiter {
		if c.format == "binary" {
			return nil, bad("DELIMITER")
		}
		if err := one("delimiter", o.Delimiter, &c.delimiter); err != nil {
			return nil, err
		}
	}
	if o.HasNull {
		if c.format == "binary" {
			return nil, bad("NULL")
		}
		c.null = o.Null
	}
	if (o.HasQuote || o.HasEscape || o.ForceQuoteAll || o.ForceQuote != nil) && c.format != "csv" {
		return nil, sqlstate.New(sqlstate.FeatureNotSupported, "COPY QUOTE, ESCAPE and FORCE QUOTE are available only in CSV mode")
	}
	if o.HasQuote {
		if err := one("quote", o.Quote, &c.quote); err != nil {
			return nil, err
		}
	}
	c.escape = c.quote
	if o.HasEscape {
		if err := one("escape", o.Escape, &c.escape); err != nil {
			return nil, err
		}
	}
	if strings.IndexByte("\r\n\\.abcdefghijklmnopqrstuvwxyz0123456789", c.delimiter) >= 0 && (c.format == "text" || c.delimiter == '\r' || c.delimiter == '\n') {
		return nil, sqlstate.New(sqlstate.InvalidParameterValue, "COPY delimiter cannot be %q", string(c.delimiter))
	}
	if c.header && c.format == "binary" {
		return nil, bad("HEADER")
	}
	c.force = make([]bool, len(columns))
	for i, col := range columns {
		c.force[i] = o.ForceQuoteAll || slices.Contains(o.ForceQuote, col.Name)
	}
	return c, nil
}

// Binary reports the overall format of CopyOutResponse.
func (c *CopyOut) Binary() bool { return c.format == "binary" }

// Plain reports whether a row of numbers can be sent as they are, with a
// newline: text format.
func (c *CopyOut) Plain() bool { return c.format == "text" }

// binarySignature begins a binary COPY: signature, flags, header extension.
const binarySignature = "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// AppendHeader appends what precedes the first row (header line, binary
// signature); it may be nothing.
func (c *CopyOut) AppendHeader(dst []byte) []byte {
	switch {
	case c.format == "binary":
		return append(dst, binarySignature...)
	case !c.header:
		return dst
	}
	for i, col := range c.columns {
		if i > 0 {
			dst = append(dst, c.delimiter)
		}
		if c.format == "csv" {
			dst = c.appendCSV(dst, []byte(col.Name), false, false)
		} else {
			dst = c.appendEscaped(dst, []byte(col.Name))
		}
	}
	return append(dst, '\n')
}

// AppendRow appends one row's CopyData payload.
func (c *CopyOut) AppendRow(dst []byte, row []datum.Value, env *datum.Env) ([]byte, error) {
	if c.format == "binary" {
		return c.appendBinaryRow(dst, row)
	}
	var scratch [64]byte
	for i, v := range row {
		if i > 0 {
			dst = append(dst, c.delimiter)
		}
		if !v.Valid {
			dst = append(dst, c.null...)
			continue
		}
		text := datum.AppendText(scratch[:0], v, env)
		if c.format == "csv" {
			dst = c.appendCSV(dst, text, c.force[i], len(row) == 1)
		} else {
			dst = c.appendEscaped(dst, text)
		}
	}
	return append(dst, '\n'), nil
}

func (c *CopyOut) appendBinaryRow(dst []byte, row []datum.Value) ([]byte, error) {
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(row)))
	for _, v := range row {
		if !v.Valid {
			dst = append(dst, 0xff, 0xff, 0xff, 0xff)
			continue
		}
		at := len(dst)
		dst = append(dst, 0, 0, 0, 0)
		var err error
		if dst, err = datum.AppendBinary(dst, v); err != nil {
			return nil, err
		}
		binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	}
	return dst, nil
}

// AppendTrailer appends what follows the last row (binary end mark); it may
// be nothing.
func (c *CopyOut) AppendTrailer(dst []byte) []byte {
	if c.format == "binary" {
		return append(dst, 0xff, 0xff)
	}
	return dst
}

// appendEscaped is the text format's backslash escaping.
func (c *CopyOut) appendEscaped(dst, text []byte) []byte {
	for _, b := range text {
		switch b {
		case '\b':
			dst = append(dst, `\b`...)
		case '\f':
			dst = append(dst, `\f`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		case '\v':
			dst = append(dst, `\v`...)
		case '\\', c.delimiter:
			dst = append(dst, '\\', b)
		default:
			dst = append(dst, b)
		}
	}
	return dst
}

// appendCSV quotes a value where CSV needs it.
func (c *CopyOut) appendCSV(dst, text []byte, force, only bool) []byte {
	needs := force || string(text) == c.null || (only && string(text) == `\.`) ||
		bytes.IndexByte(text, c.delimiter) >= 0 || bytes.IndexByte(text, c.quote) >= 0 || bytes.ContainsAny(text, "\r\n")
	if !needs {
		return append(dst, text...)
	}
	dst = append(dst, c.quote)
	for _, b := range text {
		if b == c.quote || b == c.escape {
			dst = append(dst, c.escape)
		}
		dst = append(dst, b)
	}
	return append(dst, c.quote)
}
