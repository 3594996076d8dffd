package datum

import "nextid/sqlfuncs/sqlstate"

func dateOutOfRange() error {
	return sqlstate.New(sqlstate.DatetimeOverflow, "date out of range")
}

func addDays(op byte, a Value, n int64) (Value, error) {
	if op == '-' {
		n = -n
	}
	if a.Int += n; !validDate(a.Int) {
		return Value{}, dateOutOfRange()
	}
	return a, nil
}

// subtractTimestamps gives days and time, never months.
func subtractTimestamps(a, b Value) (Value, error) {
	micros := a.Int - b.Int
	if (a.Int < 0) != (b.Int < 0) && (micros < 0) != (a.Int < 0) {
		return Value{}, intervalOutOfRange()
	}
	return interval{days: int32(micros / microsPerDay), micros: micros % microsPerDay}.value(), nil
}

// addInterval adds months, then days, then microseconds to a date or
// timestamp. Of a timestamptz, months and days are those of the session's
// time zone. A date becomes a timestamp.
func addInterval(op byte, a Value, span interval, env *Env) (Value, error) {
	var err error
	if a.Type == Date {
		if a, err = castTime(a, Timestamp, nil); err != nil {
			return Value{}, err
		}
	}
	if op == '-' {
		if span, err = span.times(-1); err != nil {
			return Value{}, err
		}
	}
	if span.months != 0 {
		a.Int, err = onCalendar(a, env, func(day int64) int64 { return addMonths(day, span.months) })
	}
	if err == nil && span.days != 0 {
		a.Int, err = onCalendar(a, env, func(day int64) int64 { return day + int64(span.days) })
	}
	if err != nil {
		return Value{}, err
	}
	ts := a.Int + span.micros
	if (span.micros > 0) != (ts > a.Int) && span.micros != 0 || !validTimestamp(ts) {
		return Value{}, timestampOutOfRange()
	}
	a.Int = ts
	return a, nil
}

// onCalendar moves a timestamp to another day at the same time of the
// clock, in the session's time zone if it has one. Each move ends in an
// instant, so a time that the zone skips is moved before the next one.
func onCalendar(v Value, env *Env, move func(day int64) int64) (int64, error) {
	local := v.Int
	if v.Type == TimestampTZ {
		local = utcToLocal(local, env.location())
	}
	day, micros := splitTimestamp(local)
	ts, err := joinLocal(move(day), micros)
	if err == nil && v.Type == TimestampTZ {
		ts = localToUTC(ts, env.location())
	}
	if err == nil && !validTimestamp(ts) {
		err = timestampOutOfRange()
	}
	return ts, err
}

// addMonths adds months to a day; a day that the month does not have becomes
// its last.
func addMonths(day int64, months int32) int64 {
	c := civilFromDays(day)
	month := int64(c.year)*monthsPerYear + int64(c.month-1) + int64(months)
	c.year = int(floorDiv(month, monthsPerYear))
	c.month = int(month-int64(c.year)*monthsPerYear) + 1
	c.day = min(c.day, daysInMonth(c.year, c.month))
	return c.days()
}
