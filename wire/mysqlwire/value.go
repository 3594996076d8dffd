package mysqlwire

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/datum"
)

// null is NULL in a row of texts.
const null = 0xfb

// appendTextRow appends a row of texts ("Text Resultset Row") to the packet
// that has begun.
func appendTextRow(dst []byte, row []datum.Value, columns []sqlfuncs.Column, env *datum.Env) []byte {
	for i, v := range row {
		if !v.Valid {
			dst = append(dst, null)
			continue
		}
		at := len(dst)
		dst = appendText(append(dst, 0), v, env)
		dst = cutFraction(dst, v.Type, columns[i].TypeMod)
		dst = prefixLength(dst, at)
	}
	return dst
}

// appendText appends the text form of a value in MySQL's format.
func appendText(dst []byte, v datum.Value, env *datum.Env) []byte {
	switch v.Type {
	case datum.Bool:
		return append(dst, '0'+byte(v.Int&1))
	case datum.Bytea:
		return append(dst, v.Str...)
	case datum.Float4:
		return appendFloat(dst, v.Float, 32)
	case datum.Float8:
		return appendFloat(dst, v.Float, 64)
	case datum.Date, datum.Timestamp, datum.TimestampTZ:
		return appendTime(dst, v, env)
	case datum.Time:
		return fmt.Appendf(dst, "%02d:%02d:%02d.%06d",
			v.Int/microsPerHour, v.Int/microsPerMinute%60, v.Int/microsPerSecond%60, v.Int%microsPerSecond)
	}
	return datum.AppendText(dst, v, env)
}

// cutFraction cuts the six decimals of a time to the digits of its column. A column
// without a fixed number of digits (digits < 0) shows six if one is not zero.
func cutFraction(dst []byte, t datum.OID, digits int32) []byte {
	switch t {
	case datum.Timestamp, datum.TimestampTZ, datum.Time:
	default:
		return dst
	}
	switch n := len(dst); {
	case digits == 0, digits < 0 && string(dst[n-7:]) == ".000000":
		return dst[:n-7]
	case digits > 0 && digits < 6:
		return dst[:n-6+int(digits)]
	}
	return dst
}

// appendFloat appends a number with the fewest digits that identify it. It has an
// exponent only below 1e-15 and from 1e15 on, as in MySQL.
func appendFloat(dst []byte, f float64, bits int) []byte {
	if abs := math.Abs(f); abs == 0 || abs >= 1e-15 && abs < 1e15 {
		return strconv.AppendFloat(dst, f, 'f', -1, bits)
	}
	mantissa, exponent, finite := strings.Cut(strconv.FormatFloat(f, 'e', -1, bits), "e")
	dst = append(dst, strings.TrimPrefix(mantissa, "+")...)
	if !finite {
		return dst
	}
	n, _ := strconv.Atoi(exponent) // Go's has a sign, and two digits at least
	return strconv.AppendInt(append(dst, 'e'), int64(n), 10)
}

// MySQL has no infinity. A time after the year 9999 becomes lastTime, and one before
// the year 0 zeroTime.
const (
	timeLayout = "2006-01-02 15:04:05.000000"
	zeroTime   = "0000-00-00 00:00:00.000000"
	dateLength = len("2006-01-02")
)

var lastTime = time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC)

// timeOf returns a date or timestamp, a timestamptz in the session's time zone. ok is
// false for zeroTime.
func timeOf(v datum.Value, env *datum.Env) (t time.Time, ok bool) {
	t = v.GoTime()
	if v.Type == datum.TimestampTZ && env != nil && env.Location != nil {
		t = t.In(env.Location)
	}
	if t.Year() > lastTime.Year() {
		t = lastTime
	}
	return t, t.Year() >= 0
}

// appendTime appends a date or timestamp: YYYY-MM-DD hh:mm:ss.ffffff.
func appendTime(dst []byte, v datum.Value, env *datum.Env) []byte {
	length := len(timeLayout)
	if v.Type == datum.Date {
		length = dateLength
	}
	t, ok := timeOf(v, env)
	if !ok {
		return append(dst, zeroTime[:length]...)
	}
	return t.AppendFormat(dst, timeLayout[:length])
}

// appendBinaryTime appends the binary form of a date or timestamp: a length, and the
// fields up to the last that is not zero (date; seconds; microseconds).
func appendBinaryTime(dst []byte, v datum.Value, env *datum.Env) []byte {
	t, ok := timeOf(v, env)
	hour, minute, second := t.Clock()
	micro := t.Nanosecond() / int(time.Microsecond)
	n := byte(11)
	switch {
	case !ok:
		return append(dst, 0)
	case v.Type == datum.Date, hour|minute|second|micro == 0:
		n = 4
	case micro == 0:
		n = 7
	}
	dst = appendUint16(append(dst, n), uint16(t.Year()))
	dst = append(dst, byte(t.Month()), byte(t.Day()))
	if n > 4 {
		dst = append(dst, byte(hour), byte(minute), byte(second))
	}
	if n > 7 {
		dst = appendUint32(dst, uint32(micro))
	}
	return dst
}

const (
	microsPerSecond = 1_000_000
	microsPerMinute = 60 * microsPerSecond
	microsPerHour   = 60 * microsPerMinute
)

// appendBinaryRow appends a row of binary values ("Binary Protocol Resultset Row")
// to the packet that has begun. The bitmap of NULLs has an offset of two bits.
func appendBinaryRow(dst []byte, row []datum.Value, columns []sqlfuncs.Column, env *datum.Env) []byte {
	dst = append(dst, 0)
	nulls := len(dst)
	for range (len(row) + 7 + 2) / 8 {
		dst = append(dst, 0)
	}
	for i, v := range row {
		if !v.Valid {
			dst[nulls+(i+2)/8] |= 1 << ((i + 2) % 8)
			continue
		}
		dst = appendBinary(dst, v, columns[i].Type, env)
	}
	return dst
}

// appendBinary appends the binary form of a value in a column of type t. The client
// has the type from the column's definition (shapeOf).
func appendBinary(dst []byte, v datum.Value, t datum.OID, env *datum.Env) []byte {
	switch shapeOf(t).typ {
	case typeTiny:
		return append(dst, byte(v.Int))
	case typeShort:
		return appendUint16(dst, uint16(v.Int))
	case typeLong:
		return appendUint32(dst, uint32(v.Int))
	case typeLongLong:
		return appendUint64(dst, uint64(v.Int))
	case typeFloat:
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(v.Float)))
	case typeDouble:
		return appendUint64(dst, math.Float64bits(v.Float))
	case typeDate, typeDatetime, typeTimestamp:
		return appendBinaryTime(dst, v, env)
	case typeTime:
		return appendBinaryClock(dst, v.Int)
	}
	at := len(dst)
	dst = appendText(append(dst, 0), v, env)
	return prefixLength(dst, at)
}

// appendBinaryClock appends the binary form of a time of day: a length, the sign,
// the days, and the fields up to the last that is not zero.
func appendBinaryClock(dst []byte, micros int64) []byte {
	if micros == 0 {
		return append(dst, 0)
	}
	n := byte(12)
	if micros%microsPerSecond == 0 {
		n = 8
	}
	dst = append(dst, n, 0, 0, 0, 0, 0) // sign and days
	dst = append(dst, byte(micros/microsPerHour), byte(micros/microsPerMinute%60), byte(micros/microsPerSecond%60))
	if n > 8 {
		dst = appendUint32(dst, uint32(micros%microsPerSecond))
	}
	return dst
}
