package ids

import (
	"strconv"
	"time"

	"nextid/generator"
	"nextid/generator/layout"
	"nextid/generator/worker"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

// leaseFunctions lease worker ids and reserved time to libraries that issue ids
// themselves. A pool is named by its number of worker bits, or by a generator or
// layout with that many.
var leaseFunctions = []engine.Function{
	leaseFunction("lease_worker(pool text, holder text?) record", "a worker id for a library, which issues ids from not_before up to until",
		func(x *engine.Exec, bits uint8, a []datum.Value) (worker.Lease, error) {
			holder := appName(x)
			if len(a) > 1 {
				holder = a[1].Str
			}
			if len(holder) > generator.MaxNameBytes {
				return worker.Lease{}, sqlstate.New(sqlstate.InvalidParameterValue, "the holder has %d bytes, and %d is the most", len(holder), generator.MaxNameBytes)
			}
			return serverOf(x).Workers.LeaseWorker(x.Ctx, bits, holder)
		}),
	leaseFunction("renew_worker(pool text, worker int8, until timestamptz) record", "the time behind a lease of lease_worker; not_before is its end",
		func(x *engine.Exec, bits uint8, a []datum.Value) (worker.Lease, error) {
			return serverOf(x).Workers.RenewWorker(x.Ctx, bits, a[1].Int, a[2].GoTime().UnixMilli())
		}),
	leaseFunction("release_worker(pool text, worker int8, until timestamptz, used timestamptz) record",
		"gives back the time of a lease behind used, the time of the library's newest id",
		func(x *engine.Exec, bits uint8, a []datum.Value) (worker.Lease, error) {
			return serverOf(x).Workers.ReleaseWorker(x.Ctx, bits, a[1].Int, a[2].GoTime().UnixMilli(), a[3].GoTime().UnixMilli()+1)
		}),
}

func leaseFunction(signature, help string, do func(*engine.Exec, uint8, []datum.Value) (worker.Lease, error)) engine.Function {
	f := engine.Func(signature, engine.Volatile, help, engine.Set(func(x *engine.Exec, a []datum.Value) (engine.Rows, error) {
		if err := x.Host.Client().May(a[0].Str); err != nil {
			return nil, err
		}
		x.Host.Waits()
		bits, err := workerBits(x, a[0].Str)
		if err != nil {
			return nil, err
		}
		if len(a) > 2 && uint64(a[1].Int)>>bits != 0 {
			return nil, sqlstate.New(sqlstate.InvalidParameterValue, "a worker id of %s is from 0 to %d, not %d", sqlstate.Cut(a[0].Str, 64), uint64(1)<<bits-1, a[1].Int)
		}
		l, err := do(x, bits, a)
		return engine.SingleRow(datum.MakeInt8(l.Worker), datum.TimestampTZFromTime(time.UnixMilli(l.Lo)), datum.TimestampTZFromTime(time.UnixMilli(l.Hi))), err
	}))
	f.Columns = engine.OutColumns("worker:int8 not_before:timestamptz until:timestamptz")
	return f
}

// mostWorkerBits is the widest worker field that a pool can have.
const mostWorkerBits = 32

// workerBits returns the width of the worker ids of a pool.
func workerBits(x *engine.Exec, pool string) (uint8, error) {
	bits, err := strconv.Atoi(pool)
	if err != nil {
		if bits, err = Registry(x).WorkerBits(x.Ctx, pool); err != nil && !Missing(err) {
			return 0, err
		}
		if l, err := layout.Preset(pool); bits == 0 && err == nil {
			bits = int(l.WorkerBits())
		}
	}
	if bits < 1 || bits > mostWorkerBits {
		return 0, sqlstate.New(sqlstate.InvalidParameterValue, "there are no worker ids of %q", sqlstate.Cut(pool, 64)).
			WithHint("Name a number of bits, 1 to %d, or a generator or layout whose ids have a worker field: SELECT name, fields FROM nextid.layouts.", mostWorkerBits)
	}
	return uint8(bits), nil
}

// leaseRows are nextid.leases: the leases that have not ended.
func leaseRows(x *engine.Exec) (rows [][]any, err error) {
	marks, err := Registry(x).Workers(x.Ctx)
	for _, m := range marks {
		if l, ok := worker.Leased(m); ok && l.Hi > x.Host.Now().UnixMilli() {
			rows = append(rows, []any{l.Bits, l.Worker, l.Holder, time.UnixMilli(l.Lo), time.UnixMilli(l.Hi), l.Renewed})
		}
	}
	return rows, err
}
