package uuid

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"
	"github.com/segmentio/ksuid"

	"nextid/generator"
)

// Bounds returns the least and the greatest UUID of a version for the instant t.
// They cover the millisecond of t for version 7, and its microsecond for version 6
// and the version 8 of V8. Other versions do not sort by time: ErrWrongKind.
func Bounds(version int, t time.Time) (least, greatest UUID, err error) {
	at := t.UnixMicro()
	var per, zero int64 // the bits above the random ones, without version and variant: zero + at·per
	switch version {
	case 6:
		per, zero = 10, gregorian
	case 7:
		at, per = t.UnixMilli(), 1<<12
	case 8:
		per = 1000 / tick8
	default:
		return Nil, Nil, generator.Errorf(generator.ErrWrongKind, "", "Those of versions 6 and 7 are. For others keep the time in a column of its own.",
			"UUIDs of version %d are not in the order of time", version)
	}
	if at < -zero/per || at >= (1<<60-zero)/per {
		return Nil, Nil, outside(t, fmt.Sprintf("UUIDs of version %d", version))
	}
	first := zero + at*per
	last := first + per - 1
	return joined(uint64(first), 0).mark(byte(version)), joined(uint64(last), math.MaxUint64).mark(byte(version)), nil
}

// outside returns the error for a time that ids cannot have.
func outside(t time.Time, what string) error {
	return generator.OptionError("Take a time that ids can have.",
		"%s is outside the time of %s", t.UTC().Format(time.RFC3339), what)
}

// TextBounds is Bounds for the kinds ulid, ksuid and xid. Other kinds do not sort
// by time: ErrWrongKind.
func TextBounds(kind string, t time.Time) (least, greatest string, err error) {
	var (
		at           int64 // the time as the ids hold it, in their first width bytes
		width, bytes int
		what         string
		text         func(b []byte) string
	)
	switch kind {
	case "ulid":
		at, width, bytes, what, text = t.UnixMilli(), 6, 16, "ULIDs", func(b []byte) string { return ulid.ULID(b).String() }
	case "ksuid": // seconds since 2014-05-13 16:53:20 UTC
		at, width, bytes, what, text = t.Unix()-1400000000, 4, 20, "KSUIDs", func(b []byte) string { return ksuid.KSUID(b).String() }
	case "xid":
		at, width, bytes, what, text = t.Unix(), 4, 12, "XIDs", func(b []byte) string { return xid.ID(b).String() }
	default:
		return "", "", generator.Errorf(generator.ErrWrongKind, "", "Keep the time in a column of its own.",
			"ids of kind %s hold no time", kind)
	}
	if at < 0 || at >= 1<<(8*width) {
		return "", "", outside(t, what)
	}
	lo := binary.BigEndian.AppendUint64(nil, uint64(at))[8-width:]
	hi := slices.Concat(lo, slices.Repeat([]byte{0xff}, bytes-width))
	return text(append(lo, make([]byte, bytes-width)...)), text(hi), nil
}
