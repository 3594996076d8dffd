package sqlfuncs

import (
	_ "embed"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// mysqlSchemaTable lists the columns of MariaDB's information_schema: table,
// column, type, whether it may be NULL.
//
//go:embed mysql_schema.tsv
var mysqlSchemaTable string

// schemaTables are the tables of information_schema by lower-case name.
// Those without rows in schemaRows are empty. See init.
var schemaTables map[string]*table

// The tables of the MySQL dialect refer to the functions that read them: they
// are made here, since such a cycle cannot be in an initial value.
func init() {
	makeSchemaTables()
	makeSchemaRows()
	makeShows()
	makeSpecialCalls()
}

func makeSchemaTables() {
	schemaTables = map[string]*table{}
	for line := range strings.Lines(mysqlSchemaTable) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		key := strings.ToLower(f[0])
		t := schemaTables[key]
		if t == nil {
			t = &table{schema: informationSchema, name: f[0], kind: 'v'}
			t.scan = schemaScan(t)
			schemaTables[key] = t
		}
		if slices.Contains(databaseColumns, f[1]) && len(t.keys) == 0 {
			t.keys = []int{len(t.columns)}
		}
		t.columns = append(t.columns, tableColumn{name: f[1], typ: mysqlColumnType(f[2]), null: f[3] == "YES"})
	}
}

func mysqlColumnType(text string) datum.OID {
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

// record is a row by column name; what it does not name is NULL, or empty
// where the column cannot be NULL.
type record map[string]any

// schemaScan makes the rows of a table of information_schema.
func schemaScan(t *table) func(*exec, []keyValues) (rowIter, error) {
	return func(x *exec, keys []keyValues) (rowIter, error) {
		rows := schemaRows[strings.ToLower(t.name)]
		if rows == nil {
			return &sliceRows{}, nil
		}
		n, at, err := rows(x, sessionOf(x).databases(keys))
		if err != nil {
			return nil, err
		}
		i := 0
		return funcRows(func(*exec) ([]datum.Value, error) {
			if i >= n {
				return nil, io.EOF
			}
			i++
			return t.row(at(i - 1)), nil
		}), nil
	}
}

// databaseColumns are the columns that name the database of a row.
var databaseColumns = []string{"TABLE_SCHEMA", "SCHEMA_NAME", "ROUTINE_SCHEMA", "SPECIFIC_SCHEMA"}

func (t *table) row(r record) []datum.Value {
	row := make([]datum.Value, len(t.columns))
	for i, c := range t.columns {
		row[i] = datum.Null(c.typ)
		switch v := r[c.name].(type) {
		case nil:
			if !c.null {
				row[i].Valid = true
				if c.typ == datum.Numeric {
					row[i].Str = "0"
				}
			}
		case string:
			row[i] = datum.MakeString(c.typ, v)
		case int:
			row[i] = datum.Value{Type: c.typ, Valid: true, Int: int64(v)}
		case int64:
			row[i] = datum.Value{Type: c.typ, Valid: true, Int: v}
		case datum.Value:
			row[i] = v
		}
	}
	return row
}

// rowMaker makes the rows of a table for some databases: their number, and
// one by one when they are read.
type rowMaker func(x *exec, databases []string) (n int, at func(i int) record, err error)

// few makes a rowMaker of a function that makes all rows at once.
func few(rows func(x *exec, databases []string) ([]record, error)) rowMaker {
	return func(x *exec, databases []string) (int, func(int) record, error) {
		all, err := rows(x, databases)
		return len(all), func(i int) record { return all[i] }, err
	}
}

// schemaRows makes the rows of the tables that have some.
var schemaRows map[string]rowMaker

func makeSchemaRows() {
	schemaRows = map[string]rowMaker{
		"schemata": few(schemataRows), "tables": tablesRows, "columns": columnsRows, "views": viewsRows,
		"routines": few(routinesRows), "parameters": few(parametersRows), "engines": few(enginesRows),
		"collations": few(collationsRows), "character_sets": few(charsetsRows), "processlist": few(processlistRows),
		"collation_character_set_applicability": few(applicabilityRows),
		"global_variables":                      variablesRows(true), "session_variables": variablesRows(false),
		"global_status": few(statusRows), "session_status": few(statusRows),
		"user_privileges": few(privilegesRows), "user_variables": few(userVariablesRows), "plugins": few(pluginsRows),
	}
}

// account is the user as MySQL writes it.
func (s *Session) account() string {
	host, _, ok := s.options.client()
	if !ok {
		host = "localhost"
	}
	return sqlstate.Cut(s.options.User, 64) + "@" + host
}

// databases lists the databases that a statement is about: those that its
// WHERE names, else those that SHOW DATABASES shows. Every name is one for the
// same tables.
func (s *Session) databases(keys []keyValues) []string {
	names := []string{informationSchema, nextidSchema}
	if len(keys) > 0 && keys[0].fixed {
		names = nil
		for _, v := range keys[0].values {
			names = append(names, v.Str)
		}
	} else if s.mysql.database != "" {
		names = append(names, s.mysql.database)
	}
	names = slices.DeleteFunc(names, func(n string) bool { return n == "" || systemSchemas[strings.ToLower(n)] })
	for i, n := range names {
		if strings.EqualFold(n, informationSchema) || strings.EqualFold(n, nextidSchema) {
			names[i] = strings.ToLower(n)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func schemataRows(x *exec, databases []string) ([]record, error) {
	var out []record
	for _, name := range databases {
		charset, collation := "utf8mb4", "utf8mb4_general_ci"
		if name == informationSchema {
			charset, collation = "utf8mb3", "utf8mb3_general_ci"
		}
		out = append(out, record{
			"CATALOG_NAME": "def", "SCHEMA_NAME": name,
			"DEFAULT_CHARACTER_SET_NAME": charset, "DEFAULT_COLLATION_NAME": collation,
		})
	}
	return out, nil
}

// listedTable is a table of one database.
type listedTable struct {
	database string
	def      *table
}

// idTablesOf lists our tables, NAME_id of each generator included.
func idTablesOf(x *exec) ([]*table, error) {
	var out []*table
	for _, t := range tables {
		if t.schema == "public" || t.schema == nextidSchema {
			out = append(out, t)
		}
	}
	definitions, err := sessionOf(x).server.registry.Numbered(x.ctx)
	if err != nil {
		return nil, err
	}
	for _, d := range definitions {
		if tables["public."+d.Name] == nil {
			out = append(out, sequenceTable(d.Name))
		}
		if name := d.Name + idTableSuffix; tables["public."+name] == nil {
			out = append(out, sessionOf(x).server.singleIDTable(name, d.Name))
		}
	}
	slices.SortFunc(out, func(a, b *table) int { return strings.Compare(a.name, b.name) })
	return out, x.hold(len(out) * listedBytes)
}

// listedBytes is what a table costs that was made to be listed.
const listedBytes = 1 << 10

// tablesOf lists the tables of one database.
func tablesOf(x *exec, database string) ([]*table, error) {
	if strings.EqualFold(database, informationSchema) {
		var out []*table
		for _, key := range slices.Sorted(maps.Keys(schemaTables)) {
			out = append(out, schemaTables[key])
		}
		return out, nil
	}
	if systemSchemas[strings.ToLower(database)] {
		return nil, nil
	}
	ts, err := idTablesOf(x)
	if !strings.EqualFold(database, nextidSchema) { // the operator's tables are shown in their own database
		ts = slices.DeleteFunc(ts, func(t *table) bool { return t.schema == nextidSchema })
	}
	return ts, err
}

func listTables(x *exec, databases []string) ([]listedTable, error) {
	var out []listedTable
	for _, database := range databases {
		ts, err := tablesOf(x, database)
		if err != nil {
			return nil, err
		}
		for _, t := range ts {
			out = append(out, listedTable{database, t})
		}
	}
	return out, x.hold(len(out) * listedBytes)
}

// mysqlTableType is TABLE_TYPE.
func (t *table) mysqlTableType() string {
	switch {
	case t.schema == informationSchema:
		return "SYSTEM VIEW"
	case t.kind == 'S':
		return "SEQUENCE"
	}
	return "VIEW"
}

func tablesRows(x *exec, databases []string) (int, func(int) record, error) {
	list, err := listTables(x, databases)
	return len(list), func(i int) record {
		t := list[i]
		r := record{
			"TABLE_CATALOG": "def", "TABLE_SCHEMA": t.database, "TABLE_NAME": t.def.name,
			"TABLE_TYPE": t.def.mysqlTableType(), "TABLE_COMMENT": t.def.mysqlTableType(),
		}
		if t.def.schema == informationSchema {
			r["TABLE_COMMENT"] = ""
			r["ENGINE"] = "MEMORY"
		}
		return r
	}, err
}

// mysqlType describes a column type as information_schema does.
type mysqlType struct {
	data, column      string // DATA_TYPE, COLUMN_TYPE
	length, octets    int64  // of texts, else 0
	precision, scale  int    // of numbers; scale -1: none
	datetimePrecision int    // -1: none
}

func mysqlTypeOf(c tableColumn) mysqlType {
	switch c.typ {
	case datum.Int8:
		return mysqlType{"bigint", "bigint(20)", 0, 0, 19, 0, -1}
	case datum.Int4, datum.Int2, datum.Bool, datum.Oid:
		return mysqlType{"int", "int(11)", 0, 0, 10, 0, -1}
	case datum.Numeric:
		return mysqlType{"decimal", "decimal(65,0)", 0, 0, 65, 0, -1}
	case datum.Float8, datum.Float4:
		return mysqlType{"double", "double", 0, 0, 22, -1, -1}
	case datum.TimestampTZ, datum.Timestamp:
		return mysqlType{"datetime", "datetime(6)", 0, 0, 0, -1, 6}
	case datum.Date:
		return mysqlType{"date", "date", 0, 0, 0, -1, -1}
	case datum.JSON, datum.JSONB:
		return mysqlType{"longtext", "longtext", 1<<32 - 1, 1<<32 - 1, 0, -1, -1}
	case datum.Bytea:
		return mysqlType{"blob", "blob", 65535, 65535, 0, -1, -1}
	}
	return mysqlType{"varchar", "varchar(255)", 255, 1020, 0, -1, -1}
}

func columnsRows(x *exec, databases []string) (int, func(int) record, error) {
	list, err := listTables(x, databases)
	n := 0
	ends := make([]int, len(list)) // of each table's columns
	for i, t := range list {
		n += len(t.def.columns)
		ends[i] = n
	}
	return n, func(i int) record {
		at, _ := slices.BinarySearch(ends, i+1)
		t := list[at]
		return columnRecord(t, i-ends[at]+len(t.def.columns))
	}, err
}

// columnRecord is the row of COLUMNS for the i-th column of a table.
func columnRecord(t listedTable, i int) record {
	c := t.def.columns[i]
	m := mysqlTypeOf(c)
	r := record{
		"TABLE_CATALOG": "def", "TABLE_SCHEMA": t.database, "TABLE_NAME": t.def.name,
		"COLUMN_NAME": c.name, "ORDINAL_POSITION": i + 1, "IS_NULLABLE": yesNo(c.null),
		"DATA_TYPE": m.data, "COLUMN_TYPE": m.column, "PRIVILEGES": "select", "IS_GENERATED": "NEVER",
	}
	if m.length > 0 {
		r["CHARACTER_MAXIMUM_LENGTH"], r["CHARACTER_OCTET_LENGTH"] = m.length, m.octets
	}
	if m.data == "varchar" || m.data == "longtext" {
		r["CHARACTER_SET_NAME"], r["COLLATION_NAME"] = "utf8mb4", "utf8mb4_general_ci"
	}
	if m.precision > 0 {
		r["NUMERIC_PRECISION"] = m.precision
		if m.scale >= 0 {
			r["NUMERIC_SCALE"] = m.scale
		}
	}
	if m.datetimePrecision >= 0 {
		r["DATETIME_PRECISION"] = m.datetimePrecision
	}
	return r
}

func yesNo(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}

func viewsRows(x *exec, databases []string) (int, func(int) record, error) {
	list, err := listTables(x, databases)
	list = slices.DeleteFunc(list, func(t listedTable) bool { return t.def.mysqlTableType() != "VIEW" })
	return len(list), func(i int) record {
		t := list[i]
		return record{
			"TABLE_CATALOG": "def", "TABLE_SCHEMA": t.database, "TABLE_NAME": t.def.name,
			"VIEW_DEFINITION": t.def.mysqlViewQuery(), "CHECK_OPTION": "NONE", "IS_UPDATABLE": "NO", "DEFINER": "nextid@localhost",
			"SECURITY_TYPE": "INVOKER", "CHARACTER_SET_CLIENT": "utf8mb4", "COLLATION_CONNECTION": "utf8mb4_general_ci", "ALGORITHM": "UNDEFINED",
		}
	}, err
}

// mysqlViewQuery is the view that a dump makes of a table in another database:
// one with its columns and no rows, since nobody answers it there.
func (t *table) mysqlViewQuery() string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = "NULL AS `" + c.name + "`"
	}
	return "select " + strings.Join(names, ",") + " from DUAL where 0"
}

// routines lists our functions as stored functions, once each name.
func routines() []*function {
	var out []*function
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		for _, f := range functions[name] {
			if f.schema == nextidSchema && f.agg == nil && !f.set {
				out = append(out, f)
				break
			}
		}
	}
	return out
}

func routinesRows(x *exec, databases []string) ([]record, error) {
	var out []record
	for _, database := range databases {
		if database == informationSchema {
			continue
		}
		for _, f := range routines() {
			m := mysqlTypeOf(tableColumn{typ: f.result})
			r := record{
				"SPECIFIC_NAME": f.name, "ROUTINE_CATALOG": "def", "ROUTINE_SCHEMA": database, "ROUTINE_NAME": f.name,
				"ROUTINE_TYPE": "FUNCTION", "DATA_TYPE": m.data, "DTD_IDENTIFIER": m.column, "ROUTINE_BODY": "SQL",
				"ROUTINE_DEFINITION": "", "PARAMETER_STYLE": "SQL", "IS_DETERMINISTIC": yesNo(f.volatile == immutable),
				"SQL_DATA_ACCESS": "NO SQL", "SECURITY_TYPE": "INVOKER", "CREATED": datetimeOf(sessionOf(x).server.started.Truncate(1e9)),
				"LAST_ALTERED": datetimeOf(sessionOf(x).server.started.Truncate(1e9)), "SQL_MODE": "", "ROUTINE_COMMENT": f.help,
				"DEFINER": "nextid@localhost", "CHARACTER_SET_CLIENT": "utf8mb4", "COLLATION_CONNECTION": "utf8mb4_general_ci",
				"DATABASE_COLLATION": "utf8mb4_general_ci",
			}
			out = append(out, r)
		}
	}
	return out, nil
}

func parametersRows(x *exec, databases []string) ([]record, error) {
	var out []record
	for _, database := range databases {
		if database == informationSchema {
			continue
		}
		for _, f := range routines() {
			all := append([]argument{{typ: f.result}}, f.args...)
			for i, a := range all {
				m := mysqlTypeOf(tableColumn{typ: a.typ})
				r := record{
					"SPECIFIC_CATALOG": "def", "SPECIFIC_SCHEMA": database, "SPECIFIC_NAME": f.name, "ORDINAL_POSITION": i,
					"DATA_TYPE": m.data, "DTD_IDENTIFIER": m.column, "ROUTINE_TYPE": "FUNCTION",
				}
				if i > 0 {
					r["PARAMETER_MODE"], r["PARAMETER_NAME"] = "IN", a.name
				}
				if m.precision > 0 {
					r["NUMERIC_PRECISION"], r["NUMERIC_SCALE"] = m.precision, max(m.scale, 0)
				}
				if m.length > 0 {
					r["CHARACTER_MAXIMUM_LENGTH"], r["CHARACTER_OCTET_LENGTH"] = m.length, m.octets
				}
				out = append(out, r)
			}
		}
	}
	return out, nil
}

func enginesRows(*exec, []string) ([]record, error) {
	return []record{{"ENGINE": nextidSchema, "SUPPORT": "DEFAULT", "COMMENT": "Ids from generators", "TRANSACTIONS": "NO", "XA": "NO", "SAVEPOINTS": "NO"}}, nil
}

func pluginsRows(*exec, []string) ([]record, error) {
	var out []record
	for _, name := range []string{"caching_sha2_password", "mysql_native_password"} {
		out = append(out, record{
			"PLUGIN_NAME": name, "PLUGIN_VERSION": "1.0", "PLUGIN_STATUS": "ACTIVE", "PLUGIN_TYPE": "AUTHENTICATION",
			"PLUGIN_TYPE_VERSION": "2.2", "PLUGIN_LICENSE": "Apache-2.0", "LOAD_OPTION": "FORCE", "PLUGIN_MATURITY": "Stable",
		})
	}
	return out, nil
}

func collationsRows(*exec, []string) ([]record, error) {
	var out []record
	for _, c := range collations {
		r := record{"COLLATION_NAME": c.name, "CHARACTER_SET_NAME": c.charset, "ID": c.id, "IS_DEFAULT": "", "IS_COMPILED": "Yes", "SORTLEN": 1}
		if defaultCollation(c.charset) == c.name {
			r["IS_DEFAULT"] = "Yes"
		}
		out = append(out, r)
	}
	return out, nil
}

func applicabilityRows(*exec, []string) ([]record, error) {
	var out []record
	for _, c := range collations {
		r := record{"COLLATION_NAME": c.name, "CHARACTER_SET_NAME": c.charset, "FULL_COLLATION_NAME": c.name, "ID": c.id, "IS_DEFAULT": ""}
		if defaultCollation(c.charset) == c.name {
			r["IS_DEFAULT"] = "Yes"
		}
		out = append(out, r)
	}
	return out, nil
}

func charsetsRows(*exec, []string) ([]record, error) {
	var out []record
	for _, c := range charsets {
		out = append(out, record{"CHARACTER_SET_NAME": c.name, "DEFAULT_COLLATE_NAME": c.collation, "DESCRIPTION": c.help, "MAXLEN": c.bytes})
	}
	return out, nil
}

func userVariablesRows(x *exec, _ []string) ([]record, error) {
	var out []record
	users := sessionOf(x).mysql.users
	for _, name := range slices.Sorted(maps.Keys(users)) {
		r := record{"VARIABLE_NAME": name, "VARIABLE_TYPE": strings.ToUpper(mysqlTypeOf(tableColumn{typ: users[name].Type}).data)}
		if users[name].Valid {
			r["VARIABLE_VALUE"] = x.mysqlText(users[name])
		}
		out = append(out, r)
	}
	return out, nil
}

func privilegesRows(x *exec, _ []string) ([]record, error) {
	user, host, _ := strings.Cut(sessionOf(x).account(), "@")
	return []record{{"GRANTEE": "'" + user + "'@'" + host + "'", "TABLE_CATALOG": "def", "PRIVILEGE_TYPE": "USAGE", "IS_GRANTABLE": "NO"}}, nil
}

func variablesRows(global bool) rowMaker {
	return few(func(x *exec, _ []string) ([]record, error) {
		var out []record
		for _, key := range slices.Sorted(maps.Keys(mysqlSettings)) {
			value := sessionOf(x).systemVariable(mysqlSettings[key])
			if global {
				value = sessionOf(x).globalVariable(mysqlSettings[key])
			}
			out = append(out, record{"VARIABLE_NAME": key, "VARIABLE_VALUE": value})
		}
		return out, nil
	})
}

// statusRows are the counters that monitoring reads. Those that mean nothing
// here are left out.
func statusRows(x *exec, _ []string) ([]record, error) {
	sessionOf(x).server.sessions.mu.Lock()
	connected := len(sessionOf(x).server.sessions.all)
	sessionOf(x).server.sessions.mu.Unlock()
	uptime := int(sessionOf(x).server.now().Sub(sessionOf(x).server.started).Seconds())
	values := map[string]string{
		"Uptime": itoa(uptime), "Uptime_since_flush_status": itoa(uptime), "Threads_connected": itoa(connected),
		"Threads_running": "1", "Aborted_clients": "0", "Aborted_connects": "0", "Compression": "OFF", "Last_query_cost": "0.000000",
		"Max_used_connections": itoa(connected), "Open_tables": "0", "Opened_tables": "0", "Slow_queries": "0",
		"Ssl_cipher": sessionOf(x).options.TLS.Cipher, "Ssl_version": sessionOf(x).options.TLS.Version, "Flush_commands": "0", "Prepared_stmt_count": itoa(len(sessionOf(x).prepared)),
	}
	var out []record
	for _, name := range slices.Sorted(maps.Keys(values)) {
		out = append(out, record{"VARIABLE_NAME": name, "VARIABLE_VALUE": values[name]})
	}
	return out, nil
}

func itoa(n int) string { return strconv.Itoa(n) }

func processlistRows(x *exec, _ []string) ([]record, error) {
	sessionOf(x).server.sessions.mu.Lock()
	defer sessionOf(x).server.sessions.mu.Unlock()
	var out []record
	now := sessionOf(x).server.now()
	for s := range sessionOf(x).server.sessions.all {
		if !sessionOf(x).options.Admin && s != sessionOf(x) {
			continue
		}
		user, host := sqlstate.Cut(s.options.User, 64), "localhost"
		if addr, port, ok := s.options.client(); ok {
			host = addr + ":" + itoa(port)
		}
		r := record{
			"ID": int(s.options.PID), "USER": user, "HOST": host, "COMMAND": "Sleep",
			"TIME": int(now.Sub(s.started).Seconds()), "STATE": "", "TIME_MS": "0.000", "PROGRESS": "0.000", "QUERY_ID": 0, "TID": 0,
		}
		if s.dialect == sessionOf(x).dialect && s == sessionOf(x) {
			r["COMMAND"], r["STATE"], r["INFO"], r["TIME"] = "Query", "starting", portalOf(x).st.Text, 0
			if s.mysql.database != "" {
				r["DB"] = s.mysql.database
			}
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b record) int { return a["ID"].(int) - b["ID"].(int) })
	return out, nil
}
