package pgfunc

import (
	"math"
	"time"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
)

// clockFunctions lists PostgreSQL's functions on dates and times (9.9).
var clockFunctions = []engine.Function{
	{Name: "now", Result: datum.TimestampTZ, Volatile: engine.Stable, Does: currentTime(datum.TimestampTZ), Help: "start of the transaction"},
	{Name: "current_timestamp", Result: datum.TimestampTZ, Volatile: engine.Stable, Does: currentTime(datum.TimestampTZ), Help: "start of the transaction"},
	{Name: "current_date", Result: datum.Date, Volatile: engine.Stable, Does: currentTime(datum.Date), Help: "today"},
	{Name: "pg_sleep", Args: engine.Args(datum.Float8), Result: datum.Void, Volatile: engine.Volatile, Does: engine.Eval(sleep), Help: "waits for some seconds"},
}

// currentTime makes a function that returns the start of the transaction as type t.
func currentTime(t datum.OID) engine.Eval {
	return func(x *engine.Exec, _ []datum.Value) (datum.Value, error) {
		return datum.Cast(datum.TimestampTZFromTime(x.Host.TransactionTime(x)), t, x.Env())
	}
}

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
