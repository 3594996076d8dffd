package sqlfuncs

import (
	"math"
	"slices"
	"strings"
	"time"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// timeFunctions are PostgreSQL's functions on dates and times (9.9).
var timeFunctions = slices.Concat(clockFunctions, timePartFunctions)

var clockFunctions = []function{
	{name: "now", result: datum.TimestampTZ, volatile: stable, eval: transactionTime, help: "start of the transaction"},
	{name: "transaction_timestamp", result: datum.TimestampTZ, volatile: stable, eval: transactionTime, help: "start of the transaction"},
	{name: "statement_timestamp", result: datum.TimestampTZ, volatile: stable, eval: statementTime, help: "start of the statement"},
	{name: "clock_timestamp", result: datum.TimestampTZ, volatile: isVolatile, eval: clockTime, help: "now, also in the middle of a statement"},
	{name: "current_timestamp", args: optional(0, datum.Int4), result: datum.TimestampTZ, volatile: stable, eval: currentTime(datum.TimestampTZ), help: "start of the transaction, with that many digits of the second"},
	{name: "localtimestamp", args: optional(0, datum.Int4), result: datum.Timestamp, volatile: stable, eval: currentTime(datum.Timestamp), help: "start of the transaction in the session's time zone"},
	{name: "current_date", result: datum.Date, volatile: stable, eval: currentTime(datum.Date), help: "today"},
	{name: "current_time", args: optional(0, datum.Int4), result: datum.Time, volatile: stable, eval: currentTime(datum.Time), help: "time of day in the session's time zone"},
	{name: "localtime", args: optional(0, datum.Int4), result: datum.Time, volatile: stable, eval: currentTime(datum.Time), help: "time of day in the session's time zone"},
	{name: "timezone", args: args(datum.Text, datum.TimestampTZ), result: datum.Timestamp, eval: toZone, help: "the time that clocks in a time zone show"},
	{name: "timezone", args: args(datum.Text, datum.Timestamp), result: datum.TimestampTZ, eval: toZone, help: "the instant at which clocks in a time zone show a time"},
	{name: "timezone", args: args(datum.Interval, datum.TimestampTZ), result: datum.Timestamp, eval: toOffset, help: "the time that clocks show that are off by an interval"},
	{name: "timezone", args: args(datum.Interval, datum.Timestamp), result: datum.TimestampTZ, eval: toOffset, help: "the instant at which clocks show a time that are off by an interval"},
	{name: "pg_sleep", args: args(datum.Float8), result: datum.Void, volatile: isVolatile, eval: sleep, help: "waits for some seconds"},
}

// transactionNow is the start of the transaction.
func transactionNow(x *exec) time.Time {
	if s := sessionOf(x); s.tx.state != txIdle {
		return s.tx.began
	}
	return x.started
}

func transactionTime(x *exec, _ []datum.Value) (datum.Value, error) {
	return datum.TimestampTZFromTime(transactionNow(x)), nil
}

func statementTime(x *exec, _ []datum.Value) (datum.Value, error) {
	return datum.TimestampTZFromTime(x.started), nil
}

func clockTime(x *exec, _ []datum.Value) (datum.Value, error) {
	return datum.TimestampTZFromTime(sessionOf(x).server.now()), nil
}

// currentTime is now as another type, with a[0] digits of the second.
func currentTime(t datum.OID) evalFunc {
	return func(x *exec, a []datum.Value) (datum.Value, error) {
		v, err := datum.Cast(datum.TimestampTZFromTime(transactionNow(x)), t, x.env())
		if err != nil || len(a) == 0 {
			return v, err
		}
		if a[0].Int < 0 {
			return v, sqlstate.New(sqlstate.InvalidParameterValue, "%s(%d) precision must not be negative",
				strings.ToUpper(datum.FormatType(t, -1)), a[0].Int)
		}
		return datum.ApplyTypeMod(v, int32(min(a[0].Int, maxTimePrecision)))
	}
}

// maxTimePrecision is how many digits of the second are kept.
const maxTimePrecision = 6

func toZone(_ *exec, a []datum.Value) (datum.Value, error) {
	zone, err := zoneOf(a[0].Str)
	if err != nil {
		return a[0], err
	}
	return datum.AtTimeZone(a[1], zone)
}

func toOffset(x *exec, a []datum.Value) (datum.Value, error) {
	months, days, micros := a[0].Span()
	if months != 0 || days != 0 {
		return a[0], sqlstate.New(sqlstate.InvalidParameterValue, "interval time zone \"%s\" must not include months or days", outputText(x, a[0]))
	}
	return datum.AtTimeZone(a[1], time.FixedZone("", int(micros/microsPerSecond)))
}

// Infinite dates and times, and the first and last finite ones, as
// PostgreSQL stores them (datatype/timestamp.h).
const (
	dateInfinity      = math.MaxInt32
	dateMinusInfinity = math.MinInt32
	timestampInfinity = math.MaxInt64
	timestampMinusInf = math.MinInt64
	unixToPostgres    = 946_684_800 // seconds from 1970 to 2000
	julianOf2000      = 2_451_545
	secondsPerDay     = 86_400
	microsPerSecond   = 1_000_000
	microsPerMinute   = 60 * microsPerSecond
	microsPerHour     = 60 * microsPerMinute
	microsPerDay      = 24 * microsPerHour
	daysPerMonth      = 30 // of justify_days
	monthsPerYear     = 12
)

// infiniteTime reports the direction of an infinite date or timestamp, 0 for
// others.
func infiniteTime(v datum.Value) int {
	low, high := int64(timestampMinusInf), int64(timestampInfinity)
	switch v.Type {
	case datum.Date:
		low, high = dateMinusInfinity, dateInfinity
	case datum.Timestamp, datum.TimestampTZ:
	default:
		return 0
	}
	switch v.Int {
	case low:
		return -1
	case high:
		return 1
	}
	return 0
}

// sleep waits for a[0] seconds, or until the statement is cancelled.
func sleep(x *exec, a []datum.Value) (datum.Value, error) {
	seconds := a[0].Float
	if !(seconds > 0) {
		return void, x.ctx.Err()
	}
	d := time.Duration(math.MaxInt64)
	if seconds < d.Seconds() {
		d = time.Duration(seconds * float64(time.Second))
	}
	sessionOf(x).waits()
	if portalOf(x) != nil {
		sessionOf(x).asleep.Store(&portalOf(x).st.Text)
		defer sessionOf(x).asleep.Store(nil)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return void, nil
	case <-x.ctx.Done():
		return void, x.ctx.Err()
	}
}
