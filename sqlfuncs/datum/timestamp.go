package datum

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
	ts := v.Int
	switch v.Type {
	case Date:
		var err error
		if ts, err = joinTimestamp(v.Int, 0); err != nil {
			return Value{}, timestampOutOfRange()
		}
	case TimestampTZ:
		ts = utcToLocal(v.Int, env.location())
	case Time:
		if to == Interval {
			return interval{micros: v.Int}.value(), nil
		}
		return out, CannotCast(v.Type, to)
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
			return Value{}, timestampOutOfRange()
		}
	}
	return out, nil
}
