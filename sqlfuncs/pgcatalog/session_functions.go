package pgcatalog

import (
	"fmt"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/setting"
	"nextid/sqlfuncs/sqlstate"
)

// about makes a stable function without arguments that returns a string.
func about(signature string, f func(x *engine.Exec) string) engine.Function {
	def := engine.Func(signature, engine.Stable, "", nil)
	def.Does = engine.Eval(func(x *engine.Exec, _ []datum.Value) (datum.Value, error) {
		return datum.MakeString(def.Result, f(x)), nil
	})
	return def
}

// endFunc makes a function that ends another connection, or cancels its statement.
func endFunc(name string, queryOnly bool, help string) engine.Function {
	f := function(name, datum.Bool, []datum.OID{datum.Int4}, func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
		s := sessionOf(x)
		found := s.EndOther(a[0].Int, queryOnly)
		if !found {
			s.Warn(sqlstate.New(sqlstate.Warning, "PID %d is not a connection that you may end", a[0].Int))
		}
		return datum.MakeBool(found), nil
	})
	f.Volatile, f.Help = engine.Volatile, help
	return f
}

// unlock makes pg_advisory_unlock. It reports that the lock is not held, since
// nextid has no advisory locks.
func unlock(types ...datum.OID) engine.Function {
	f := function("pg_advisory_unlock", datum.Bool, types, func(x *engine.Exec, _ []datum.Value) (datum.Value, error) {
		x.Host.Warn(sqlstate.New(sqlstate.Warning, "you don't own a lock of type ExclusiveLock"))
		return datum.MakeBool(false), nil
	})
	f.Volatile = engine.Volatile
	return f
}

// sessionFunctions lists the functions about the session and the server.
var sessionFunctions = []engine.Function{
	about("version() text", func(x *engine.Exec) string {
		return "PostgreSQL " + setting.PostgreSQL["server_version"].Default + " (nextid " + x.Host.Version() + ")"
	}),
	about("current_database() name", func(x *engine.Exec) string { return x.Host.Client().Database }),
	about("current_catalog() name", func(x *engine.Exec) string { return x.Host.Client().Database }),
	function("current_schema", datum.Name, nil, func(x *engine.Exec, _ []datum.Value) (datum.Value, error) {
		for _, schema := range schemas(x) {
			if schema != engine.PGCatalog || namesCatalog(x) {
				return datum.MakeString(datum.Name, schema), nil
			}
		}
		return datum.Null(datum.Name), nil
	}),
	about("current_user() name", func(x *engine.Exec) string { return x.Host.Client().User }),
	about("session_user() name", func(x *engine.Exec) string { return x.Host.Client().User }),
	about("current_role() name", func(x *engine.Exec) string { return x.Host.Client().User }),
	about("user() name", func(x *engine.Exec) string { return x.Host.Client().User }),
	about("system_user() text", func(x *engine.Exec) string { return x.Host.Client().User }),
	function("current_schemas", datum.NameArray, []datum.OID{datum.Bool}, func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
		list := []datum.Value{}
		for _, schema := range schemas(x) {
			if schema != engine.PGCatalog || a[0].Int == 1 || namesCatalog(x) {
				list = append(list, datum.MakeString(datum.Name, schema))
			}
		}
		return datum.MakeArray(datum.NameArray, list), nil
	}),
	function("pg_backend_pid", datum.Int4, nil, func(x *engine.Exec, _ []datum.Value) (datum.Value, error) {
		return datum.MakeInt4(int64(x.Host.Client().PID)), nil
	}),
	{
		Name: "current_setting", Args: []engine.Argument{{Type: datum.Text}, {Type: datum.Bool, Optional: true}}, Result: datum.Text, Volatile: engine.Stable,
		Does: engine.Eval(currentSetting),
	},
	{
		Name: "set_config", Args: engine.Args(datum.Text, datum.Text, datum.Bool), Result: datum.Text, Volatile: engine.Volatile, Nullable: true,
		Does: engine.Eval(setConfig),
	},
	always("pg_is_in_recovery", datum.MakeBool(false)),
	unlock(datum.Int8),
	unlock(datum.Int4, datum.Int4),
	always("pg_advisory_unlock_all", datum.MakeString(datum.Void, "")),
	endFunc("pg_cancel_backend", true, "ends the statement of a connection, pid in nextid.sessions: of the same user, or for an administrator"),
	endFunc("pg_terminate_backend", false, "ends a connection, likewise"),
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
	value, _ := x.Host.Settings().Begins(strings.ToLower(s.Name))
	if a[1].Valid {
		value = a[1].Str
	}
	if value, err = s.Normalize(value); err != nil {
		return datum.Value{}, err
	}
	if err := sessionOf(x).Assign(s, value, a[2].Valid && a[2].Int == 1); err != nil {
		return datum.Value{}, err
	}
	return datum.MakeText(value), nil
}

// encodingNames maps numbers of PostgreSQL's server encodings to their names.
var encodingNames = map[int64]string{0: "SQL_ASCII", encodingUTF8: "UTF8", 8: "LATIN1"}

// encodingFunctions lists the functions on encodings, and pg_get_userbyid.
var encodingFunctions = []engine.Function{
	function("pg_encoding_to_char", datum.Name, []datum.OID{datum.Int4}, func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
		return datum.MakeString(datum.Name, encodingNames[a[0].Int]), nil
	}),
	function("pg_char_to_encoding", datum.Int4, []datum.OID{datum.Name}, func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
		for n, name := range encodingNames {
			if strings.EqualFold(strings.ReplaceAll(a[0].Str, "-", ""), name) {
				return datum.MakeInt4(n), nil
			}
		}
		return datum.MakeInt4(-1), nil
	}),
	always("getdatabaseencoding", datum.MakeString(datum.Name, "UTF8")),
	function("pg_get_userbyid", datum.Name, []datum.OID{datum.Oid}, func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
		name, ok := systemOf(x).roleName(uint32(a[0].Int))
		if !ok {
			name = fmt.Sprintf("unknown (OID=%d)", a[0].Int)
		}
		return datum.MakeString(datum.Name, name), nil
	}),
}

// roleName returns the name of the role with an OID.
func (s *System) roleName(oid uint32) (string, bool) {
	for _, r := range s.roles() {
		if r.oid == oid {
			return r.name, true
		}
	}
	return s.nameOfRow("pg_authid", "rolname", oid)
}

// size makes a function about the size of an object on disk. It is 0: the rows of
// nextid's tables are made when they are read.
func size(name string, types ...datum.OID) engine.Function {
	return always(name, datum.MakeInt8(0), types...)
}

// sizeFunctions lists the functions on sizes on disk.
var sizeFunctions = []engine.Function{
	size("pg_relation_size", datum.RegClass), size("pg_relation_size", datum.RegClass, datum.Text),
	size("pg_total_relation_size", datum.RegClass), size("pg_table_size", datum.RegClass),
	size("pg_database_size", datum.Oid), size("pg_database_size", datum.Name),
	size("pg_tablespace_size", datum.Oid), size("pg_tablespace_size", datum.Name),
	always("pg_tablespace_location", datum.MakeText(""), datum.Oid),
	function("pg_size_pretty", datum.Text, []datum.OID{datum.Int8}, func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
		return datum.MakeText(sizePretty(a[0].Int)), nil
	}),
	function("pg_size_pretty", datum.Text, []datum.OID{datum.Numeric}, func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
		n, err := datum.Cast(a[0], datum.Int8, x.Env())
		return datum.MakeText(sizePretty(n.Int)), err
	}),
}

// sizePretty prints a size as pg_size_pretty does. It uses a larger unit from 10
// times its size on, and rounds half up.
func sizePretty(n int64) string {
	units := []string{"bytes", "kB", "MB", "GB", "TB", "PB"}
	sign := int64(1)
	if n < 0 {
		sign, n = -1, -n
	}
	half := int64(0) // the last bit that was shifted out
	u := 0
	for ; u < len(units)-1 && n+half >= 10*1024; u++ {
		half = n >> 9 & 1
		n >>= 10
	}
	return fmt.Sprintf("%d %s", sign*(n+half), units[u])
}

// schemaFunctions lists the functions on schemas.
var schemaFunctions = []engine.Function{
	always("pg_is_other_temp_schema", datum.MakeBool(false), datum.Oid),
	always("pg_my_temp_schema", datum.Value{Type: datum.Oid, Valid: true}),
}
