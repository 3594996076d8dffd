package pgcatalog

import (
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/setting"
	"nextid/sqlfuncs/sqlstate"
)

// textFunc makes a function without arguments that returns a text.
func textFunc(name string, f func(x *engine.Exec) string) engine.Function {
	return engine.Function{
		Name: name, Result: datum.Text, Volatile: engine.Stable,
		Does: engine.Eval(func(x *engine.Exec, _ []datum.Value) (datum.Value, error) { return datum.MakeText(f(x)), nil }),
	}
}

// nameFunc makes a function without arguments that returns a name.
func nameFunc(name string, f func(x *engine.Exec) string) engine.Function {
	return engine.Function{
		Name: name, Result: datum.Name, Volatile: engine.Stable,
		Does: engine.Eval(func(x *engine.Exec, _ []datum.Value) (datum.Value, error) {
			return datum.MakeString(datum.Name, f(x)), nil
		}),
	}
}

// endFunc makes a function that ends another connection, or cancels its statement.
func endFunc(name string, queryOnly bool, help string) engine.Function {
	return engine.Function{
		Name: name, Args: engine.Args(datum.Int4), Result: datum.Bool, Volatile: engine.Volatile, Help: help,
		Does: engine.Eval(func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
			s := sessionOf(x)
			found := s.EndOther(a[0].Int, queryOnly)
			if !found {
				s.Warn(sqlstate.New(sqlstate.Warning, "PID %d is not a connection that you may end", a[0].Int))
			}
			return datum.MakeBool(found), nil
		}),
	}
}

// unlock makes pg_advisory_unlock. It reports that the lock is not held, since
// nextid has no advisory locks.
func unlock(types ...datum.OID) engine.Function {
	return engine.Function{
		Name: "pg_advisory_unlock", Args: engine.Args(types...), Result: datum.Bool, Volatile: engine.Volatile,
		Does: engine.Eval(func(x *engine.Exec, _ []datum.Value) (datum.Value, error) {
			x.Host.Warn(sqlstate.New(sqlstate.Warning, "you don't own a lock of type ExclusiveLock"))
			return datum.MakeBool(false), nil
		}),
	}
}

// sessionFunctions lists the functions about the session and the server.
var sessionFunctions = []engine.Function{
	textFunc("version", func(x *engine.Exec) string {
		return "PostgreSQL " + setting.PostgreSQL["server_version"].Default + " (nextid " + x.Host.Version() + ")"
	}),
	nameFunc("current_database", func(x *engine.Exec) string { return x.Host.Client().Database }),
	nameFunc("current_catalog", func(x *engine.Exec) string { return x.Host.Client().Database }),
	{
		Name: "current_schema", Result: datum.Name, Volatile: engine.Stable,
		Does: engine.Eval(func(x *engine.Exec, _ []datum.Value) (datum.Value, error) {
			for _, schema := range schemas(x) {
				if schema != engine.PGCatalog || namesCatalog(x) {
					return datum.MakeString(datum.Name, schema), nil
				}
			}
			return datum.Null(datum.Name), nil
		}),
	},
	nameFunc("current_user", func(x *engine.Exec) string { return x.Host.Client().User }),
	nameFunc("session_user", func(x *engine.Exec) string { return x.Host.Client().User }),
	nameFunc("current_role", func(x *engine.Exec) string { return x.Host.Client().User }),
	nameFunc("user", func(x *engine.Exec) string { return x.Host.Client().User }),
	textFunc("system_user", func(x *engine.Exec) string { return x.Host.Client().User }),
	{
		Name: "current_schemas", Args: engine.Args(datum.Bool), Result: datum.NameArray, Volatile: engine.Stable,
		Does: engine.Eval(func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
			list := []datum.Value{}
			for _, schema := range schemas(x) {
				if schema != engine.PGCatalog || a[0].Int == 1 || namesCatalog(x) {
					list = append(list, datum.MakeString(datum.Name, schema))
				}
			}
			return datum.MakeArray(datum.NameArray, list), nil
		}),
	},
	{
		Name: "pg_backend_pid", Result: datum.Int4, Volatile: engine.Stable,
		Does: engine.Eval(func(x *engine.Exec, _ []datum.Value) (datum.Value, error) {
			return datum.MakeInt4(int64(x.Host.Client().PID)), nil
		}),
	},
	{
		Name: "current_setting", Args: []engine.Argument{{Type: datum.Text}, {Type: datum.Bool, Optional: true}}, Result: datum.Text, Volatile: engine.Stable,
		Does: engine.Eval(currentSetting),
	},
	{
		Name: "set_config", Args: engine.Args(datum.Text, datum.Text, datum.Bool), Result: datum.Text, Volatile: engine.Volatile, Nullable: true,
		Does: engine.Eval(setConfig),
	},
	{
		Name: "pg_postmaster_start_time", Result: datum.TimestampTZ, Volatile: engine.Stable,
		Does: engine.Eval(func(x *engine.Exec, _ []datum.Value) (datum.Value, error) {
			return datum.TimestampTZFromTime(x.Host.Started()), nil
		}),
	},
	always("pg_is_in_recovery", datum.MakeBool(false)),
	unlock(datum.Int8),
	unlock(datum.Int4, datum.Int4),
	always("pg_advisory_unlock_all", datum.MakeString(datum.Void, "")),
	endFunc("pg_cancel_backend", true, "ends the statement of a connection, pid in nextid.sessions: of the same user, or for an administrator"),
	endFunc("pg_terminate_backend", false, "ends a connection, likewise"),
	{
		Name: "inet_server_addr", Result: datum.Text, Volatile: engine.Stable,
		Does: engine.Eval(func(*engine.Exec, []datum.Value) (datum.Value, error) { return datum.Null(datum.Text), nil }),
	},
	{
		Name: "inet_client_addr", Result: datum.Text, Volatile: engine.Stable,
		Does: engine.Eval(func(x *engine.Exec, _ []datum.Value) (datum.Value, error) {
			addr, _, _ := x.Host.Client().Address()
			return datum.TextOrNull(addr), nil
		}),
	},
}

// currentSetting implements current_setting.
func currentSetting(x *engine.Exec, a []datum.Value) (datum.Value, error) {
	key := strings.ToLower(a[0].Str)
	if err := setting.MayExamine(key, x.Host.Client().Admin); err != nil {
		return datum.Value{}, err
	}
	if v, ok := x.Host.Settings().Get(key); ok {
		return datum.MakeText(v), nil
	}
	if len(a) > 1 && a[1].Int == 1 {
		return datum.Null(datum.Text), nil
	}
	return datum.Value{}, setting.Unknown(a[0].Str)
}

// setConfig implements set_config. A NULL value resets the setting.
func setConfig(x *engine.Exec, a []datum.Value) (datum.Value, error) {
	if !a[0].Valid {
		return datum.Value{}, sqlstate.New(sqlstate.NullNotAllowed, "SET requires parameter name")
	}
	s, err := setting.Lookup(a[0].Str)
	if err != nil {
		return datum.Value{}, err
	}
	value := s.Default
	if a[1].Valid {
		if value, err = s.Normalize(a[1].Str); err != nil {
			return datum.Value{}, err
		}
	}
	if err := sessionOf(x).Assign(s, value, a[2].Valid && a[2].Int == 1); err != nil {
		return datum.Value{}, err
	}
	return datum.MakeText(value), nil
}
