package mysql

import (
	"strings"

	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/ids"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// systemSchemas lists MySQL's own databases. nextid has none of their tables.
var systemSchemas = map[string]bool{"mysql": true, "performance_schema": true, "sys": true}

// Table returns the table that a statement names. nextid's tables are in every
// database, except information_schema and MySQL's own databases.
func Table(p *engine.Planner, name syntax.Name) (*engine.Table, error) {
	last, database := strings.ToLower(name.Last()), plannedState(p).Database
	if len(name) > 1 {
		database = name[len(name)-2]
	}
	switch schema := strings.ToLower(database); {
	case schema == engine.InformationSchema:
		p.Private = p.Private || len(name) == 1 // by USE information_schema
		if t := dialectPlanned(p).tables[last]; t != nil {
			return t, nil
		}
		return nil, sqlstate.New(sqlstate.UndefinedTable, "Unknown table '%s' in information_schema", sqlstate.Cut(strings.ToUpper(last), 64)).WithMySQL(1109, "42S02")
	case systemSchemas[schema]:
		return nil, sqlstate.New(sqlstate.InsufficientPrivilege, "SELECT command denied to user '%s' for table `%s`.`%s`",
			accountOf(p.Host.Client()), schema, sqlstate.Cut(name.Last(), 64)).WithHint("nextid has no tables of this kind.")
	}
	t, err := ids.Table(p.Catalog, syntax.Name{name.Last()})
	if err == nil && t.Schema != engine.PGCatalog {
		return t, nil
	}
	if ids.IsGenerator(p, name.Last()) {
		return mariaDBSequenceTable(name.Last()), nil
	}
	if database == "" {
		database = engine.NextidSchema
	}
	return nil, sqlstate.New(sqlstate.UndefinedTable, "Table '%s.%s' doesn't exist", sqlstate.Cut(database, 64), sqlstate.Cut(name.Last(), 128)).
		WithHint("Tables to read ids from: ids, id_batch, id_ranges, id_fields, id_parts, and NAME_id for a generator NAME.")
}
