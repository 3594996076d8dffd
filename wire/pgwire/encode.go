package pgwire

import (
	"encoding/binary"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/datum"
	"nextid/wire"
)

// begin appends a message header and returns the index of its length. end writes the
// length when the body has been appended.
func begin(dst []byte, typ byte) ([]byte, int) {
	return append(dst, typ, 0, 0, 0, 0), len(dst) + 1
}

// end writes the length of a message at the index from begin. The length counts
// itself, but not the type.
func end(dst []byte, at int) []byte {
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at))
	return dst
}

// encode appends a message.
func encode(dst []byte, m pgproto3.BackendMessage) []byte {
	dst, _ = m.Encode(dst) // fails above 1 GB only
	return dst
}

// clean returns a text for a client. It cuts s at its first zero byte: a client would
// read the rest as the next field. Bytes that are not UTF-8, which a message may quote
// from the client, become question marks.
func clean(s string) string {
	s, _, _ = strings.Cut(s, "\x00")
	return strings.ToValidUTF8(s, "?")
}

// Messages, and beginnings of messages, that are always the same.
const (
	parseComplete   = "1\x00\x00\x00\x04"
	bindComplete    = "2\x00\x00\x00\x04"
	closeComplete   = "3\x00\x00\x00\x04"
	noData          = "n\x00\x00\x00\x04"
	emptyQuery      = "I\x00\x00\x00\x04"
	portalSuspended = "s\x00\x00\x00\x04"
	copyDone        = "c\x00\x00\x00\x04"
	authenticated   = "R\x00\x00\x00\x08\x00\x00\x00\x00"
	readyBegin      = "Z\x00\x00\x00\x05" // of ReadyForQuery, before the status
	selectOne       = "C\x00\x00\x00\x0dSELECT 1\x00"
)

func appendParameterStatus(dst []byte, p sqlfuncs.Parameter) []byte {
	return encode(dst, &pgproto3.ParameterStatus{Name: p.Name, Value: clean(p.Value)})
}

// appendRowDescription appends a RowDescription. binary returns the format of a
// column.
func appendRowDescription(dst []byte, columns []sqlfuncs.Column, binary func(i int) bool) []byte {
	m := pgproto3.RowDescription{Fields: make([]pgproto3.FieldDescription, len(columns))}
	for i, c := range columns {
		m.Fields[i] = pgproto3.FieldDescription{
			Name: []byte(clean(c.Name)), TableOID: c.Table, TableAttributeNumber: uint16(c.Attr),
			DataTypeOID: uint32(c.Type), DataTypeSize: c.Len, TypeModifier: c.TypeMod,
		}
		if binary(i) {
			m.Fields[i].Format = pgproto3.BinaryFormat
		}
	}
	return encode(dst, &m)
}

// appendRow appends a DataRow. After an error dst has no part of the row.
func appendRow(dst []byte, row []datum.Value, isBinary func(i int) bool, env *datum.Env) ([]byte, error) {
	dst, at := begin(dst, 'D')
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(row)))
	for i, v := range row {
		if !v.Valid {
			dst = append(dst, 0xff, 0xff, 0xff, 0xff) // the length -1
			continue
		}
		size := len(dst)
		dst = append(dst, 0, 0, 0, 0)
		if isBinary(i) {
			whole, err := datum.AppendBinary(dst, v)
			if err != nil {
				return dst[:at-1], err
			}
			dst = whole
		} else {
			dst = datum.AppendText(dst, v, env)
		}
		binary.BigEndian.PutUint32(dst[size:], uint32(len(dst)-size-4))
	}
	return end(dst, at), nil
}

// appendTag appends CommandComplete.
func appendTag(dst []byte, p *sqlfuncs.Portal, rows int64) []byte {
	dst, at := begin(dst, 'C')
	return end(append(p.AppendTag(dst, rows), 0), at)
}

// errorMessage returns the message for an error or a notice ("Error and Notice Message
// Fields").
func errorMessage(severity string, err error) *pgproto3.ErrorResponse {
	e := wire.ErrorFor(err)
	return &pgproto3.ErrorResponse{
		Severity: severity, SeverityUnlocalized: severity, Code: string(e.Code), Message: clean(e.Message), Detail: clean(e.Detail),
		Hint: clean(e.Hint), Position: int32(e.Position),
	}
}
