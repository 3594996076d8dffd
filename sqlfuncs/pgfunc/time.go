package pgfunc

import (
	"math"
	"strings"
	"time"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

// clockFunctions lists PostgreSQL's functions on dates and times (9.9).
var clockFunctions = []engine.Function{
	{Name: "now", Result: datum.TimestampTZ, Volatile: engine.Stable, Does: currentTime(datum.TimestampTZ), Help: "start of the transaction"},
	{Name: "clock_timestamp", Result: datum.TimestampTZ, Volatile: engine.Volatile, Does: engine.Eval(clockTime), Help: "now, also in the middle of a statement"},
	{Name: "current_timestamp", Args: engine.Optional(0, datum.Int4), Result: datum.TimestampTZ, Volatile: engine.Stable, Does: currentTime(datum.TimestampTZ), Help: "start of the transaction, with that many digits of the second"},
	{Name: "current_date", Result: datum.Date, Volatile: engine.Stable, Does: currentTime(datum.Date), Help: "today"},
	{Name: "pg_sleep", Args: engine.Args(datum.Float8), Result: datum.Void, Volatile: engine.Volatile, Does: engine.Eval(sleep), Help: "waits for some seconds"},
}

func clockTime(x *engine.Exec, _ []datum.Value) (datum.Value, error) {
	return datum.TimestampTZFromTime(x.Host.Now()), nil
}

// currentTime makes a function that returns the start of the transaction as type t,
// with a[0] decimals of the second.
func currentTime(t datum.OID) engine.Eval {
	return func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
		v, err := datum.Cast(datum.TimestampTZFromTime(x.Host.TransactionTime(x)), t, x.Env())
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

// maxTimePrecision is the largest number of decimals of the second.
const maxTimePrecision = 6

// void is the value that pg_sleep returns.
var void = datum.Value{Type: datum.Void, Valid: true}

// sleep waits for a[0] seconds, or until the statement is cancelled.
func sleep(x *engine.Exec, a []datum.Value) (datum.Value, error) {
	seconds := a[0].Float
	if !(seconds > 0) {
		return void, x.Ctx.Err()
	}
	d := time.Duration(math.MaxInt64)
	if seconds < d.Seconds() {
		d = time.Duration(seconds * float64(time.Second))
	}
	return void, x.Host.Sleep(x, d)
}
