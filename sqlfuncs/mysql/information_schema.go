package mysql

import (
	"cmp"
	_ "embed"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/ids"
	"nextid/sqlfuncs/setting"
	"nextid/sqlfuncs/sqlstate"
)

// schemaFile lists the columns of MariaDB's information_schema: table, column, type,
// and YES if the column may be NULL.
//
//go:embed information_schema.tsv
var schemaFile string

// schemaTables makes the tables of information_schema by lower-case name. Tables
// that are not in schemaRows are empty.
func schemaTables() map[string]*engine.Table {
	tables := map[string]*engine.Table{}
	for line := range strings.Lines(schemaFile) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		key := strings.ToLower(f[0])
		t := tables[key]
		if t == nil {
			t = &engine.Table{Schema: engine.InformationSchema, Name: f[0], Kind: 'v'}
			t.Scan = schemaScan(t)
			tables[key] = t
		}
		if slices.Contains(databaseColumns, f[1]) && len(t.Keys) == 0 {
			t.Keys = []int{len(t.Columns)}
		}
		t.Columns = append(t.Columns, engine.TableColumn{Name: f[1], Type: schemaType(f[2]), Null: f[3] == "YES", Length: textLength(f[2])})
	}
	return tables
}

// schemaType returns the type of a column in schemaFile.
func schemaType(text string) datum.OID {
	name, _, _ := strings.Cut(text, "(")
	switch name {
	case "bigint", "bigint unsigned":
		return datum.Int8
	case "int", "tinyint":
		return datum.Int4
	case "decimal":
		return datum.Numeric
	case "datetime":
		return datum.Timestamp
	case "blob":
		return datum.Bytea
	}
	return datum.Text
}

// longText is the length of MariaDB's longtext columns in information_schema, in
// characters.
const longText = 196605

// textLength returns the largest number of characters of a type, 0: not known.
func textLength(text string) int32 {
	if text == "longtext" {
		return longText
	}
	size, ok := strings.CutPrefix(text, "varchar(")
	n, err := strconv.Atoi(strings.TrimSuffix(size, ")"))
	if !ok || err != nil {
		return 0
	}
	return int32(n)
}

// record holds a row as pairs of column name and value, see engine.Table.Row.
type record []any

// schemaScan makes the rows of a table of information_schema, those of one table of one
// database after the other: with many generators there are very many.
func schemaScan(t *engine.Table) func(*engine.Exec, []engine.KeyValues) (engine.Rows, error) {
	return func(x *engine.Exec, keys []engine.KeyValues) (engine.Rows, error) {
		maker, known := dialectOf(x).Rows[strings.ToLower(t.Name)]
		if !known {
			return &engine.SliceRows{}, nil
		}
		names := []string{""}
		if len(t.Keys) > 0 {
			names = databases(x, keys)
		}
		var database string
		var tables []*engine.Table // of the database
		var rows []record
		return engine.RowsFunc(func(x *engine.Exec) (_ []datum.Value, err error) {
			for len(rows) == 0 {
				switch {
				case len(tables) > 0:
					rows, tables = maker.table(database, tables[0]), tables[1:]
					continue
				case len(names) == 0:
					return nil, io.EOF
				}
				database, names = names[0], names[1:]
				if maker.database != nil {
					rows = maker.database(x, database)
				} else if tables, err = tablesOf(x, database); err != nil {
					return nil, err
				}
			}
			row := t.Row(rows[0]...)
			rows = rows[1:]
			return row, nil
		}), nil
	}
}

// databaseColumns lists the columns that name the database of a row.
var databaseColumns = []string{"TABLE_SCHEMA", "SCHEMA_NAME", "ROUTINE_SCHEMA", "SPECIFIC_SCHEMA"}

// rowMaker has one function, which makes the rows of a table of a database, or all those of
// a database ("" where the rows belong to none).
type rowMaker struct {
	table    func(database string, t *engine.Table) []record
	database func(x *engine.Exec, database string) []record
}

// schemaRows maps the tables that have rows to their rowMakers.
func schemaRows() map[string]rowMaker {
	return map[string]rowMaker{
		"tables": {table: tablesRows}, "columns": {table: columnsRows}, "views": {table: viewsRows},
		"schemata": {database: schemataRows}, "routines": {database: routinesRows}, "parameters": {database: parametersRows},
		"engines": {database: enginesRows}, "collations": {database: collationsRows}, "character_sets": {database: charsetsRows},
		"processlist": {database: processlistRows}, "plugins": {database: pluginsRows},
		"global_variables": {database: variablesRows(true)}, "session_variables": {database: variablesRows(false)},
		"global_status": {database: statusRows}, "session_status": {database: statusRows},
	}
}

// accountOf returns the user as MySQL writes it: user@host.
func accountOf(c *engine.Client) string {
	host, _, ok := c.Address()
	if !ok {
		host = "localhost"
	}
	return sqlstate.Cut(c.User, 64) + "@" + host
}

// databases returns the databases whose rows a statement needs: those named in its
// WHERE, otherwise those of SHOW DATABASES. Every database has the same tables.
func databases(x *engine.Exec, keys []engine.KeyValues) []string {
	names := []string{engine.InformationSchema, engine.NextidSchema}
	if len(keys) > 0 && keys[0].Fixed {
		names = nil
		for _, v := range keys[0].Values {
			names = append(names, v.Str)
		}
	} else if database := stateOf(x).Database; database != "" {
		names = append(names, database)
	}
	names = slices.DeleteFunc(names, func(n string) bool { return n == "" || systemSchemas[strings.ToLower(n)] })
	for i, n := range names {
		if strings.EqualFold(n, engine.InformationSchema) || strings.EqualFold(n, engine.NextidSchema) {
			names[i] = strings.ToLower(n)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// schemataRows makes the rows of SCHEMATA.
func schemataRows(_ *engine.Exec, database string) []record {
	charset, collation := "utf8mb4", "utf8mb4_general_ci"
	if database == engine.InformationSchema {
		charset, collation = "utf8mb3", "utf8mb3_general_ci"
	}
	return []record{{"CATALOG_NAME", "def", "SCHEMA_NAME", database, "DEFAULT_CHARACTER_SET_NAME", charset, "DEFAULT_COLLATION_NAME", collation}}
}

// idTablesOf lists nextid's tables, the sequence and the table NAME_id of each
// generator included.
func idTablesOf(x *engine.Exec) ([]*engine.Table, error) {
	known := x.Host.Catalog()
	var out []*engine.Table
	for _, t := range known.Tables {
		if t.Schema == "public" || t.Schema == engine.NextidSchema {
			out = append(out, t)
		}
	}
	definitions, err := x.Host.Registry().Numbered(x.Ctx)
	if err != nil {
		return nil, err
	}
	for _, d := range definitions {
		if known.Tables["public."+d.Name] == nil {
			out = append(out, mariaDBSequenceTable(d.Name))
		}
		if name := d.Name + engine.IDTableSuffix; known.Tables["public."+name] == nil {
			out = append(out, ids.IDTable(known, d.Name))
		}
	}
	slices.SortFunc(out, func(a, b *engine.Table) int { return strings.Compare(a.Name, b.Name) })
	return out, x.Hold(len(out) * listedBytes)
}

// listedBytes is the memory that counts for a table in a list.
const listedBytes = 1 << 10

// tablesOf lists the tables of one database.
func tablesOf(x *engine.Exec, database string) ([]*engine.Table, error) {
	if strings.EqualFold(database, engine.InformationSchema) {
		var out []*engine.Table
		tables := dialectOf(x).tables
		for _, key := range slices.Sorted(maps.Keys(tables)) {
			out = append(out, tables[key])
		}
		return out, nil
	}
	if systemSchemas[strings.ToLower(database)] {
		return nil, nil
	}
	ts, err := idTablesOf(x)
	if !strings.EqualFold(database, engine.NextidSchema) { // operators' tables are listed only in the database nextid
		ts = slices.DeleteFunc(ts, func(t *engine.Table) bool { return t.Schema == engine.NextidSchema })
	}
	return ts, err
}

// tableType returns TABLE_TYPE.
func tableType(t *engine.Table) string {
	switch {
	case t.Schema == engine.InformationSchema:
		return "SYSTEM VIEW"
	case t.Kind == 'S':
		return "SEQUENCE"
	}
	return "VIEW"
}

// tablesRows makes the rows of TABLES. All of nextid's tables are views there, except
// the sequences. mariadb-dump takes a table without an engine for a view. The engine is
// not InnoDB: Xorm takes a table of InnoDB for its own.
func tablesRows(database string, t *engine.Table) []record {
	r := record{
		"TABLE_CATALOG", "def", "TABLE_SCHEMA", database, "TABLE_NAME", t.Name, "TABLE_TYPE", tableType(t), "TABLE_COMMENT", tableType(t),
	}
	switch {
	case t.Schema == engine.InformationSchema:
		r = append(r, "TABLE_COMMENT", "", "ENGINE", "MEMORY")
	case t.Kind == 'S':
		r = append(r, "TABLE_COMMENT", "", "ENGINE", engine.NextidSchema)
	}
	return []record{r}
}

// columnType describes a column type as information_schema does.
type columnType struct {
	data, column      string // DATA_TYPE, COLUMN_TYPE
	length, octets    int64  // of texts, else 0
	precision, scale  int    // of numbers; scale -1: none
	datetimePrecision int    // -1: none
}

// collation returns the collation of a text type, "" for other types.
func (m columnType) collation() string {
	if m.data == "varchar" || m.data == "longtext" {
		return "utf8mb4_general_ci"
	}
	return ""
}

// typeOf returns the type of a column of nextid's tables.
func typeOf(c engine.TableColumn) columnType {
	switch c.Type {
	case datum.Int8:
		return columnType{"bigint", "bigint(20)", 0, 0, 19, 0, -1}
	case datum.Int4, datum.Int2, datum.Bool, datum.Oid:
		return columnType{"int", "int(11)", 0, 0, 10, 0, -1}
	case datum.Numeric:
		return columnType{"decimal", "decimal(65,0)", 0, 0, 65, 0, -1}
	case datum.Float8, datum.Float4:
		return columnType{"double", "double", 0, 0, 22, -1, -1}
	case datum.TimestampTZ, datum.Timestamp:
		return columnType{"datetime", "datetime(6)", 0, 0, 0, -1, 6}
	case datum.Date:
		return columnType{"date", "date", 0, 0, 0, -1, -1}
	case datum.JSON, datum.JSONB:
		return columnType{"longtext", "longtext", 1<<32 - 1, 1<<32 - 1, 0, -1, -1}
	case datum.Bytea:
		return columnType{"blob", "blob", 65535, 65535, 0, -1, -1}
	}
	return columnType{"varchar", "varchar(255)", 255, 1020, 0, -1, -1}
}

// columnsRows makes the rows of COLUMNS.
func columnsRows(database string, t *engine.Table) (out []record) {
	for i, c := range t.Columns {
		m := typeOf(c)
		r := record{
			"TABLE_CATALOG", "def", "TABLE_SCHEMA", database, "TABLE_NAME", t.Name,
			"COLUMN_NAME", c.Name, "ORDINAL_POSITION", i + 1, "IS_NULLABLE", yesNo[c.Null],
			"DATA_TYPE", m.data, "COLUMN_TYPE", m.column, "PRIVILEGES", "select", "IS_GENERATED", "NEVER",
		}
		if m.length > 0 {
			r = append(r, "CHARACTER_MAXIMUM_LENGTH", m.length, "CHARACTER_OCTET_LENGTH", m.octets)
		}
		if collation := m.collation(); collation != "" {
			r = append(r, "CHARACTER_SET_NAME", "utf8mb4", "COLLATION_NAME", collation)
		}
		if m.precision > 0 {
			r = append(r, "NUMERIC_PRECISION", m.precision)
			if m.scale >= 0 {
				r = append(r, "NUMERIC_SCALE", m.scale)
			}
		}
		if m.datetimePrecision >= 0 {
			r = append(r, "DATETIME_PRECISION", m.datetimePrecision)
		}
		out = append(out, r)
	}
	return out
}

var yesNo = map[bool]string{true: "YES", false: "NO"}

// viewsRows makes the rows of VIEWS, which mysqldump reads.
func viewsRows(database string, t *engine.Table) []record {
	if tableType(t) != "VIEW" {
		return nil
	}
	return []record{{
		"TABLE_CATALOG", "def", "TABLE_SCHEMA", database, "TABLE_NAME", t.Name,
		"VIEW_DEFINITION", viewQuery(t), "CHECK_OPTION", "NONE", "IS_UPDATABLE", "NO", "DEFINER", "nextid@localhost",
		"SECURITY_TYPE", "INVOKER", "CHARACTER_SET_CLIENT", "utf8mb4", "COLLATION_CONNECTION", "utf8mb4_general_ci", "ALGORITHM", "UNDEFINED",
	}}
}

// viewQuery returns the query of the view that a dump creates for a table in
// another database. The view has the table's columns and no rows.
func viewQuery(t *engine.Table) string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = "NULL AS `" + c.Name + "`"
	}
	return "select " + strings.Join(names, ",") + " from DUAL where 0"
}

// routines lists nextid's functions as stored functions, one for each name.
func routines(known *engine.Catalog) []*engine.Function {
	var out []*engine.Function
	for _, name := range slices.Sorted(maps.Keys(known.Functions)) {
		for _, f := range known.Functions[name] {
			if f.Schema == engine.NextidSchema && !f.IsAggregate() && !f.ReturnsSet() {
				out = append(out, f)
				break
			}
		}
	}
	return out
}

// routinesRows makes the rows of ROUTINES. Each database has all functions.
func routinesRows(x *engine.Exec, database string) (out []record) {
	if database == engine.InformationSchema {
		return nil
	}
	started := datetimeOf(x.Host.Started().Truncate(time.Second))
	for _, f := range routines(x.Host.Catalog()) {
		m := typeOf(engine.TableColumn{Type: f.Result})
		out = append(out, record{
			"SPECIFIC_NAME", f.Name, "ROUTINE_CATALOG", "def", "ROUTINE_SCHEMA", database, "ROUTINE_NAME", f.Name,
			"ROUTINE_TYPE", "FUNCTION", "DATA_TYPE", m.data, "DTD_IDENTIFIER", m.column, "ROUTINE_BODY", "SQL",
			"ROUTINE_DEFINITION", "", "PARAMETER_STYLE", "SQL", "IS_DETERMINISTIC", yesNo[f.Volatile == engine.Immutable],
			"SQL_DATA_ACCESS", "NO SQL", "SECURITY_TYPE", "INVOKER", "CREATED", started, "LAST_ALTERED", started,
			"SQL_MODE", "", "ROUTINE_COMMENT", f.Help, "DEFINER", "nextid@localhost", "CHARACTER_SET_CLIENT", "utf8mb4",
			"COLLATION_CONNECTION", "utf8mb4_general_ci", "DATABASE_COLLATION", "utf8mb4_general_ci",
		})
	}
	return out
}

// parametersRows makes the rows of PARAMETERS. Position 0 is the result.
func parametersRows(x *engine.Exec, database string) (out []record) {
	if database == engine.InformationSchema {
		return nil
	}
	for _, f := range routines(x.Host.Catalog()) {
		all := append([]engine.Argument{{Type: f.Result}}, f.Args...)
		for i, a := range all {
			m := typeOf(engine.TableColumn{Type: a.Type})
			r := record{
				"SPECIFIC_CATALOG", "def", "SPECIFIC_SCHEMA", database, "SPECIFIC_NAME", f.Name, "ORDINAL_POSITION", i,
				"DATA_TYPE", m.data, "DTD_IDENTIFIER", m.column, "ROUTINE_TYPE", "FUNCTION",
			}
			if i > 0 {
				r = append(r, "PARAMETER_MODE", "IN", "PARAMETER_NAME", a.Name)
			}
			if m.precision > 0 {
				r = append(r, "NUMERIC_PRECISION", m.precision, "NUMERIC_SCALE", max(m.scale, 0))
			}
			if m.length > 0 {
				r = append(r, "CHARACTER_MAXIMUM_LENGTH", m.length, "CHARACTER_OCTET_LENGTH", m.octets)
			}
			out = append(out, r)
		}
	}
	return out
}

func enginesRows(*engine.Exec, string) []record {
	return []record{{"ENGINE", engine.NextidSchema, "SUPPORT", "DEFAULT", "COMMENT", "Ids from generators", "TRANSACTIONS", "NO", "XA", "NO", "SAVEPOINTS", "NO"}}
}

// pluginsRows makes the rows of PLUGINS: the authentication methods of the protocol.
func pluginsRows(*engine.Exec, string) (out []record) {
	for _, name := range []string{"caching_sha2_password", "mysql_native_password"} {
		out = append(out, record{
			"PLUGIN_NAME", name, "PLUGIN_VERSION", "1.0", "PLUGIN_STATUS", "ACTIVE", "PLUGIN_TYPE", "AUTHENTICATION",
			"PLUGIN_TYPE_VERSION", "2.2", "PLUGIN_LICENSE", "Apache-2.0", "LOAD_OPTION", "FORCE", "PLUGIN_MATURITY", "Stable",
		})
	}
	return out
}

func collationsRows(*engine.Exec, string) (out []record) {
	for _, c := range collations {
		r := record{"COLLATION_NAME", c.name, "CHARACTER_SET_NAME", c.charset, "ID", c.id, "IS_DEFAULT", "", "IS_COMPILED", "Yes", "SORTLEN", 1}
		if charsets[c.charset].collation == c.name {
			r = append(r, "IS_DEFAULT", "Yes")
		}
		out = append(out, r)
	}
	return out
}

func charsetsRows(*engine.Exec, string) (out []record) {
	for _, name := range slices.Sorted(maps.Keys(charsets)) {
		c := charsets[name]
		out = append(out, record{"CHARACTER_SET_NAME", name, "DEFAULT_COLLATE_NAME", c.collation, "DESCRIPTION", c.help, "MAXLEN", c.bytes})
	}
	return out
}

// variablesRows makes the rows of GLOBAL_VARIABLES or SESSION_VARIABLES. The global
// values are those at the start of the session.
func variablesRows(global bool) func(*engine.Exec, string) []record {
	return func(x *engine.Exec, _ string) (out []record) {
		for _, key := range slices.Sorted(maps.Keys(setting.MySQL)) {
			value := systemVariable(x, setting.MySQL[key])
			if global {
				value, _ = x.Host.Settings().Begins(key)
			}
			out = append(out, record{"VARIABLE_NAME", key, "VARIABLE_VALUE", value})
		}
		return out
	}
}

// statusRows makes the rows of SHOW STATUS that monitoring programs read. Counters
// without a meaning here are left out.
func statusRows(x *engine.Exec, _ string) (out []record) {
	connected := len(x.Host.Sessions(x))
	uptime := int(x.Host.Now().Sub(x.Host.Started()).Seconds())
	encryption := cmp.Or(x.Host.Client().TLS, &engine.TLS{})
	values := map[string]string{
		"Uptime": strconv.Itoa(uptime), "Uptime_since_flush_status": strconv.Itoa(uptime), "Threads_connected": strconv.Itoa(connected),
		"Threads_running": "1", "Aborted_clients": "0", "Compression": "OFF", "Last_query_cost": "0.000000",
		"Max_used_connections": strconv.Itoa(connected), "Open_tables": "0", "Opened_tables": "0", "Slow_queries": "0",
		"Ssl_cipher": encryption.Cipher, "Ssl_version": encryption.Version, "Flush_commands": "0", "Prepared_stmt_count": strconv.Itoa(sessionOf(x).PreparedCount()),
	}
	if counters := dialectOf(x).counters; counters != nil {
		maps.Copy(values, counters())
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		out = append(out, record{"VARIABLE_NAME", name, "VARIABLE_VALUE", values[name]})
	}
	return out
}

// processlistRows makes the rows of PROCESSLIST. Only administrators see other
// sessions.
func processlistRows(x *engine.Exec, _ string) (out []record) {
	now := x.Host.Now()
	for _, s := range x.Host.Sessions(x) {
		if !x.Host.Client().Admin && !s.Own {
			continue
		}
		user, host := sqlstate.Cut(s.User, 64), "localhost"
		if addr, port, ok := s.Address(); ok {
			host = addr + ":" + strconv.Itoa(port)
		}
		r := record{
			"ID", int(s.PID), "USER", user, "HOST", host, "COMMAND", "Sleep",
			"TIME", int(now.Sub(s.Started).Seconds()), "STATE", "", "TIME_MS", "0.000", "PROGRESS", "0.000", "QUERY_ID", 0, "TID", 0,
		}
		if s.Own {
			r = append(r, "COMMAND", "Query", "STATE", "starting", "INFO", s.Text, "TIME", 0)
			if database := stateOf(x).Database; database != "" {
				r = append(r, "DB", database)
			}
		}
		out = append(out, r)
	}
	return out
}
