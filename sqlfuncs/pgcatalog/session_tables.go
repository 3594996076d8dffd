package pgcatalog

import (
	"maps"
	"slices"
	"strconv"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/setting"
)

// roleOwner is the role that owns all objects.
const roleOwner = "nextid"

// role is a row of pg_authid.
type role struct {
	name  string
	oid   uint32
	admin bool
}

// roles lists the owner and the users with a session. The list of all users belongs
// to the server, which this package does not know.
func (s *System) roles() []role {
	users := s.users()
	users[roleOwner] = true
	var out []role
	for _, name := range slices.Sorted(maps.Keys(users)) {
		out = append(out, role{name: name, oid: roleOID(name), admin: users[name]})
	}
	return out
}

// roleOID returns the OID of a role, a hash of its name.
func roleOID(name string) uint32 {
	if name == roleOwner {
		return ownerOID
	}
	h := uint32(2166136261) // FNV-1a
	for i := range len(name) {
		h = (h ^ uint32(name[i])) * 16777619
	}
	return 1<<29 | h>>4
}

// roleRows makes the rows of pg_authid: PostgreSQL's predefined roles, and roles.
func roleRows(x *engine.Exec, t *engine.Table) ([][]datum.Value, error) {
	rows := slices.Clone(systemOf(x).staticRows(t).rows) // the predefined ones
	for _, r := range systemOf(x).roles() {
		rows = append(rows, t.Row("oid", r.oid, "rolname", r.name, "rolsuper", r.admin, "rolinherit", true, "rolcreaterole", r.admin,
			"rolcreatedb", r.admin, "rolcanlogin", true, "rolreplication", r.admin, "rolbypassrls", r.admin, "rolconnlimit", -1))
	}
	return rows, nil
}

// schemaNames returns the schemas, sorted.
func schemaNames() []string { return slices.Sorted(maps.Keys(schemaOIDs)) }

// schemaName returns the schema with an OID, or "".
func schemaName(oid uint32) string {
	for name, o := range schemaOIDs {
		if o == oid {
			return name
		}
	}
	return ""
}

func namespaceRows(_ *System, t *engine.Table) [][]datum.Value {
	var rows [][]datum.Value
	for _, name := range schemaNames() {
		rows = append(rows, t.Row("oid", schemaOIDs[name], "nspname", name, "nspowner", ownerOID))
	}
	return rows
}

// ownDatabase names nextid's database. A client may use any other name for it.
const ownDatabase = "nextid"

// databaseOID returns the OID of a database. A session sees at most two: ownDatabase
// and the one under whose name it connected.
func databaseOID(name string) uint32 {
	if name == ownDatabase {
		return engine.FirstTableOID - 2
	}
	return engine.FirstTableOID - 3
}

// encodingUTF8 is pg_database.encoding of UTF8.
const encodingUTF8 = 6

// databaseNames returns the databases that the session sees, sorted.
func databaseNames(x *engine.Exec) []string {
	names := []string{ownDatabase, x.Host.Client().Database}
	slices.Sort(names)
	return slices.Compact(names)
}

// databaseRows makes the rows of pg_database.
func databaseRows(x *engine.Exec, t *engine.Table) ([][]datum.Value, error) {
	var rows [][]datum.Value
	for _, name := range databaseNames(x) {
		rows = append(rows, t.Row("oid", databaseOID(name), "datname", name, "datdba", ownerOID, "encoding", encodingUTF8,
			"datlocprovider", "c", "datallowconn", true, "datconnlimit", -1, "datfrozenxid", 3, "datminmxid", 1, "dattablespace", 1663,
			"datcollate", "C.UTF-8", "datctype", "C.UTF-8"))
	}
	return rows, nil
}

// unlistedSettings lists the settings that SHOW shows and pg_settings does not list
// (GUC_NO_SHOW_ALL).
var unlistedSettings = []string{"is_superuser", "session_authorization", "role", "ssl_renegotiation_limit"}

// settingCategories maps contexts of settings to categories.
var settingCategories = map[string]string{
	"user": "Session", "superuser": "Session", "backend": "Connection", "superuser-backend": "Connection",
	"sighup": "Server", "postmaster": "Server", "internal": "Fixed", "": "Session",
}

// settingRows makes the rows of pg_settings.
func settingRows(x *engine.Exec, t *engine.Table) ([][]datum.Value, error) {
	var rows [][]datum.Value
	for _, key := range slices.Sorted(maps.Keys(setting.PostgreSQL)) {
		s := setting.PostgreSQL[key]
		if slices.Contains(unlistedSettings, key) || setting.MayExamine(key, x.Host.Client().Admin) != nil {
			continue
		}
		value, _ := x.Host.Settings().Get(key)
		reset, own := x.Host.Settings().Begins(key)
		source := "default"
		if value != reset {
			source = "session"
		} else if own {
			source = "client"
		}
		pairs := []any{
			"name", s.Name, "setting", s.Plain(value), "context", s.Context, "vartype", s.Type, "source", source,
			"boot_val", s.Plain(s.Default), "reset_val", s.Plain(reset), "pending_restart", false, "category", settingCategories[s.Context],
			"short_desc", "",
		}
		if s.Unit != "" {
			pairs = append(pairs, "unit", s.Unit)
		}
		if (s.Type == "integer" || s.Type == "real") && s.Min <= s.Max && s.Context != "" {
			pairs = append(pairs, "min_val", strconv.FormatFloat(s.Min, 'g', -1, 64), "max_val", strconv.FormatFloat(s.Max, 'g', -1, 64))
		}
		if len(s.Allowed) > 0 && s.Type == "enum" {
			pairs = append(pairs, "enumvals", arrayOf(datum.TextArray, s.Allowed, datum.MakeText))
		}
		if s.Context == "internal" {
			pairs = append(pairs, "boot_val", s.Plain(value), "source", "default")
		}
		rows = append(rows, t.Row(pairs...))
	}
	return rows, nil
}

// activityRows makes the rows of pg_stat_activity. As in PostgreSQL, only
// administrators see the address, the start and the statement of other users'
// connections.
func activityRows(x *engine.Exec, t *engine.Table) ([][]datum.Value, error) {
	var rows [][]datum.Value
	for _, s := range x.Host.Sessions(x) {
		pairs := []any{
			"datid", databaseOID(s.Database), "datname", s.Database, "pid", int(s.PID),
			"usesysid", roleOID(s.User), "usename", s.User, "application_name", s.AppName,
			"backend_type", "client backend",
		}
		sees := x.Host.Client().Sees(&s)
		if sees {
			pairs = append(pairs, "backend_start", datum.TimestampTZFromTime(s.Started))
			if addr, port, ok := s.Address(); ok {
				pairs = append(pairs, "client_addr", addr, "client_port", port)
			} else {
				pairs = append(pairs, "client_port", -1)
			}
		}
		switch {
		case !sees:
			pairs = append(pairs, "query", "<insufficient privilege>")
		case s.Own:
			pairs = append(pairs, "state", "active", "query_start", datum.TimestampTZFromTime(x.Started),
				"state_change", datum.TimestampTZFromTime(x.Started), "query", s.Text)
		case s.Text != "": // other sessions show only a statement that sleeps
			pairs = append(pairs, "state", "active", "wait_event_type", "Timeout", "wait_event", "PgSleep", "query", s.Text)
		}
		rows = append(rows, t.Row(pairs...))
	}
	return rows, nil
}

// tlsRows makes the rows of pg_stat_ssl. Users who are no administrators see the TLS
// of their own connection only.
func tlsRows(x *engine.Exec, t *engine.Table) ([][]datum.Value, error) {
	var rows [][]datum.Value
	for _, s := range x.Host.Sessions(x) {
		pairs := []any{"pid", int(s.PID)}
		if s.Own || x.Host.Client().Admin {
			encryption := s.TLS
			pairs = append(pairs, "ssl", encryption != nil)
			if encryption != nil {
				pairs = append(pairs, "version", encryption.Version, "cipher", encryption.Cipher, "bits", encryption.Bits)
			}
			if encryption != nil && encryption.ClientDN != "" {
				pairs = append(pairs, "client_dn", encryption.ClientDN, "client_serial", encryption.ClientSerial,
					"issuer_dn", encryption.IssuerDN)
			}
		}
		rows = append(rows, t.Row(pairs...))
	}
	return rows, nil
}
