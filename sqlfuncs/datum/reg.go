package datum

import (
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
		name := strings.ToLower(s)
		if strings.Contains(s, `"`) { // quoted, so there are no modifiers or spaces
			name, _ = foldName(s)
		}
		if oid, ok := TypeByName(name); ok {
			return makeUint32(t, uint32(oid)), nil
		}
	}
	return Value{}, noObject(t, s)
}

// noObject is the error for a name that nothing has.
func noObject(t OID, s string) error {
	name, ok := foldName(s)
	name = clip(name)
	if !ok && t != RegType {
		return sqlstate.New(sqlstate.InvalidName, "invalid name syntax")
	}
	switch t {
	case RegClass:
		return sqlstate.New(sqlstate.UndefinedTable, `relation "%s" does not exist`, name)
	case RegProc, RegProcedure:
		return sqlstate.New(sqlstate.UndefinedFunction, `function "%s" does not exist`, clip(s))
	case RegOper, RegOperator:
		return sqlstate.New(sqlstate.UndefinedFunction, `operator does not exist: %s`, clip(s))
	case RegCollation:
		return sqlstate.New(sqlstate.UndefinedObject, `collation "%s" for encoding "UTF8" does not exist`, name)
	case RegConfig:
		return sqlstate.New(sqlstate.UndefinedObject, `text search configuration "%s" does not exist`, name)
	case RegDictionary:
		return sqlstate.New(sqlstate.UndefinedObject, `text search dictionary "%s" does not exist`, name)
	case RegNamespace:
		return sqlstate.New(sqlstate.InvalidSchema, `schema "%s" does not exist`, name)
	case RegRole:
		return sqlstate.New(sqlstate.UndefinedObject, `role "%s" does not exist`, name)
	}
	return sqlstate.New(sqlstate.UndefinedObject, `type "%s" does not exist`, name)
}

// foldName shows a possibly quoted, qualified name as messages do: folded,
// without quotes. ok is false when it is no name: empty, or with white space
// outside of quotes.
func foldName(s string) (name string, ok bool) {
	s = trimSpace(s)
	var b strings.Builder
	quoted, part := false, 0
	ok = true
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '"' && quoted && i+1 < len(s) && s[i+1] == '"':
			i++
		case c == '"':
			quoted = !quoted
			continue
		case quoted:
		case c == '.':
			ok = ok && part > 0
			part = -1
		case isSpace(c):
			ok = false
		case c >= 'A' && c <= 'Z':
			c |= 0x20
		}
		b.WriteByte(c)
		part++
	}
	return b.String(), ok && part > 0 && !quoted
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
	return appendUint(dst, oid)
}
