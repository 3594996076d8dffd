package datum

import (
	"strconv"
	"strings"

	"nextid/sqlfuncs/sqlstate"
)

// isReg reports whether t is an oid that prints as a name.
func isReg(t OID) bool {
	switch t {
	case RegClass, RegType, RegProc, RegNamespace, RegRole,
		RegProcedure, RegOper, RegOperator, RegCollation, RegConfig, RegDictionary:
		return true
	}
	return false
}

// parseReg reads a reg* value: a number, "-" for none, or the name of an
// object that env resolves.
func parseReg(t OID, s string, env *Env) (Value, error) {
	if s == "-" {
		return makeUint32(t, 0), nil
	}
	if s != "" && onlyDigits(s) {
		v, err := parseOid(s)
		v.Type = t
		return v, err
	}
	return parseRegName(t, s, env)
}

// parseRegName finds an object by its name alone.
func parseRegName(t OID, s string, env *Env) (Value, error) {
	if env != nil && env.Names != nil {
		if oid, ok := env.Names.ObjectOID(t, s); ok {
			return makeUint32(t, oid), nil
		}
	}
	if t == RegType {
		if oid, ok := TypeByName(strings.ToLower(strings.ReplaceAll(s, `"`, ""))); ok {
			return makeUint32(t, uint32(oid)), nil
		}
	}
	return Value{}, noObject(t, clip(s))
}

// noObject returns the error for a name that no object has.
func noObject(t OID, name string) error {
	switch t {
	case RegClass:
		return sqlstate.New(sqlstate.UndefinedTable, `relation "%s" does not exist`, name)
	case RegProc, RegProcedure:
		return sqlstate.New(sqlstate.UndefinedFunction, `function "%s" does not exist`, name)
	case RegOper, RegOperator:
		return sqlstate.New(sqlstate.UndefinedFunction, `operator does not exist: %s`, name)
	case RegNamespace:
		return sqlstate.New(sqlstate.InvalidSchema, `schema "%s" does not exist`, name)
	}
	return sqlstate.New(sqlstate.UndefinedObject, `%s "%s" does not exist`, map[OID]string{
		RegType: "type", RegRole: "role", RegCollation: "collation", RegConfig: "text search configuration", RegDictionary: "text search dictionary",
	}[t], name)
}

// appendReg prints the name of the object, else its number.
func appendReg(dst []byte, v Value, env *Env) []byte {
	oid := uint32(v.Int)
	if oid == 0 {
		return append(dst, '-')
	}
	if env != nil && env.Names != nil {
		if name, ok := env.Names.ObjectName(v.Type, oid); ok {
			return append(dst, name...)
		}
	}
	if t := lookup(OID(oid)); t != nil && v.Type == RegType {
		return append(dst, t.Display...)
	}
	return strconv.AppendUint(dst, uint64(oid), 10)
}
