package engine

import "nextid/sqlfuncs/datum"

// Column is one column of a result.
type Column struct {
	Name    string
	Type    datum.OID
	TypeMod int32  // -1: none
	Len     int16  // pg_type.typlen
	Table   uint32 // pg_class oid of the table it comes from, 0: none
	Attr    int16  // its attribute number, 0: none

	// Origin is the column of a table that it shows, nil for what is computed
	// and in the PostgreSQL dialect, which has Table and Attr.
	Origin *Origin

	fields    []FromColumn // of a record whose columns are known
	collation Collation
}

// Origin is where a result column comes from.
type Origin struct {
	Schema    string
	InDefault bool   // Schema is the session's default database
	Table     string // "": a query's column
	Alias     string // what the statement calls the table
	Column    string
	NotNull   bool
}

func TextColumn(name string) Column {
	return Column{Name: name, Type: datum.Text, TypeMod: -1, Len: -1}
}
