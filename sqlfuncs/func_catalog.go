package sqlfuncs

import (
	"strconv"
	"strings"

	"nextid/sqlfuncs/datum"
)

// catalogFunctions are what clients call on the system catalogue.
var catalogFunctions = []function{
	{name: "format_type", args: args(datum.Oid, datum.Int4), result: datum.Text, volatile: stable, nullable: true,
		eval: func(_ *exec, a []datum.Value) (datum.Value, error) {
			if !a[0].Valid {
				return datum.Null(datum.Text), nil
			}
			mod := int32(-1)
			if a[1].Valid {
				mod = int32(a[1].Int)
			}
			return datum.MakeText(datum.FormatType(datum.OID(a[0].Int), mod)), nil
		}},
	{name: "to_regclass", args: args(datum.Text), result: datum.RegClass, volatile: stable,
		eval: func(x *exec, a []datum.Value) (datum.Value, error) {
			oid, ok := catalogNames{x.server}.ObjectOID(datum.RegClass, a[0].Str)
			return datum.Value{Type: datum.RegClass, Valid: ok, Int: int64(oid)}, nil
		}},
	{name: "to_regtype", args: args(datum.Text), result: datum.RegType, volatile: stable,
		eval: func(_ *exec, a []datum.Value) (datum.Value, error) {
			oid, ok := datum.TypeByName(a[0].Str)
			return datum.Value{Type: datum.RegType, Valid: ok, Int: int64(oid)}, nil
		}},
}

// catalogNames resolves reg* values against our tables, functions and types.
type catalogNames struct{ server *Server }

// schemaOIDs are PostgreSQL's own for its schemas; ours follows the tables.
var schemaOIDs = map[string]uint32{pgCatalog: 11, "public": 2200, "information_schema": 13000, nextidSchema: 16383}

// ObjectOID implements datum.Names. A name that is no table but could be a
// generator is a sequence: nextval('orders'::regclass) works for names that
// do not exist yet.
func (c catalogNames) ObjectOID(t datum.OID, name string) (uint32, bool) {
	parts := splitIdentifier(name)
	if len(parts) == 0 {
		return 0, false
	}
	switch t {
	case datum.RegClass:
		if tab, err := c.server.lookupTable(parts); err == nil {
			return tab.oid, true
		}
		if sequence, err := sequenceName(name); err == nil {
			return c.server.sequenceOIDs.oid(sequence)
		}
	case datum.RegNamespace:
		oid, ok := schemaOIDs[parts[0]]
		return oid, ok
	case datum.RegType:
		oid, ok := datum.TypeByName(strings.TrimPrefix(name, pgCatalog+"."))
		return uint32(oid), ok
	case datum.RegRole:
		return 10, true
	}
	return 0, false
}

// ObjectName implements datum.Names.
func (c catalogNames) ObjectName(t datum.OID, oid uint32) (string, bool) {
	switch t {
	case datum.RegClass:
		for _, tab := range tables {
			if tab.oid == oid {
				return tab.name, true
			}
		}
		return c.server.sequenceOIDs.name(oid)
	case datum.RegNamespace:
		for name, o := range schemaOIDs {
			if o == oid {
				return name, true
			}
		}
	case datum.RegType:
		return datum.FormatType(datum.OID(oid), -1), true
	}
	return strconv.FormatUint(uint64(oid), 10), false
}
