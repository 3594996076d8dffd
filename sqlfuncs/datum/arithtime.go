package datum

import "nextid/sqlfuncs/sqlstate"

// computeTime is arithmetic with dates, times and intervals.
func computeTime(op operator, a, b Value, env *Env) (Value, error) {
	if isClockAsInterval(op, b.Type, a.Type) {
		b = clockAsInterval(b)
	}
	if isClockAsInterval(op, a.Type, b.Type) && op != opSub {
		a = clockAsInterval(a)
	}
	t := timeResult(op, a.Type, b.Type)
	switch {
	case t == Invalid:
		return Value{}, noOperator(op, a, b)
	case !a.Valid || !b.Valid:
		return Null(t), nil
	case op == opAdd && timeResultRank(a.Type) < timeResultRank(b.Type):
		a, b = b, a // integer + date, interval + timestamp, time + date
	case op == opMul && b.Type == Interval:
		a, b = b, a
	}
	switch {
	case a.Type == Interval:
		return computeInterval(op, a, b)
	case b.Type == Interval && a.Type == Time:
		return addToClock(op, a, b), nil
	case b.Type == Interval:
		return addInterval(op, a, b, t, env)
	case a.Type == Time: // time - time
		return interval{micros: a.Int - b.Int}.value(), nil
	case t == Date:
		return addDays(op, a, b.Int)
	case t == Int4:
		return subtractDates(a, b)
	case b.Type == Time: // date + time
		return dateAndTime(a, b)
	}
	return subtractTimestamps(a, b, env)
}

// isClockAsInterval reports whether a time of day next to another type counts
// as an interval, since there is no operator of its own.
func isClockAsInterval(op operator, t, other OID) bool {
	switch {
	case t != Time:
		return false
	case op == opMul || op == opDiv:
		return numberRank(other) > 0
	case op == opSub && (other == Date || other == Interval):
		return true
	}
	return isTimestamp(other)
}

func clockAsInterval(v Value) Value {
	if !v.Valid {
		return Null(Interval)
	}
	return interval{micros: v.Int}.value()
}

// timeResultRank orders the operands of a sum: what is added to comes first.
func timeResultRank(t OID) int {
	switch t {
	case Date, Timestamp, TimestampTZ:
		return 3
	case Time:
		return 2
	case Interval:
		return 1
	}
	return 0
}

func isTimestamp(t OID) bool { return t == Timestamp || t == TimestampTZ }

// timeResult is the type of a op b, Invalid when there is no such operator.
func timeResult(op operator, a, b OID) OID {
	switch op {
	case opMul:
		if a == Interval && numberRank(b) > 0 || numberRank(a) > 0 && b == Interval {
			return Interval
		}
	case opDiv:
		if a == Interval && numberRank(b) > 0 {
			return Interval
		}
	case opAdd:
		if timeResultRank(a) < timeResultRank(b) {
			a, b = b, a
		}
		return sumType(a, b)
	case opSub:
		switch {
		case a == Date && b == Date:
			return Int4
		case a == Time && b == Time, timeResultRank(a) == 3 && timeResultRank(b) == 3:
			return Interval
		}
		return sumType(a, b)
	case opMod:
	}
	return Invalid
}

// sumType is the type of a ± b where a is what is added to.
func sumType(a, b OID) OID {
	switch {
	case a == Date && (b == Int4 || b == Int2):
		return Date
	case a == Date && (b == Interval || b == Time):
		return Timestamp
	case (isTimestamp(a) || a == Time || a == Interval) && b == Interval:
		return a
	}
	return Invalid
}

func computeInterval(op operator, a, b Value) (Value, error) {
	x := parseIntervalValue(a)
	var out interval
	var err error
	switch op {
	case opMul:
		out, err = x.scale(floatOf(b))
	case opDiv:
		if floatOf(b) == 0 {
			return Value{}, divisionByZero()
		}
		out, err = x.divide(floatOf(b))
	default:
		out, err = x.combine(op, parseIntervalValue(b))
	}
	return out.value(), err
}

// addToClock adds to a time of day, around midnight.
func addToClock(op operator, a, b Value) Value {
	micros := parseIntervalValue(b).micros % microsPerDay
	if op == opSub {
		micros = -micros
	}
	_, a.Int = splitTimestamp(a.Int + micros)
	return a
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

func dateAndTime(a, b Value) (Value, error) {
	ts, err := castTime(a, Timestamp, nil)
	if err != nil || isInfiniteTime(ts) {
		return ts, err
	}
	if ts.Int += b.Int; !validTimestamp(ts.Int) {
		return Value{}, timestampOutOfRange()
	}
	return ts, nil
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
		if span, err = span.negate(); err != nil {
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
