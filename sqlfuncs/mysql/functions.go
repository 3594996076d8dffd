package mysql

import (
	"slices"
	"time"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/ids"
	"nextid/sqlfuncs/sqlstate"
)

// sessionFunctions lists the functions about the session and the server (manual,
// 12.16).
var sessionFunctions = slices.Concat(
	[]engine.Function{
		sessionText("version", 64, func(x *engine.Exec) string { return Version(x.Host.Version()) }),
		{Name: "connection_id", Result: datum.Int4, Volatile: engine.Stable, Does: engine.Eval(func(x *engine.Exec, _ []datum.Value) (datum.Value, error) {
			return datum.MakeInt4(int64(x.Host.Client().PID)), nil
		})},
		{
			Name: "last_insert_id", Args: []engine.Argument{{Type: datum.Int8, Optional: true}}, Result: datum.Int8, Volatile: engine.Volatile,
			Help: "the newest id that this session drew, or set with LAST_INSERT_ID(n)", Does: engine.Eval(lastInsertID),
		},
		{Name: "sleep", Args: engine.Args(datum.Float8), Result: datum.Int4, Volatile: engine.Volatile, Does: engine.Eval(sleep)},
	},
	alias(engine.Function{Name: "database", Result: datum.Text, Length: fixedLength(64), Volatile: engine.Stable, Letters: true, Does: engine.Eval(func(x *engine.Exec, _ []datum.Value) (datum.Value, error) {
		return datum.TextOrNull(stateOf(x).Database), nil
	})}, "schema"),
	[]engine.Function{
		sessionText("user", accountLength, func(x *engine.Exec) string { return accountOf(x.Host.Client()) }),
		sessionText("current_user", accountLength, func(x *engine.Exec) string { return sqlstate.Cut(x.Host.Client().User, 64) + "@%" }),
	},
)

// accountLength is the length of USER() in MariaDB, in characters.
const accountLength = 384

// sessionText makes a function without arguments that returns a text.
func sessionText(name string, length int32, f func(x *engine.Exec) string) engine.Function {
	return engine.Function{
		Name: name, Result: datum.Text, Volatile: engine.Stable, Length: fixedLength(length), Letters: true,
		Does: engine.Eval(func(x *engine.Exec, _ []datum.Value) (datum.Value, error) { return datum.MakeText(f(x)), nil }),
	}
}

// lastInsertID implements LAST_INSERT_ID() and LAST_INSERT_ID(n), which sets it.
func lastInsertID(x *engine.Exec, a []datum.Value) (datum.Value, error) {
	d := sessionOf(x).Drawn()
	if len(a) > 0 {
		d.Inserted, d.InStatement = a[0].Int, true
	}
	return datum.MakeInt8(d.Inserted), nil
}

// maxSleep limits SLEEP; max_statement_time may end it earlier.
const maxSleep = 24 * time.Hour

// sleep implements SLEEP. It returns 0, or an error if the statement is cancelled.
func sleep(x *engine.Exec, a []datum.Value) (datum.Value, error) {
	if a[0].Float < 0 {
		return datum.Value{}, sqlstate.New(sqlstate.InvalidParameterValue, "Incorrect arguments to sleep")
	}
	d := time.Duration(min(a[0].Float, maxSleep.Seconds()) * float64(time.Second))
	return datum.MakeInt4(0), x.Host.Sleep(x, d)
}

// ---- conditions ----

// conditionalFunctions lists the functions that compute only the arguments that they
// need.
var conditionalFunctions = []engine.Function{
	{Name: "if", Length: func(es []*engine.Expr) int32 { return longest(es[1:]) }, Args: engine.Args(engine.AnyElement, engine.AnyElement, engine.AnyElement), Result: engine.AnyElement, Does: engine.Typed(ifThen)},
	{Name: "coalesce", Length: longest, Args: engine.Args(engine.AnyElement), Variadic: true, Result: engine.AnyElement, Does: engine.Typed(engine.Coalesce)},
	{Name: "ifnull", Length: longest, Args: engine.Args(engine.AnyElement, engine.AnyElement), Result: engine.AnyElement, Does: engine.Typed(engine.Coalesce)},
	{Name: "nullif", Args: engine.Args(engine.AnyElement, engine.AnyElement), Result: engine.AnyElement, Does: engine.Typed(engine.NullIf)},
	{Name: "least", Length: longest, Args: engine.Args(engine.AnyElement, engine.AnyElement), Variadic: true, Result: engine.AnyElement, Does: engine.Typed(least)},
}

// ifThen implements IF.
func ifThen(p *engine.Planner, es []*engine.Expr) (*engine.Expr, error) {
	cond, err := dialectPlanned(p).Truth(p, es[0], "IF")
	if err != nil {
		return nil, err
	}
	branches := []*engine.Expr{es[1], es[2]}
	t, err := p.CommonArgs("IF", branches)
	if err != nil {
		return nil, err
	}
	return engine.Derive(t, func(x *engine.Exec) (datum.Value, error) {
		v, err := cond.Eval(x)
		if err != nil {
			return v, err
		}
		if v.Valid && v.Int == 1 {
			return branches[0].Eval(x)
		}
		return branches[1].Eval(x)
	}, cond, branches[0], branches[1]), nil
}

// least implements LEAST. The result is NULL if an argument is NULL. A text and a
// number are compared as numbers.
func least(p *engine.Planner, es []*engine.Expr) (*engine.Expr, error) {
	types, compared := make([]datum.OID, len(es)), datum.Unknown
	for i, e := range es {
		types[i], compared = e.Type, comparisonType(compared, e.Type)
	}
	t, err := p.Dialect.Common(types)
	if t == datum.Text || t == datum.Bytea {
		t = compared
	}
	if err == nil {
		err = p.CoerceAll(es, t)
	}
	if err != nil {
		return nil, err
	}
	fold := p.FoldOf(t, !p.Exact(es...))
	return engine.Derive(t, func(x *engine.Exec) (datum.Value, error) {
		var best datum.Value
		for i, e := range es {
			v, err := e.Eval(x)
			if err != nil || !v.Valid {
				return datum.Null(t), err
			}
			c := -1
			if i > 0 {
				if c, err = datum.Compare(fold.Apply(v), fold.Apply(best)); err != nil {
					return v, err
				}
			}
			if c < 0 {
				best = v
			}
		}
		return best, nil
	}, es...), nil
}

// idFunctions lists the functions that make and convert UUIDs (manual, 12.24).
var idFunctions = []engine.Function{
	{
		Name: "uuid", Result: datum.Text, Length: fixedLength(36), Volatile: engine.Volatile, Help: "a UUID of version 1",
		Does: engine.Eval(func(x *engine.Exec, _ []datum.Value) (datum.Value, error) {
			return datum.MakeText(ids.TimeUUID(x).String()), nil
		}),
	},
	{
		Name: "uuid_short", Result: datum.Int8, Volatile: engine.Volatile, Help: "an id of the generator uuid_short, of its own kind",
		Does: engine.Eval(func(x *engine.Exec, _ []datum.Value) (datum.Value, error) { return ids.DrawID(x, "uuid_short") }),
	},
	{Name: "uuid_to_bin", Args: []engine.Argument{{Type: datum.Text}, {Type: datum.Int8, Optional: true}}, Result: datum.Bytea, Does: engine.Eval(uuidToBin)},
	{Name: "bin_to_uuid", Args: []engine.Argument{{Type: datum.Bytea}, {Type: datum.Int8, Optional: true}}, Result: datum.Text, Does: engine.Eval(binToUUID)},
}

func uuidError(text, function string) error {
	return sqlstate.New(sqlstate.InvalidText, "Incorrect string value: '%s' for function %s", sqlstate.Cut(text, 64), function).WithMySQL(1411, "HY000")
}

// uuidToBin implements UUID_TO_BIN.
func uuidToBin(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	v, err := datum.ParseText(datum.UUID, a[0].Str, nil)
	if err != nil {
		return v, uuidError(a[0].Str, "uuid_to_bin")
	}
	u := ids.UUIDOf(v)
	if len(a) > 1 && a[1].Int != 0 { // high bits of the time first, so that the values sort by time
		u = u.Swapped()
	}
	return datum.MakeString(datum.Bytea, string(u[:])), nil
}

// binToUUID implements BIN_TO_UUID.
func binToUUID(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	if len(a[0].Str) != 16 {
		return datum.Value{}, uuidError(a[0].Str, "bin_to_uuid")
	}
	u := ids.UUIDOf(a[0])
	if len(a) > 1 && a[1].Int != 0 {
		u = u.Unswapped()
	}
	return datum.MakeText(u.String()), nil
}
