package pgcatalog

import (
	"slices"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// This file has the privileges of sessions. All users may read all tables and call
// all functions, except those that change generators. Administrators are shown as
// superusers, who have all privileges.

// readPrivileges lists the privileges that all users have.
var readPrivileges = []string{"SELECT", "USAGE", "EXECUTE", "CONNECT", "TEMP", "TEMPORARY"}

// forRole makes the forms of a function on the privileges of a role: of the session's
// user, of a role's name, and of a role's OID as first argument.
func forRole(name string, types []datum.OID, has func(x *engine.Exec, who role, a []datum.Value) (datum.Value, error)) []engine.Function {
	forms := []engine.Function{function(name, datum.Bool, types, func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
		return has(x, role{name: x.Host.Client().User, admin: x.Host.Client().Admin}, a)
	})}
	for _, user := range []datum.OID{datum.Name, datum.Oid} {
		forms = append(forms, function(name, datum.Bool, append([]datum.OID{user}, types...), func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
			who, err := roleArg(x, a[0])
			if err != nil {
				return datum.Value{}, err
			}
			return has(x, who, a[1:])
		}))
	}
	return forms
}

// hasPrivilege makes the forms of a has_…_privilege function for one type of its
// object.
func hasPrivilege(name string, types ...datum.OID) []engine.Function {
	return forRole(name, append(types, datum.Text), func(x *engine.Exec, who role, a []datum.Value) (datum.Value, error) {
		r, known, err := privilegeObject(x, name, a[0])
		if !known {
			return datum.Null(datum.Bool), err
		}
		if r != nil && r.generator != nil && who.name == x.Host.Client().User && x.Host.Client().May(r.generator.Name) != nil {
			return datum.MakeBool(false), nil
		}
		for p := range strings.SplitSeq(a[len(a)-1].Str, ",") {
			p = strings.ToUpper(strings.TrimSpace(p))
			p, grant := strings.CutSuffix(p, " WITH GRANT OPTION")
			if p != "TEMP" && !slices.Contains(privilegeNames, p) {
				return datum.Value{}, sqlstate.New(sqlstate.InvalidParameterValue, "unrecognized privilege type: %q", sqlstate.Cut(p, 64))
			}
			if who.admin || slices.Contains(readPrivileges, p) && !grant {
				return datum.MakeBool(true), nil
			}
		}
		return datum.MakeBool(false), nil
	})
}

// roleArg returns the role that an argument names, or whose OID it is. An unknown
// name is an error (42704).
func roleArg(x *engine.Exec, v datum.Value) (role, error) {
	for _, r := range systemOf(x).roles() {
		if v.Type == datum.Name && r.name == v.Str || v.Type == datum.Oid && int64(r.oid) == v.Int {
			return r, nil
		}
	}
	if _, ok := systemOf(x).rowNamed("pg_authid", "rolname", v.Str); ok {
		return role{name: v.Str}, nil
	}
	if v.Type == datum.Name && v.Str != "public" {
		return role{}, sqlstate.New(sqlstate.UndefinedObject, "role %q does not exist", sqlstate.Cut(v.Str, 64))
	}
	return role{name: "public"}, nil
}

// privilegeObject finds the object of a has_…_privilege function. r is nil for
// objects that are no relations. An unknown name is an error. For an unknown OID
// known is false; the function then returns NULL.
func privilegeObject(x *engine.Exec, function string, v datum.Value) (r *relation, known bool, err error) {
	byName := v.Type == datum.Text
	switch function {
	case "has_table_privilege", "has_any_column_privilege", "has_column_privilege", "has_sequence_privilege":
		if !byName {
			r, err = relationByOID(x, uint32(v.Int))
			return r, r != nil, err
		}
		if r, err = relationByName(x, v.Str); r != nil || err != nil {
			return r, r != nil, err
		}
		return nil, false, engine.NoRelation(v.Str)
	case "has_schema_privilege":
		if byName && schemaOIDs[v.Str] == 0 {
			return nil, false, engine.NoSchema(v.Str)
		}
	}
	return nil, true, nil
}

// privilegeFamily makes all forms of a has_…_privilege function.
func privilegeFamily(name string, more ...datum.OID) []engine.Function {
	byName, byOID := append([]datum.OID{datum.Text}, more...), append([]datum.OID{datum.Oid}, more...)
	return slices.Concat(hasPrivilege(name, byName...), hasPrivilege(name, byOID...))
}

// privilegeFunctions lists the functions on privileges and roles (9.26).
var privilegeFunctions = slices.Concat(
	privilegeFamily("has_table_privilege"), privilegeFamily("has_any_column_privilege"),
	privilegeFamily("has_column_privilege", datum.Text), privilegeFamily("has_column_privilege", datum.Int2),
	privilegeFamily("has_database_privilege"), privilegeFamily("has_schema_privilege"), privilegeFamily("has_function_privilege"),
	privilegeFamily("has_sequence_privilege"),
	roleMembership(datum.Name), roleMembership(datum.Oid),
)

// roleMembership makes pg_has_role. A superuser is a member of all roles, other
// users of their own role only.
func roleMembership(object datum.OID) []engine.Function {
	return forRole("pg_has_role", []datum.OID{object, datum.Text}, func(x *engine.Exec, who role, a []datum.Value) (datum.Value, error) {
		of, err := roleArg(x, a[0])
		return datum.MakeBool(who.admin || of.name == who.name), err
	})
}

// defaultACL maps the kinds of objects to the privileges that acldefault grants: to
// PUBLIC, and to the owner.
var defaultACL = map[string][2]string{
	"r": {"", "arwdDxt"}, "s": {"", "rwU"}, "d": {"Tc", "CTc"}, "f": {"X", "X"}, "l": {"U", "U"}, "L": {"", "rw"},
	"n": {"", "UC"}, "p": {"", "sA"}, "t": {"", "C"}, "F": {"", "U"}, "S": {"", "U"}, "T": {"U", "U"}, "c": {"", ""},
}

// privilegeNames lists the privileges that an aclitem may grant.
var privilegeNames = []string{
	"INSERT", "SELECT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER", "EXECUTE", "USAGE", "CREATE", "TEMPORARY", "CONNECT", "SET", "ALTER SYSTEM",
}

// aclFunctions lists the functions on aclitem.
var aclFunctions = []engine.Function{
	function("acldefault", datum.ACLItemArray, []datum.OID{datum.Char, datum.Oid}, func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
		granted, ok := defaultACL[a[0].Str]
		if !ok {
			return datum.Value{}, sqlstate.New(sqlstate.InvalidParameterValue, "unrecognized object type abbreviation: %s", a[0].Str)
		}
		owner, _ := systemOf(x).roleName(uint32(a[1].Int))
		var items []datum.Value
		for i, grantee := range []string{"", syntax.QuoteIdent(owner)} {
			if granted[i] != "" {
				items = append(items, datum.MakeString(datum.ACLItem, grantee+"="+granted[i]+"/"+syntax.QuoteIdent(owner)))
			}
		}
		return datum.MakeArray(datum.ACLItemArray, items), nil
	}),
}
