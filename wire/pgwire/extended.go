package pgwire

import (
	"context"
	"encoding/binary"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/wire"
)

// parse serves Parse: name, text, parameter types. Types that are 0 or left out are
// inferred.
func (c *conn) parse(ctx context.Context, body []byte, out *wire.Out) error {
	r := read(body)
	name, text := r.CString(), r.CString()
	n := r.count(4)
	if r.Bad {
		return errMalformed('P')
	}
	if n > c.protocol.Limits.Parameters {
		return tooMany("parameters", n, c.protocol.Limits.Parameters)
	}
	if err := checkName(name); err != nil {
		return err
	}
	if err := checkText(text); err != nil {
		return err
	}
	var types []datum.OID
	for range n {
		types = append(types, datum.OID(uint32(r.int32())))
	}
	if !r.OK() {
		return errMalformed('P')
	}
	if _, err := c.Prepare(ctx, string(name), text, types); err != nil {
		return err
	}
	out.B = append(out.B, parseComplete...)
	return nil
}

// tooMany returns an error beyond limits.parameters or limits.result_formats.
func tooMany(what string, n, limit int) error {
	return sqlstate.New(sqlstate.LimitExceeded, "%d %s are more than the limit of %d", n, what, limit).
		WithHint("Send fewer, or raise limits.%s in the configuration.", strings.ReplaceAll(what, " ", "_"))
}

// bind serves Bind. The portal keeps no part of the message.
func (c *conn) bind(body []byte, out *wire.Out) error {
	s := c.Conn.Scratch()
	portal, name, err := c.readBind(body, s)
	if err != nil {
		return err
	}
	st, err := c.SQL.Prepared(name)
	if err != nil {
		return err
	}
	if _, err := c.SQL.Bind(portal, st, s.Args, s.Formats); err != nil {
		return err
	}
	out.B = append(out.B, bindComplete...)
	return nil
}

// readBind reads a Bind: portal, statement, formats, values, result formats. It
// stores the values and the result formats in s. The names and values are parts of
// body.
func (c *conn) readBind(body []byte, s *wire.Scratch) (portal, name []byte, err error) {
	r := read(body)
	portal, name = r.CString(), r.CString()
	formatCount := r.count(2)
	formats := r.Bytes(2 * formatCount)
	n := r.count(4)
	if r.Bad {
		return nil, nil, errMalformed('B')
	}
	if n > c.protocol.Limits.Parameters {
		return nil, nil, tooMany("parameters", n, c.protocol.Limits.Parameters)
	}
	if err := checkName(portal); err != nil {
		return nil, nil, err
	}
	if formatCount > 1 && formatCount != n {
		return nil, nil, sqlstate.New(sqlstate.ProtocolViolation, "bind message has %d parameter formats but %d parameters", formatCount, n)
	}
	s.Reset()
	for i := range n {
		binary, err := argFormat(formats, i)
		if err != nil {
			return nil, nil, err
		}
		arg := sqlfuncs.Arg{Binary: binary}
		if size := r.int32(); size == -1 {
			arg.Null = true
		} else {
			arg.Data = r.Bytes(int(size))
		}
		if !binary {
			if err := checkText(arg.Data); err != nil {
				return nil, nil, err
			}
		}
		s.Args = append(s.Args, arg)
	}
	n = r.count(2)
	if n > c.protocol.Limits.ResultFormats {
		return nil, nil, tooMany("result formats", n, c.protocol.Limits.ResultFormats)
	}
	for range n {
		f := r.int16()
		if f != 0 && f != 1 {
			return nil, nil, sqlstate.New(sqlstate.InvalidParameterValue, "invalid format code: %d", f)
		}
		s.Formats = append(s.Formats, f)
	}
	if !r.OK() {
		return nil, nil, errMalformed('B')
	}
	return portal, name, nil
}

// argFormat returns the format of the i-th value. A Bind has no format code (text),
// one for all values, or one for each.
func argFormat(formats []byte, i int) (binary bool, err error) {
	if len(formats) == 0 {
		return false, nil
	}
	at := min(2*i, len(formats)-2)
	code := int(formats[at])<<8 | int(formats[at+1])
	if code > 1 {
		return false, sqlstate.New(sqlstate.InvalidParameterValue, "unsupported format code: %d", code)
	}
	return code == 1, nil
}

// readTarget reads a Describe or Close: S for a statement or P for a portal, and its
// name.
func readTarget(typ byte, body []byte) (kind byte, name []byte, err error) {
	r := read(body)
	kind, name = r.Byte(), r.CString()
	if !r.OK() || kind != 'S' && kind != 'P' {
		err = errMalformed(typ)
	}
	return kind, name, err
}

// describe serves Describe of a statement (ParameterDescription, then RowDescription
// or NoData) or of a portal.
func (c *conn) describe(body []byte, out *wire.Out) error {
	kind, name, err := readTarget('D', body)
	if err != nil {
		return err
	}
	if kind == 'P' {
		p, err := c.SQL.Portal(name)
		if err != nil {
			return err
		}
		if err := c.SQL.CheckTransaction(p.Columns() == nil); err != nil {
			return err
		}
		if p.Columns() == nil || p.Copy() != nil { // a COPY sends its columns in CopyOutResponse
			out.B = append(out.B, noData...)
		} else {
			out.B = c.appendDescription(out.B, p)
		}
		return nil
	}
	st, err := c.SQL.Prepared(name)
	if err != nil {
		return err
	}
	if err := c.SQL.CheckTransaction(st.Columns == nil); err != nil {
		return err
	}
	types := make([]uint32, len(st.Params))
	for i, t := range st.Params {
		types[i] = uint32(t)
	}
	out.B = encode(out.B, &pgproto3.ParameterDescription{ParameterOIDs: types})
	if st.Columns == nil || st.IsCopy() {
		out.B = append(out.B, noData...)
		return nil
	}
	out.B = append(out.B, c.description(st, false)...)
	return nil
}

// appendDescription appends the RowDescription of a portal. It uses the encoded one
// of the statement if the portal has the statement's columns, all in one format.
func (c *conn) appendDescription(dst []byte, p *sqlfuncs.Portal) []byte {
	columns, st := p.Columns(), p.Statement()
	binary, uniform := p.Format()
	if !uniform || len(columns) == 0 || len(st.Columns) != len(columns) || &columns[0] != &st.Columns[0] {
		return appendRowDescription(dst, columns, p.Binary)
	}
	return append(dst, c.description(st, binary)...)
}

// execute serves Execute: portal, row limit. A limit of 0 or less is none.
func (c *conn) execute(ctx context.Context, body []byte, out *wire.Out) error {
	r := read(body)
	name, limit := r.CString(), r.int32()
	if !r.OK() {
		return errMalformed('E')
	}
	p, err := c.SQL.Portal(name)
	if err != nil {
		return err
	}
	if p.Statement().Empty() {
		out.B = append(out.B, emptyQuery...)
		return nil
	}
	if err := p.MayExecute(); err != nil {
		return err
	}
	ctx = c.BeginStatement(ctx, p.Statement())
	defer c.Statement.End()
	if err := c.sendRows(ctx, p, int64(max(limit, 0)), out); err != nil {
		return err
	}
	c.sendNotices(out)
	return nil
}

// close serves Close of a statement or a portal. An unknown name is no error
// ("Message Flow").
func (c *conn) close(body []byte, out *wire.Out) error {
	kind, name, err := readTarget('C', body)
	if err != nil {
		return err
	}
	if kind == 'S' {
		c.SQL.Unprepare(name)
	} else {
		c.SQL.ClosePortal(name)
	}
	out.B = append(out.B, closeComplete...)
	return nil
}

// maxNameBytes bounds the names of prepared statements and portals. PostgreSQL
// uses 63 bytes of them.
const maxNameBytes = 1024

// checkName checks the name of a new statement or portal.
func checkName(name []byte) error {
	if len(name) > maxNameBytes {
		return sqlstate.New(sqlstate.LimitExceeded, "a name of %d bytes is longer than %d bytes", len(name), maxNameBytes)
	}
	return checkText(name)
}

// checkText returns an error (22021) for text that is not UTF-8, as PostgreSQL does.
// Package sqlfuncs relies on it.
func checkText(b []byte) error {
	if utf8.Valid(b) {
		return nil
	}
	return sqlstate.BrokenText(string(b))
}

// reader decodes one message. Integers are big-endian.
type reader struct{ wire.Reader }

func read(message []byte) reader { return reader{wire.Reader{B: message}} }

func (r *reader) int16() int16 { return int16(binary.BigEndian.Uint16(r.Fixed(2))) }
func (r *reader) int32() int32 { return int32(binary.BigEndian.Uint32(r.Fixed(4))) }

// count reads the number of items that follow, an unsigned 16-bit integer. Each item
// has at least size bytes. A number that the rest of the message cannot hold is a
// failure, so that callers may allocate for the items.
func (r *reader) count(size int) int {
	n := int(uint16(r.int16()))
	if n*size > len(r.B) {
		r.Fail()
		return 0
	}
	return n
}
