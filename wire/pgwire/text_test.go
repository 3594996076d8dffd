package pgwire_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"nextid/wire/pgwire"
)

// msg frames a message by hand: type and body.
func msg(typ byte, body ...[]byte) []byte {
	b := []byte{typ, 0, 0, 0, 0}
	for _, part := range body {
		b = append(b, part...)
	}
	binary.BigEndian.PutUint32(b[1:], uint32(len(b)-1))
	return b
}

func cstr(s string) []byte { return append([]byte(s), 0) }

func i16(v ...int) []byte {
	var b []byte
	for _, n := range v {
		b = binary.BigEndian.AppendUint16(b, uint16(n))
	}
	return b
}

func i32(v ...int) []byte {
	var b []byte
	for _, n := range v {
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	return b
}

func startupPacket(version int, params ...string) []byte {
	b := append(i32(0), i32(version)...)
	for _, p := range params {
		b = append(b, cstr(p)...)
	}
	b = append(b, 0)
	binary.BigEndian.PutUint32(b, uint32(len(b)))
	return b
}

func queryMsg(sql string) []byte { return msg('Q', cstr(sql)) }

func parseMsg(name, sql string, types ...int) []byte {
	return msg('P', cstr(name), cstr(sql), i16(len(types)), i32(types...))
}

// bindMsg binds text values, with one result format for all columns.
func bindMsg(portal, statement string, format int, values ...string) []byte {
	b := append(cstr(portal), cstr(statement)...)
	b = append(b, i16(0, len(values))...)
	for _, v := range values {
		b = append(append(b, i32(len(v))...), v...)
	}
	return msg('B', append(b, i16(1, format)...))
}

func describeMsg(kind byte, name string) []byte { return msg('D', []byte{kind}, cstr(name)) }
func closeMsg(kind byte, name string) []byte    { return msg('C', []byte{kind}, cstr(name)) }
func executeMsg(portal string, limit int) []byte {
	return msg('E', cstr(portal), i32(limit))
}

func syncMsg() []byte { return msg('S') }

func join(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// show writes a message of the server as one line of text.
func show(m pgproto3.BackendMessage) string {
	switch m := m.(type) {
	case nil:
		return "closed"
	case *pgproto3.RowDescription:
		var cols []string
		for _, f := range m.Fields {
			cols = append(cols, fmt.Sprintf("%s:%d:%d", f.Name, f.DataTypeOID, f.Format))
		}
		return "RowDescription " + strings.Join(cols, " ")
	case *pgproto3.DataRow:
		var values []string
		for _, v := range m.Values {
			values = append(values, showValue(v))
		}
		return "DataRow " + strings.Join(values, " ")
	case *pgproto3.CommandComplete:
		return "CommandComplete " + string(m.CommandTag)
	case *pgproto3.ReadyForQuery:
		return "ReadyForQuery " + string(m.TxStatus)
	case *pgproto3.ErrorResponse:
		return strings.TrimSpace(fmt.Sprintf("Error %s %s %s", m.Severity, m.Code, position(m.Position)))
	case *pgproto3.NoticeResponse:
		return "Notice " + m.Severity + " " + m.Code
	case *pgproto3.ParameterDescription:
		return fmt.Sprint("ParameterDescription ", m.ParameterOIDs)
	case *pgproto3.ParameterStatus:
		return "ParameterStatus " + m.Name + " " + m.Value
	case *pgproto3.CopyData:
		return "CopyData " + showValue(m.Data)
	case *pgproto3.CopyOutResponse:
		return fmt.Sprintf("CopyOutResponse %d %d", m.OverallFormat, m.ColumnFormatCodes)
	case *pgproto3.NegotiateProtocolVersion:
		return fmt.Sprintf("NegotiateProtocolVersion %#x %s", m.NewestMinorProtocol, strings.Join(m.UnrecognizedOptions, " "))
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", m), "*pgproto3.")
}

func position(p int32) string {
	if p == 0 {
		return ""
	}
	return "at " + strconv.Itoa(int(p))
}

// showValue writes ids as ID, since they differ from run to run.
func showValue(v []byte) string {
	switch {
	case v == nil:
		return "NULL"
	case len(v) == 19 && v[0] >= '1' && v[0] <= '9':
		return "ID"
	case len(v) == 20 && v[0] >= '1' && v[0] <= '9' && v[19] == '\n':
		return "IDLINE"
	case len(v) == 8 && v[0] < 0x20:
		return "IDBINARY"
	}
	for _, b := range v {
		if b < ' ' && b != '\n' && b != '\t' || b > '~' {
			return "0x" + hex.EncodeToString(v)
		}
	}
	return strconv.Quote(string(v))
}

// until reads messages up to the first that begins with want as text. It returns all
// of them as text, and fails if the connection closes before.
func (c *client) until(want string) []string {
	c.t.Helper()
	var got []string
	for {
		m := c.next()
		line := show(m)
		got = append(got, line)
		if strings.HasPrefix(line, want) {
			return got
		}
		if m == nil {
			c.t.Fatalf("the server closed the connection; wanted %q after\n%s", want, strings.Join(got, "\n"))
		}
	}
}

// decode reads the messages in b as text.
func decode(t testing.TB, b []byte) []string {
	t.Helper()
	f := pgwire.NewDecoder(t, bytes.NewReader(b))
	var lines []string
	for {
		m, err := f.Receive()
		if err != nil {
			return lines
		}
		lines = append(lines, show(m))
	}
}
