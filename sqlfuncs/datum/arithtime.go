package datum

import "nextid/sqlfuncs/sqlstate"

// computeTime is arithmetic with dates, timestamps and intervals.
func computeTime(op operator, a, b Value, env *Env) (Value, error) {
	if op == opSub && a.Type == PgLSN && b.Type == PgLSN {
		return subtractLSN(a, b)
	}
	left, right := a, b
	if op == opAdd && timeRank(a.Type) < timeRank(b.Type) {
		a, b = b, a // integer + date, interval + timestamp
	}
	t := timeResult(op, a.Type, b.Type)
	switch {
	case t == Invalid:
		return Value{}, noOperator(op, left, right)
	case !a.Valid || !b.Valid:
		return Null(t), nil
	case a.Type == Interval:
		return computeInterval(op, a, b)
	case b.Type == Interval:
		return addInterval(op, a, b, t, env)
	case t == Date:
		return addDays(op, a, b.Int)
	case t == Int4:
		return subtractDates(a, b)
	}
	return subtractTimestamps(a, b, env)
}

// timeRank orders the operands of a sum: what is added to comes first.
func timeRank(t OID) int {
	switch t {
	case Date, Timestamp, TimestampTZ:
		return 2
	case Interval:
		return 1
	}
	return 0
}

func isTimestamp(t OID) bool { return t == Timestamp || t == TimestampTZ }

// timeResult is the type of a op b, Invalid when there is no such operator.
func timeResult(op operator, a, b OID) OID {
	switch {
	case op != opAdd && op != opSub:
	case op == opSub && a == Date && b == Date:
		return Int4
	case op == opSub && timeRank(a) == 2 && timeRank(b) == 2:
		return Interval
	case a == Date && (b == Int4 || b == Int2):
		return Date
	case a == Date && b == Interval:
		return Timestamp
	case (isTimestamp(a) || a == Interval) && b == Interval:
		return a
	}
	return Invalid
}

func computeInterval(op operator, a, b Value) (Value, error) {
	span := parseIntervalValue(b)
	var err error
	if op == opSub {
		span, err = span.times(-1)
	}
	if err == nil {
		span, err = parseIntervalValue(a).plus(span)
	}
	return span.value(), err
}

func addDays(op operator, a Value, n int64) (Value, error) {
	if isInfiniteTime(a) {
		return a, nil
	}
	if op == opSub {
		n = -n
	}
	a.Int += n
	if a.Int < minDays || a.Int >= endDays {
		return Value{}, sqlstate.New(sqlstate.DatetimeOverflow, "date out of range")
	}
	return a, nil
}

func subtractDates(a, b Value) (Value, error) {
	if isInfiniteTime(a) || isInfiniteTime(b) {
		return Value{}, sqlstate.New(sqlstate.DatetimeOverflow, "cannot subtract infinite dates")
	}
	return MakeInt4(a.Int - b.Int), nil
}

// subtractTimestamps gives days and time, never months. A date becomes the
// type of the other operand.
func subtractTimestamps(a, b Value, env *Env) (Value, error) {
	if a.Type != b.Type {
		to := Timestamp
		if a.Type == TimestampTZ || b.Type == TimestampTZ {
			to = TimestampTZ
		}
		var err error
		if a, err = Cast(a, to, env); err != nil {
			return Value{}, err
		}
		if b, err = Cast(b, to, env); err != nil {
			return Value{}, err
		}
	}
	if isInfiniteTime(a) || isInfiniteTime(b) {
		return Value{}, sqlstate.New(sqlstate.DatetimeOverflow, "cannot subtract infinite timestamps")
	}
	micros := a.Int - b.Int
	if (a.Int < 0) != (b.Int < 0) && (micros < 0) != (a.Int < 0) {
		return Value{}, intervalOutOfRange()
	}
	return interval{days: int32(micros / microsPerDay), micros: micros % microsPerDay}.value(), nil
}

// addInterval adds months, then days, then microseconds to a date or
// timestamp. Of a timestamptz, months and days are those of the session's
// time zone.
func addInterval(op operator, a, b Value, t OID, env *Env) (Value, error) {
	if a.Type == Date {
		var err error
		if a, err = castTime(a, Timestamp, nil); err != nil {
			return Value{}, err
		}
	}
	a.Type = t
	span := parseIntervalValue(b)
	if op == opSub {
		var err error
		if span, err = span.times(-1); err != nil {
			return Value{}, err
		}
	}
	if isInfiniteTime(a) {
		return a, nil
	}
	var err error
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
