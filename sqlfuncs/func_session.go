package sqlfuncs

import (
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

func textFunc(name string, f func(x *exec) string) function {
	return function{
		name: name, result: datum.Text, volatile: stable, help: "",
		eval: func(x *exec, _ []datum.Value) (datum.Value, error) { return datum.MakeText(f(x)), nil },
	}
}

func nameFunc(name string, f func(x *exec) string) function {
	return function{
		name: name, result: datum.Name, volatile: stable,
		eval: func(x *exec, _ []datum.Value) (datum.Value, error) { return datum.MakeString(datum.Name, f(x)), nil },
	}
}

func boolFunc(name string, value bool, types ...datum.OID) function {
	return function{
		name: name, args: args(types...), result: datum.Bool, volatile: isVolatile,
		eval: func(*exec, []datum.Value) (datum.Value, error) { return datum.MakeBool(value), nil },
	}
}

func voidFunc(name string, types ...datum.OID) function {
	return function{
		name: name, args: args(types...), result: datum.Void, volatile: isVolatile,
		eval: func(*exec, []datum.Value) (datum.Value, error) { return datum.MakeString(datum.Void, ""), nil },
	}
}

// unlockFunc gives up a lock that nobody can have taken: there are none.
func unlockFunc(name, lock string, types ...datum.OID) function {
	return function{
		name: name, args: args(types...), result: datum.Bool, volatile: isVolatile,
		eval: func(x *exec, _ []datum.Value) (datum.Value, error) {
			sessionOf(x).warn(sqlstate.Warning, "you don't own a lock of type "+lock)
			return datum.MakeBool(false), nil
		},
	}
}

// sessionFunctions tell a client where it is.
var sessionFunctions = []function{
	textFunc("version", func(x *exec) string {
		return "PostgreSQL " + settings["server_version"].value + " (nextid " + sessionOf(x).server.version + ")"
	}),
	nameFunc("current_database", func(x *exec) string { return sessionOf(x).options.Database }),
	nameFunc("current_catalog", func(x *exec) string { return sessionOf(x).options.Database }),
	{
		name: "current_schema", result: datum.Name, volatile: stable,
		eval: func(x *exec, _ []datum.Value) (datum.Value, error) {
			for _, schema := range sessionOf(x).schemas() {
				if schema != pgCatalog || sessionOf(x).namesCatalog() {
					return datum.MakeString(datum.Name, schema), nil
				}
			}
			return datum.Null(datum.Name), nil
		},
	},
	nameFunc("current_user", func(x *exec) string { return sessionOf(x).options.User }),
	nameFunc("session_user", func(x *exec) string { return sessionOf(x).options.User }),
	nameFunc("current_role", func(x *exec) string { return sessionOf(x).options.User }),
	nameFunc("user", func(x *exec) string { return sessionOf(x).options.User }),
	textFunc("system_user", func(x *exec) string { return sessionOf(x).options.User }),
	{
		name: "current_schemas", args: args(datum.Bool), result: datum.NameArray, volatile: stable,
		eval: func(x *exec, a []datum.Value) (datum.Value, error) {
			schemas := []datum.Value{}
			for _, schema := range sessionOf(x).schemas() {
				if schema != pgCatalog || a[0].Int == 1 || sessionOf(x).namesCatalog() {
					schemas = append(schemas, datum.MakeString(datum.Name, schema))
				}
			}
			return datum.MakeArray(datum.NameArray, schemas), nil
		},
	},
	{
		name: "pg_backend_pid", result: datum.Int4, volatile: stable,
		eval: func(x *exec, _ []datum.Value) (datum.Value, error) {
			return datum.MakeInt4(int64(sessionOf(x).options.PID)), nil
		},
	},
	{
		name: "current_setting", args: []argument{{typ: datum.Text}, {typ: datum.Bool, optional: true}}, result: datum.Text, volatile: stable,
		eval: currentSetting,
	},
	{
		name: "set_config", args: args(datum.Text, datum.Text, datum.Bool), result: datum.Text, volatile: isVolatile, nullable: true,
		eval: setConfig,
	},
	{
		name: "pg_postmaster_start_time", result: datum.TimestampTZ, volatile: stable,
		eval: func(x *exec, _ []datum.Value) (datum.Value, error) {
			return datum.TimestampTZFromTime(sessionOf(x).server.started), nil
		},
	},
	boolFunc("pg_is_in_recovery", false),
	boolFunc("pg_is_wal_replay_paused", false),
	unlockFunc("pg_advisory_unlock", "ExclusiveLock", datum.Int8),
	unlockFunc("pg_advisory_unlock", "ExclusiveLock", datum.Int4, datum.Int4),
	unlockFunc("pg_advisory_unlock_shared", "ShareLock", datum.Int8),
	unlockFunc("pg_advisory_unlock_shared", "ShareLock", datum.Int4, datum.Int4),
	voidFunc("pg_advisory_unlock_all"),
	boolFunc("pg_cancel_backend", false, datum.Int4),
	boolFunc("pg_jit_available", false),
	{
		name: "txid_current", result: datum.Int8, volatile: stable,
		eval: func(x *exec, _ []datum.Value) (datum.Value, error) {
			return datum.MakeInt8(sessionOf(x).txNow().UnixMicro()), nil
		},
	},
	{
		name: "inet_server_port", result: datum.Int4, volatile: stable,
		eval: func(*exec, []datum.Value) (datum.Value, error) { return datum.Null(datum.Int4), nil },
	},
	{
		name: "inet_client_port", result: datum.Int4, volatile: stable,
		eval: func(x *exec, _ []datum.Value) (datum.Value, error) {
			_, port, ok := sessionOf(x).options.client()
			return datum.Value{Type: datum.Int4, Valid: ok, Int: int64(port)}, nil
		},
	},
	{
		name: "inet_server_addr", result: datum.Text, volatile: stable,
		eval: func(*exec, []datum.Value) (datum.Value, error) { return datum.Null(datum.Text), nil },
	},
	{
		name: "inet_client_addr", result: datum.Text, volatile: stable,
		eval: func(x *exec, _ []datum.Value) (datum.Value, error) {
			addr, _, _ := sessionOf(x).options.client()
			return textOrNull(addr), nil
		},
	},
	{
		name: "pg_client_encoding", result: datum.Name, volatile: stable,
		eval: func(x *exec, _ []datum.Value) (datum.Value, error) {
			v, _ := sessionOf(x).vars.get("client_encoding")
			return datum.MakeString(datum.Name, v), nil
		},
	},
}

func currentSetting(x *exec, a []datum.Value) (datum.Value, error) {
	key := strings.ToLower(a[0].Str)
	if v, ok := sessionOf(x).vars.get(key); ok {
		return datum.MakeText(v), nil
	}
	if len(a) > 1 && a[1].Int == 1 {
		return datum.Null(datum.Text), nil
	}
	return datum.Value{}, sqlstate.New(sqlstate.UndefinedObject, "unrecognized configuration parameter %q", sqlstate.Cut(a[0].Str, 64))
}

func setConfig(x *exec, a []datum.Value) (datum.Value, error) {
	if !a[0].Valid {
		return datum.Value{}, sqlstate.New(sqlstate.NullNotAllowed, "SET requires parameter name")
	}
	s, err := lookupSetting(a[0].Str)
	if err != nil {
		return datum.Value{}, err
	}
	value := s.value
	if a[1].Valid {
		if value, err = normalizeSetting(s, a[1].Str); err != nil {
			return datum.Value{}, err
		}
	}
	if err := sessionOf(x).assign(s, value, a[2].Valid && a[2].Int == 1); err != nil {
		return datum.Value{}, err
	}
	return datum.MakeText(value), nil
}
