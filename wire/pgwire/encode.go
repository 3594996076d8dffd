package pgwire

import (
	"encoding/binary"
	"strconv"
	"strings"

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

// appendCString appends s and a zero byte. It cuts s at its first zero byte: a
// client would read the rest as the next field.
func appendCString(dst []byte, s string) []byte {
	s, _, _ = strings.Cut(s, "\x00")
	return append(append(dst, s...), 0)
}

func appendInt16(dst []byte, v int16) []byte { return binary.BigEndian.AppendUint16(dst, uint16(v)) }

func appendInt32(dst []byte, v int32) []byte { return binary.BigEndian.AppendUint32(dst, uint32(v)) }

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
	dst, at := begin(dst, 'S')
	return end(appendCString(appendCString(dst, p.Name), p.Value), at)
}

// appendRowDescription appends a RowDescription. binary returns the format of a
// column.
func appendRowDescription(dst []byte, columns []sqlfuncs.Column, binary func(i int) bool) []byte {
	dst, at := begin(dst, 'T')
	dst = appendInt16(dst, int16(len(columns)))
	for i, c := range columns {
		dst = appendCString(dst, c.Name)
		dst = appendInt32(dst, int32(c.Table))
		dst = appendInt16(dst, c.Attr)
		dst = appendInt32(dst, int32(c.Type))
		dst = appendInt16(dst, c.Len)
		dst = appendInt32(dst, c.TypeMod)
		format := int16(0)
		if binary(i) {
			format = 1
		}
		dst = appendInt16(dst, format)
	}
	return end(dst, at)
}

// appendRow appends a DataRow. NULL has the length -1. After an error dst has no
// part of the row.
func appendRow(dst []byte, row []datum.Value, isBinary func(i int) bool, env *datum.Env) ([]byte, error) {
	dst, at := begin(dst, 'D')
	dst = appendInt16(dst, int16(len(row)))
	for i, v := range row {
		if !v.Valid {
			dst = appendInt32(dst, -1)
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

// appendField appends a field of an error, unless it is empty. Bytes that are not
// UTF-8, which a message may quote from the client, become question marks.
func appendField(dst []byte, field byte, value string) []byte {
	if value == "" {
		return dst
	}
	return appendCString(append(dst, field), strings.ToValidUTF8(value, "?"))
}

// appendError appends an ErrorResponse (E) or a NoticeResponse (N) ("Error and Notice
// Message Fields"). Clients expect S (localized severity) and V (severity) in it.
func appendError(dst []byte, typ byte, severity string, err error) []byte {
	e := wire.ErrorFor(err)
	dst, at := begin(dst, typ)
	dst = appendField(dst, 'S', severity)
	dst = appendField(dst, 'V', severity)
	dst = appendField(dst, 'C', string(e.Code))
	dst = appendField(dst, 'M', e.Message)
	dst = appendField(dst, 'D', e.Detail)
	dst = appendField(dst, 'H', e.Hint)
	if e.Position > 0 {
		dst = append(dst, 'P')
		dst = append(strconv.AppendInt(dst, int64(e.Position), 10), 0)
	}
	return end(append(dst, 0), at)
}
