package datum

import (
	"time"

	"nextid/sqlfuncs/sqlstate"
)

// decodeTimeText splits and decodes the text of a date or timestamp.
func decodeTimeText(t OID, s string, env *Env) (*timeDecoder, error) {
	fields, ok := splitTime(s)
	d := &timeDecoder{env: env}
	fault := badFormat
	if ok {
		fault = d.decode(fields)
	}
	if fault == noFault && !d.whole && d.has&wholeDate != wholeDate {
		fault = badFormat
	}
	return d, d.err(fault, t, s)
}

// parseTimestamp reads a timestamp or timestamptz. A zone in the text of a
// timestamp is ignored.
func parseTimestamp(t OID, s string, env *Env) (Value, error) {
	d, err := decodeTimeText(t, s, env)
	if err != nil {
		return Value{}, err
	}
	v := Value{Type: t, Valid: true}
	if d.whole {
		switch d.special {
		case wordInfinity:
			v.Int = timeInfinity
		case wordMinusInfinity:
			v.Int = timeMinusInfinity
		case wordEpoch:
			v.Int = -unixToEpoch * microsPerSecond
		default:
			v.Int = microsOf(env.now())
			if t == Timestamp {
				v.Int = utcToLocal(v.Int, env.location())
			}
		}
		return v, nil
	}
	v.Int, err = d.local()
	if err == nil && t == TimestampTZ {
		v.Int = d.toUTC(v.Int)
	}
	if err != nil || !validTimestamp(v.Int) {
		return Value{}, sqlstate.New(sqlstate.DatetimeOverflow, `timestamp out of range: "%s"`, clip(s))
	}
	return v, nil
}

// toUTC applies the zone of the text or the session's.
func (d *timeDecoder) toUTC(local int64) int64 {
	switch {
	case d.fixed:
		return local - int64(d.offset)*microsPerSecond
	case d.zone != nil:
		return localToUTC(local, d.zone)
	}
	return localToUTC(local, d.env.location())
}

// parseDate reads a date; a time in the text is ignored.
func parseDate(s string, env *Env) (Value, error) {
	d, err := decodeTimeText(Date, s, env)
	if err != nil {
		return Value{}, err
	}
	v := Value{Type: Date, Valid: true}
	if d.whole {
		switch d.special {
		case wordInfinity:
			v.Int = dateInfinity
			return v, nil
		case wordMinusInfinity:
			v.Int = dateMinusInfinity
			return v, nil
		case wordEpoch:
			v.Int = -unixToEpoch / secondsPerDay
			return v, nil
		}
	}
	v.Int = civil{d.year, d.month, d.day}.days()
	if v.Int < minDays || v.Int >= endDays {
		return Value{}, sqlstate.New(sqlstate.DatetimeOverflow, `date out of range: "%s"`, clip(s))
	}
	return v, nil
}

// parseTimeOfDay reads a time without time zone; a date in the text is ignored.
func parseTimeOfDay(s string, env *Env) (Value, error) {
	fields, ok := splitTime(s)
	if ok && len(fields) > 0 && fields[0].kind == numberField && len(fields[0].text) >= 4 {
		// Digits alone are HHMM or HHMMSS here, not a date.
		fields = append([]field{{stringField, "t"}}, fields...)
	}
	d := &timeDecoder{env: env, clockOnly: true}
	fault := badFormat
	if ok {
		fault = d.decode(fields)
	}
	if fault == noFault && (d.has&partTime == 0 || d.whole && d.special != wordNow) {
		fault = badFormat
	}
	if err := d.err(fault, Time, s); err != nil {
		return Value{}, err
	}
	return Value{Type: Time, Valid: true, Int: d.clock()}, nil
}

// roundMicros rounds half away from zero to a number of fractional digits
// of a second.
func roundMicros(micros int64, digits int32) int64 {
	unit := int64(1)
	for ; digits < 6; digits++ {
		unit *= 10
	}
	half := unit / 2
	if micros < 0 {
		return (micros - half) / unit * unit
	}
	return (micros + half) / unit * unit
}

// castTime converts between date, time, timestamp, timestamptz and interval.
func castTime(v Value, to OID, env *Env) (Value, error) {
	out := Value{Type: to, Valid: true}
	if isInfiniteTime(v) {
		return castInfinity(v, out)
	}
	ts := v.Int
	switch v.Type {
	case Date:
		var err error
		if ts, err = joinTimestamp(v.Int, 0); err != nil {
			return Value{}, castOutOfRange(v.Type)
		}
	case TimestampTZ:
		ts = utcToLocal(v.Int, env.location())
	case Time:
		if to == Interval {
			return interval{micros: v.Int}.value(), nil
		}
		return out, cannotCast(v.Type, to)
	case Interval:
		_, out.Int = splitTimestamp(parseIntervalValue(v).micros)
		return out, nil
	}
	switch days, micros := splitTimestamp(ts); to {
	case Date:
		out.Int = days
	case Time:
		out.Int = micros
	case Timestamp:
		if out.Int = ts; !validTimestamp(ts) {
			return Value{}, timestampOutOfRange()
		}
	case TimestampTZ:
		if out.Int = localToUTC(ts, env.location()); !validTimestamp(out.Int) {
			return Value{}, castOutOfRange(v.Type)
		}
	}
	return out, nil
}

// castOutOfRange is the error of a date or timestamp that is none in another type.
func castOutOfRange(from OID) error {
	if from == Date {
		return sqlstate.New(sqlstate.DatetimeOverflow, "date out of range for timestamp")
	}
	return timestampOutOfRange()
}

// castInfinity converts an infinite date or timestamp.
func castInfinity(v, out Value) (Value, error) {
	positive := v.Int > 0
	switch out.Type {
	case Date:
		out.Int = dateMinusInfinity
		if positive {
			out.Int = dateInfinity
		}
	case Timestamp, TimestampTZ:
		out.Int = timeMinusInfinity
		if positive {
			out.Int = timeInfinity
		}
	default:
		return Null(out.Type), nil
	}
	return out, nil
}

// AtTimeZone is AT TIME ZONE: it turns a timestamptz into what clocks in loc
// show (a timestamp), and a timestamp of loc's clocks into the instant (a
// timestamptz). Errors: 22008 when the result is out of range.
func AtTimeZone(v Value, loc *time.Location) (Value, error) {
	env := &Env{Location: loc}
	switch {
	case v.Type == TimestampTZ && v.Valid:
		return castTime(v, Timestamp, env)
	case v.Type == Timestamp && v.Valid:
		return castTime(v, TimestampTZ, env)
	case v.Type == TimestampTZ:
		return Null(Timestamp), nil
	}
	return Null(TimestampTZ), nil
}
