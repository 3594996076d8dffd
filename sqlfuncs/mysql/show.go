package mysql

import (
	"cmp"
	"slices"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// shown describes the answer to a SHOW statement: its columns, and its rows before
// LIKE and WHERE filter them.
type shown struct {
	columns []engine.TableColumn
	like    int // index of the column that LIKE filters
	rows    func(x *engine.Exec, t *syntax.ShowMySQL) ([][]datum.Value, error)
}

// texts returns columns of type text.
func texts(names ...string) []engine.TableColumn { return typed(datum.Text, names...) }

// typed returns nullable columns of a type.
func typed(t datum.OID, names ...string) []engine.TableColumn {
	out := make([]engine.TableColumn, len(names))
	for i, n := range names {
		out[i] = engine.TableColumn{Name: n, Type: t, Null: true}
	}
	return out
}

// heading returns the end of the first column's name: a database, a user or a pattern.
func heading(p *engine.Planner, t *syntax.ShowMySQL, what string) string {
	pattern := ""
	if t.Like != "" {
		pattern = " (" + t.Like + ")"
	}
	switch what {
	case "DATABASES":
		return pattern
	case "TABLES", "FULL TABLES":
		p.Private = true
		return cmp.Or(t.In, databaseName(plannedState(p))) + pattern
	case "GRANTS", "CREATE USER":
		p.Private = true
		return accountOf(p.Host.Client())
	}
	return ""
}

// fromSchema answers SHOW from a table of information_schema. pairs are a name of a
// column in SHOW and the name of its column in the table.
func fromSchema(def *engine.Table, pairs ...string) shown {
	var s shown
	var from []int
	for i := 0; i < len(pairs); i += 2 {
		n := slices.IndexFunc(def.Columns, func(c engine.TableColumn) bool { return c.Name == pairs[i+1] })
		column := def.Columns[n]
		column.Name = pairs[i]
		s.columns, from = append(s.columns, column), append(from, n)
	}
	s.rows = func(x *engine.Exec, _ *syntax.ShowMySQL) ([][]datum.Value, error) {
		it, err := def.Scan(x, nil)
		if err != nil {
			return nil, err
		}
		defer it.Close()
		rows, err := engine.Drain(x, it)
		for i, full := range rows {
			rows[i] = make([]datum.Value, len(from))
			for j, n := range from {
				rows[i][j] = full[n]
			}
		}
		return rows, err
	}
	return s
}

// noRows answers with columns and no rows.
func noRows(columns ...[]engine.TableColumn) shown {
	return shown{
		columns: slices.Concat(columns...),
		rows:    func(*engine.Exec, *syntax.ShowMySQL) ([][]datum.Value, error) { return nil, nil },
	}
}

// shows makes the SHOW statements by their words. tables are those of
// information_schema.
func shows(tables map[string]*engine.Table) map[string]shown {
	variables := func(table string) shown {
		return fromSchema(tables[table], "Variable_name", "VARIABLE_NAME", "Value", "VARIABLE_VALUE")
	}
	routineStatus := noRows(texts("Db", "Name", "Type", "Definer"), typed(datum.Timestamp, "Modified", "Created"), texts("Security_type", "Comment", "character_set_client", "collation_connection", "Database Collation"))
	functionStatus := fromSchema(tables["routines"], "Db", "ROUTINE_SCHEMA", "Name", "ROUTINE_NAME", "Type", "ROUTINE_TYPE", "Definer", "DEFINER",
		"Modified", "LAST_ALTERED", "Created", "CREATED", "Security_type", "SECURITY_TYPE", "Comment", "ROUTINE_COMMENT",
		"character_set_client", "CHARACTER_SET_CLIENT", "collation_connection", "COLLATION_CONNECTION", "Database Collation", "DATABASE_COLLATION")
	functionStatus.like = 1
	index := noRows(texts("Table"), typed(datum.Int8, "Non_unique"), texts("Key_name"), typed(datum.Int8, "Seq_in_index"), texts("Column_name", "Collation"), typed(datum.Int8, "Cardinality", "Sub_part"), texts("Packed", "Null", "Index_type", "Comment", "Index_comment", "Ignored"))
	index.rows = func(x *engine.Exec, t *syntax.ShowMySQL) ([][]datum.Value, error) {
		_, err := shownTable(x, t)
		return nil, err
	}
	columns := shown{columns: engine.ColumnList("Field:text(64)! Type:text(196605)! Null:text(3)! Key:text(3)! Default:text(196605) Extra:text(80)!"), rows: showColumns}
	fullColumns := shown{
		columns: engine.ColumnList("Field:text(64)! Type:text(196605)! Collation:text(64) Null:text(3)! Key:text(3)! Default:text(196605) Extra:text(80)! " +
			"Privileges:text(80)! Comment:text(1024)!"),
		rows: showColumns,
	}
	processes := fromSchema(tables["processlist"], "Id", "ID", "User", "USER", "Host", "HOST", "db", "DB", "Command", "COMMAND", "Time", "TIME",
		"State", "STATE", "Info", "INFO", "Progress", "PROGRESS")
	warnings := shown{columns: engine.ColumnList("Level:text(7)! Code:int4! Message:text(512)!"), rows: showWarnings}
	primary := noRows(texts("File", "Position", "Binlog_Do_DB", "Binlog_Ignore_DB"))
	return map[string]shown{
		"VARIABLES": variables("session_variables"), "GLOBAL VARIABLES": variables("global_variables"), "STATUS": variables("session_status"),
		"DATABASES": fromSchema(tables["schemata"], "Database", "SCHEMA_NAME"),
		"TABLES":    {columns: engine.ColumnList("Tables_in_:text(128)!"), rows: showTables}, "FULL TABLES": {columns: engine.ColumnList("Tables_in_:text(128)! Table_type:text(64)!"), rows: showTables},
		"TABLE STATUS": {columns: tableStatus.Columns, rows: showTableStatus},
		"COLUMNS":      columns, "FULL COLUMNS": fullColumns,
		"CREATE TABLE":    {columns: texts("View", "Create View", "character_set_client", "collation_connection"), rows: showCreateView},
		"CREATE DATABASE": {columns: texts("Database", "Create Database"), rows: showCreateDatabase},
		"CREATE FUNCTION": {columns: texts("Function", "sql_mode", "Create Function", "character_set_client", "collation_connection", "Database Collation"), rows: showCreateFunction},
		"ENGINES": fromSchema(tables["engines"], "Engine", "ENGINE", "Support", "SUPPORT", "Comment", "COMMENT",
			"Transactions", "TRANSACTIONS", "XA", "XA", "Savepoints", "SAVEPOINTS"),
		"COLLATION": fromSchema(tables["collations"], "Collation", "COLLATION_NAME", "Charset", "CHARACTER_SET_NAME", "Id", "ID",
			"Default", "IS_DEFAULT", "Compiled", "IS_COMPILED", "Sortlen", "SORTLEN"),
		"CHARACTER SET": fromSchema(tables["character_sets"], "Charset", "CHARACTER_SET_NAME", "Description", "DESCRIPTION",
			"Default collation", "DEFAULT_COLLATE_NAME", "Maxlen", "MAXLEN"),
		"FUNCTION STATUS": functionStatus, "PROCEDURE STATUS": routineStatus, "PACKAGE STATUS": routineStatus,
		"PACKAGE BODY STATUS": routineStatus,
		"PROCESSLIST":         processes, "INDEX": index,
		"GRANTS":      {columns: texts("Grants for "), rows: showGrants},
		"CREATE USER": {columns: texts("CREATE USER for "), rows: showCreateUser},
		"PLUGINS":     fromSchema(tables["plugins"], "Name", "PLUGIN_NAME", "Status", "PLUGIN_STATUS", "Type", "PLUGIN_TYPE", "Library", "PLUGIN_LIBRARY", "License", "PLUGIN_LICENSE"),
		"TRIGGERS":    noRows(texts("Trigger", "Event", "Table", "Statement", "Timing"), typed(datum.Timestamp, "Created"), texts("sql_mode", "Definer", "character_set_client", "collation_connection", "Database Collation")),
		"EVENTS":      noRows(texts("Db", "Name", "Definer", "Time zone", "Type"), typed(datum.Timestamp, "Execute at"), texts("Interval value", "Interval field"), typed(datum.Timestamp, "Starts", "Ends"), texts("Status"), typed(datum.Int8, "Originator"), texts("character_set_client", "collation_connection", "Database Collation")),
		"WARNINGS":    warnings, "ERRORS": warnings,
		"MASTER STATUS": primary, "BINLOG STATUS": primary, "BINARY LOG STATUS": primary,
		"SLAVE STATUS": noRows(texts("Slave_IO_State", "Master_Host", "Master_User", "Master_Port")),
		"SLAVE HOSTS":  noRows(typed(datum.Int8, "Server_id"), texts("Host"), typed(datum.Int8, "Port", "Master_id")),
		"OPEN TABLES":  noRows(texts("Database", "Table", "In_use", "Name_locked")),
		"PRIVILEGES":   {columns: texts("Privilege", "Context", "Comment"), rows: showPrivileges},
	}
}

// showSynonyms maps other words for a SHOW to the words in shows.
var showSynonyms = map[string]string{
	"SCHEMAS": "DATABASES", "FIELDS": "COLUMNS", "FULL FIELDS": "FULL COLUMNS", "INDEXES": "INDEX", "KEYS": "INDEX", "CHARSET": "CHARACTER SET",
	"FULL PROCESSLIST": "PROCESSLIST", "CREATE VIEW": "CREATE TABLE", "CREATE SEQUENCE": "CREATE TABLE", "CREATE SCHEMA": "CREATE DATABASE",
	"STORAGE ENGINES": "ENGINES", "REPLICA STATUS": "SLAVE STATUS", "ALL SLAVES STATUS": "SLAVE STATUS",
	"ALL REPLICAS STATUS": "SLAVE STATUS", "REPLICA HOSTS": "SLAVE HOSTS", "EXTENDED COLUMNS": "COLUMNS", "EXTENDED FULL COLUMNS": "FULL COLUMNS",
	"SESSION VARIABLES": "VARIABLES", "LOCAL VARIABLES": "VARIABLES", "SESSION STATUS": "STATUS", "LOCAL STATUS": "STATUS", "GLOBAL STATUS": "STATUS",
}

// Show plans SHOW and DESCRIBE table.
func Show(p *engine.Planner, t *syntax.ShowMySQL) (*engine.QueryPlan, error) {
	what := t.What
	if to, ok := showSynonyms[what]; ok {
		what = to
	}
	def, ok := dialectPlanned(p).Shows[what]
	switch {
	case what == "BINARY LOGS" || what == "MASTER LOGS":
		return nil, sqlstate.New(sqlstate.FeatureNotSupported, "You are not using binary logging").WithMySQL(1381, "HY000")
	case (what == "GRANTS" || what == "CREATE USER") && t.User != "" && t.User != p.Host.Client().User:
		return nil, sqlstate.New(sqlstate.UndefinedObject, "There is no such grant defined for user '%s' on host '%%'", sqlstate.Cut(t.User, 64)).
			WithHint("Users and their rights are in the users file: see nextid passwd.").WithMySQL(1141, "42000")
	case !ok && strings.HasPrefix(what, "CREATE "):
		kind := strings.TrimPrefix(what, "CREATE ")
		number := cmp.Or(map[string]sqlstate.MySQLNumber{"TRIGGER": {Number: 1360, State: "HY000"}, "EVENT": {Number: 1539, State: "HY000"}}[kind],
			sqlstate.MySQLNumber{Number: 1305, State: "42000"})
		return nil, sqlstate.New(sqlstate.UndefinedTable, "%s %s does not exist", kind, sqlstate.Cut(t.From.Last(), 64)).WithMySQL(number.Number, number.State)
	case !ok:
		return nil, sqlstate.New(sqlstate.FeatureNotSupported, "SHOW %s is not supported by nextid", sqlstate.Cut(what, 64)).WithMySQL(1064, "42000")
	}
	columns := slices.Clone(def.columns)
	columns[0].Name += heading(p, t, what)
	if what == "CREATE TABLE" && t.From != nil {
		if tbl, err := p.Host.Table(p, t.From); err == nil && (tbl.Schema == engine.InformationSchema || tbl.Kind == 'S') {
			columns = texts("Table", "Create Table")
		}
	}
	filter, frame, err := showFilter(p, t, columns, def.like)
	if err != nil {
		return nil, err
	}
	query := &engine.QueryPlan{Columns: make([]engine.Column, len(columns)), Open: func(x *engine.Exec) (engine.Rows, error) {
		rows, err := def.rows(x, t)
		if err != nil || filter == nil {
			return &engine.SliceRows{Rows: rows}, err
		}
		var keep [][]datum.Value
		x.Frame(frame, len(columns))
		for _, r := range rows {
			x.Frames[frame] = r
			v, err := filter.Eval(x)
			if err != nil {
				return nil, err
			}
			if v.Valid && v.Int == 1 {
				keep = append(keep, r)
			}
		}
		return &engine.SliceRows{Rows: keep}, nil
	}}
	for i, c := range columns {
		query.Columns[i] = engine.Column{Name: c.Name, Type: c.Type, TypeMod: engine.TextMod(c.Length), Len: engine.TypeLen(c.Type), Origin: &engine.Origin{NotNull: !c.Null}}
	}
	return query, nil
}

// showFilter analyses LIKE and WHERE over the columns that are shown.
func showFilter(p *engine.Planner, t *syntax.ShowMySQL, columns []engine.TableColumn, like int) (*engine.Expr, int, error) {
	if t.Like == "" && t.Where == nil {
		return nil, 0, nil
	}
	s := &engine.Scope{Frame: p.NewFrame()}
	def := engine.Table{Columns: columns}
	if err := s.Add(&engine.FromItem{Columns: def.FromColumns()}); err != nil {
		return nil, 0, err
	}
	e := t.Where
	if e == nil {
		e = &syntax.Like{Op: "LIKE", X: &syntax.Column{Name: syntax.Name{columns[like].Name}}, Pattern: &syntax.Literal{Kind: syntax.StringLiteral, Text: t.Like}}
	}
	x, err := p.Boolean(s, e, "WHERE")
	return x, s.Frame, err
}

// planner returns a planner for look-ups of tables while a statement runs.
func planner(x *engine.Exec) *engine.Planner {
	return engine.NewPlanner(x.Host, x.Dialect, "")
}

// shownTable finds the table that a SHOW names.
func shownTable(x *engine.Exec, t *syntax.ShowMySQL) (*engine.Table, error) {
	if t.From == nil {
		return nil, sqlstate.New(sqlstate.SyntaxError, "SHOW %s needs a table", t.What)
	}
	name := t.From
	if t.In != "" {
		name = syntax.Name{t.In, t.From.Last()}
	}
	return x.Host.Table(planner(x), name)
}

// shownDatabase returns the database that a SHOW names, or the default one.
func shownDatabase(x *engine.Exec, t *syntax.ShowMySQL) string {
	if t.In != "" {
		return t.In
	}
	return databaseName(stateOf(x))
}

// textRow returns a row of texts.
func textRow(values ...string) []datum.Value {
	row := make([]datum.Value, len(values))
	for i, v := range values {
		row[i] = datum.MakeText(v)
	}
	return row
}

// showTables makes the rows of SHOW [FULL] TABLES.
func showTables(x *engine.Exec, t *syntax.ShowMySQL) (rows [][]datum.Value, err error) {
	ts, err := tablesOf(x, shownDatabase(x, t))
	for _, def := range ts {
		if isFull(t) {
			rows = append(rows, textRow(def.Name, tableType(def)))
		} else {
			rows = append(rows, textRow(def.Name))
		}
	}
	return rows, err
}

// isFull reports whether a SHOW asks for more columns: SHOW FULL …
func isFull(t *syntax.ShowMySQL) bool { return strings.Contains(t.What, "FULL ") }

var tableStatus = engine.Table{Columns: engine.ColumnList(`
	Name:text! Engine:text Version:int8 Row_format:text Rows:int8 Avg_row_length:int8
	Data_length:int8 Max_data_length:int8 Index_length:int8 Data_free:int8
	Auto_increment:int8 Create_time:timestamp Update_time:timestamp Check_time:timestamp
	Collation:text Checksum:int8 Create_options:text Comment:text Max_index_length:int8
	Temporary:text`)}

// showTableStatus makes the rows of SHOW TABLE STATUS, by which FederatedX and
// SPIDER look up a table. If LIKE names the table of a generator that does not exist
// yet, the table has a row, too.
func showTableStatus(x *engine.Exec, t *syntax.ShowMySQL) ([][]datum.Value, error) {
	ts, err := tablesOf(x, shownDatabase(x, t))
	if err != nil {
		return nil, err
	}
	name := unescapeLike(t.Like)
	if name != "" && !slices.ContainsFunc(ts, func(def *engine.Table) bool { return strings.EqualFold(def.Name, name) }) {
		if def, err := x.Host.Table(planner(x), syntax.Name{shownDatabase(x, t), name}); err == nil {
			ts = append(ts, def)
		}
	}
	var rows [][]datum.Value
	for _, def := range ts {
		rows = append(rows, tableStatus.Row("Name", def.Name, "Comment", tableType(def)))
	}
	return rows, nil
}

// unescapeLike returns the text that a pattern without wild cards matches, "" for
// other patterns. An underscore counts as a plain character.
func unescapeLike(pattern string) string {
	if strings.Contains(strings.ReplaceAll(pattern, `\%`, ""), "%") {
		return ""
	}
	return strings.ReplaceAll(strings.ReplaceAll(pattern, `\_`, "_"), `\%`, "%")
}

// showColumns makes the rows of SHOW [FULL] COLUMNS.
func showColumns(x *engine.Exec, t *syntax.ShowMySQL) (rows [][]datum.Value, err error) {
	def, err := shownTable(x, t)
	if err != nil {
		return nil, err
	}
	null, none := datum.Null(datum.Text), datum.MakeText("")
	for _, c := range def.Columns {
		m := typeOf(c)
		row := textRow(c.Name, m.column)
		if isFull(t) {
			row = append(row, datum.TextOrNull(m.collation()))
		}
		row = append(row, datum.MakeText(yesNo[c.Null]), none, null, none)
		if isFull(t) {
			row = append(row, datum.MakeText("select"), none)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// showCreateView makes the row of SHOW CREATE TABLE. nextid's tables are views,
// those of information_schema are tables, and generators are sequences.
func showCreateView(x *engine.Exec, t *syntax.ShowMySQL) ([][]datum.Value, error) {
	def, err := shownTable(x, t)
	if err != nil {
		return nil, err
	}
	if def.Schema == engine.InformationSchema {
		lines := make([]string, len(def.Columns))
		for i, c := range def.Columns {
			lines[i] = "  `" + c.Name + "` " + typeOf(c).column
			if !c.Null {
				lines[i] += " NOT NULL"
			}
		}
		return [][]datum.Value{textRow(def.Name, "CREATE TEMPORARY TABLE `"+def.Name+"` (\n"+strings.Join(lines, ",\n")+"\n)")}, nil
	}
	if def.Kind == 'S' {
		q, err := mariaDBSequenceOf(x, def.Name)
		return [][]datum.Value{textRow(def.Name, q.statement(def.Name))}, err
	}
	text := "CREATE ALGORITHM=UNDEFINED DEFINER=`nextid`@`localhost` SQL SECURITY INVOKER VIEW `" + def.Name + "` AS " + viewQuery(def)
	return [][]datum.Value{textRow(def.Name, text, "utf8mb4", "utf8mb4_general_ci")}, nil
}

// showCreateFunction shows a function of nextid as a stored function.
func showCreateFunction(x *engine.Exec, t *syntax.ShowMySQL) ([][]datum.Value, error) {
	for _, f := range routines(x.Host.Catalog()) {
		if !strings.EqualFold(f.Name, t.From.Last()) {
			continue
		}
		args := make([]string, len(f.Args))
		for i, a := range f.Args {
			args[i] = "`" + a.Name + "` " + typeOf(engine.TableColumn{Type: a.Type}).column
		}
		text := "CREATE FUNCTION `" + f.Name + "`(" + strings.Join(args, ", ") + ") RETURNS " + typeOf(engine.TableColumn{Type: f.Result}).column +
			"\n    NO SQL\n    COMMENT '" + strings.ReplaceAll(f.Help, "'", "''") + "'\n/* built into nextid */"
		return [][]datum.Value{textRow(f.Name, "", text, "utf8mb4", "utf8mb4_general_ci", "utf8mb4_general_ci")}, nil
	}
	return nil, sqlstate.New(sqlstate.UndefinedFunction, "FUNCTION %s does not exist", sqlstate.Cut(t.From.Last(), 64))
}

func showCreateDatabase(_ *engine.Exec, t *syntax.ShowMySQL) ([][]datum.Value, error) {
	name := t.From.Last()
	return [][]datum.Value{textRow(name, "CREATE DATABASE `"+name+"` /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci */")}, nil
}

// quotedAccount returns the session's user as `user`@`host`.
func quotedAccount(x *engine.Exec) string {
	return "`" + strings.Replace(accountOf(x.Host.Client()), "@", "`@`", 1) + "`"
}

// showGrants shows the session's rights as grants on the database nextid.
func showGrants(x *engine.Exec, _ *syntax.ShowMySQL) ([][]datum.Value, error) {
	to := " TO " + quotedAccount(x)
	rows := [][]datum.Value{textRow("GRANT USAGE ON *.*" + to), textRow("GRANT SELECT, EXECUTE ON `nextid`.*" + to)}
	if x.Host.Client().Admin {
		rows = append(rows, textRow("GRANT CREATE, ALTER, DROP ON `nextid`.*"+to))
	}
	return rows, nil
}

// showCreateUser shows the session's user without the password.
func showCreateUser(x *engine.Exec, _ *syntax.ShowMySQL) ([][]datum.Value, error) {
	return [][]datum.Value{textRow("CREATE USER " + quotedAccount(x))}, nil
}

func showPrivileges(*engine.Exec, *syntax.ShowMySQL) ([][]datum.Value, error) {
	return [][]datum.Value{
		textRow("Select", "Tables", "To read ids"),
		textRow("Execute", "Functions,Procedures", "To call next_id and the other functions"),
		textRow("Create", "Databases,Tables,Indexes", "To create, alter and drop generators"),
	}, nil
}

var levels = map[string]string{engine.LevelNotice: "Note", engine.LevelWarning: "Warning", engine.LevelError: "Error"}

// showWarnings makes the rows of SHOW WARNINGS or SHOW ERRORS.
func showWarnings(x *engine.Exec, t *syntax.ShowMySQL) (rows [][]datum.Value, err error) {
	for _, n := range sessionOf(x).Notices() {
		if t.What != "ERRORS" || n.Severity == engine.LevelError {
			rows = append(rows, []datum.Value{datum.MakeText(levels[n.Severity]), datum.MakeInt4(int64(n.MySQL().Number)), datum.MakeText(n.Message)})
		}
	}
	return rows, nil
}
