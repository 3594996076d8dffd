package foreign

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"nextid/migrations/appdb"
)

// Fill names a column whose values a trigger draws from a generator.
type Fill struct {
	Database, Table, Column string // Database "" stands for that of the URL
	Generator               string
}

// generatorName matches names of generators that need no quoting in SQL.
var generatorName = regexp.MustCompile(`^[!-&(-\[\]-~]{1,128}$`)

// ParseFill parses [DATABASE.]TABLE.COLUMN=GENERATOR.
func ParseFill(text string) (Fill, error) {
	column, generator, _ := strings.Cut(text, "=")
	_, parts, ok := appdb.SplitName(column)
	if len(parts) == 2 {
		parts = append([]string{""}, parts...)
	}
	if !ok || len(parts) != 3 || !generatorName.MatchString(generator) {
		return Fill{}, &Error{What: "--fill: not a column and the name of a generator", Hint: "Write --fill orders.id=orders, or --fill shop.orders.id=orders."}
	}
	return Fill{parts[0], parts[1], parts[2], generator}, nil
}

// quoted returns the quoted name of the table, or of its trigger.
func (f Fill) quoted(name string) string {
	return appdb.QuoteMySQL(f.Database) + "." + appdb.QuoteMySQL(name)
}

// String returns the column's name, for messages.
func (f Fill) String() string { return f.Database + "." + f.Table + "." + f.Column }

// trigger returns the name of the trigger, without its database.
func (f Fill) trigger() string {
	name := []rune("nextid_" + f.Table + "_" + f.Column)
	return string(name[:min(len(name), 64)])
}

// sql returns the statement that makes the trigger. It runs before the trigger named
// before, "" for none. A value that the application sets is kept. MariaDB replaces the
// trigger in one step: an INSERT meanwhile takes no number of MariaDB's own.
func (f Fill) sql(before string) string {
	precedes := ""
	if before != "" {
		precedes = " PRECEDES " + appdb.QuoteMySQL(before)
	}
	return fmt.Sprintf(`CREATE /*M! OR REPLACE */ TRIGGER %s BEFORE INSERT ON %s FOR EACH ROW%s
    IF NEW.%[4]s IS NULL OR NEW.%[4]s = 0 THEN
        SET NEW.%[4]s = nextid.next_id('%[5]s');
    END IF`, f.quoted(f.trigger()), f.quoted(f.Table), precedes, appdb.QuoteMySQL(f.Column), f.Generator)
}

// holdsIDs is a condition on a column c: its type holds ids of 64 bits.
const holdsIDs = "(c.data_type = 'bigint' OR c.data_type = 'decimal' AND c.numeric_precision - c.numeric_scale >= 19)"

// fill makes the trigger of a column, and records it in nextid.fills. It returns an
// error if the column cannot hold ids, or if MySQL would refuse rows before triggers
// run.
func (m *mysqlApp) fill(ctx context.Context, f Fill) error {
	var extra, nullable, kind string
	var holds, mariadb bool
	var byDefault sql.NullString
	err := m.db.QueryRowContext(ctx, `SELECT table_schema, table_name, column_name, extra, is_nullable, column_default, data_type, `+holdsIDs+`, VERSION() LIKE '%MariaDB%'
		FROM information_schema.columns c WHERE table_schema = ? AND table_name = ? AND column_name = ?`, f.Database, f.Table, f.Column).
		Scan(&f.Database, &f.Table, &f.Column, &extra, &nullable, &byDefault, &kind, &holds, &mariadb)
	if errors.Is(err, sql.ErrNoRows) {
		return &Error{What: "there is no column " + f.String(), Hint: "Create the table first."}
	}
	if err != nil {
		return err
	}
	if !holds {
		return &Error{
			What: fmt.Sprintf("the column %s is of type %s, which does not hold an id of 64 bits", f, kind),
			Hint: fmt.Sprintf("Run ALTER TABLE %s MODIFY %s BIGINT NOT NULL AUTO_INCREMENT, or what fits the table.", f.quoted(f.Table), appdb.QuoteMySQL(f.Column)),
		}
	}
	if nullable == "NO" && !byDefault.Valid && !strings.Contains(extra, "auto_increment") {
		return &Error{
			What: fmt.Sprintf("the column %s has no default, and MySQL's strict mode looks for one before it runs triggers", f),
			Hint: fmt.Sprintf("Run ALTER TABLE %s ALTER COLUMN %s SET DEFAULT 0; or make it AUTO_INCREMENT, and drivers report the id.", f.quoted(f.Table), appdb.QuoteMySQL(f.Column)),
		}
	}
	// A renamed table keeps its trigger's name, and two long names can have the same. The
	// trigger of import_generator, *_nextid, refuses rows without an id, so this one must
	// run first.
	var taken, fence sql.NullString
	if err := m.db.QueryRowContext(ctx, `SELECT MIN(CASE WHEN BINARY t.trigger_name = ? AND (BINARY t.event_object_table <> ? OR f.column_name <> ?)
				THEN CONCAT_WS('.', t.event_object_schema, t.event_object_table, f.column_name) END),
			MIN(CASE WHEN BINARY t.event_object_table = ? AND t.trigger_name LIKE '%\\_nextid' THEN t.trigger_name END)
		FROM information_schema.triggers t LEFT JOIN nextid.fills f ON f.table_schema = t.trigger_schema AND f.table_name = t.event_object_table
			AND LEFT(CONCAT('nextid_', f.table_name, '_', f.column_name), 64) = t.trigger_name
		WHERE t.trigger_schema = ?`, f.trigger(), f.Table, f.Column, f.Table, f.Database).Scan(&taken, &fence); err != nil {
		return err
	}
	if taken.Valid {
		return &Error{
			What: fmt.Sprintf("the trigger of the column %s would be %s, which %s has already", f, f.trigger(), taken.String),
			Hint: "If that table was renamed, fill it first and then drop that trigger. Otherwise give the table or the column a shorter name.",
		}
	}
	if !mariadb { // INSERTs without the trigger take numbers of MySQL's own
		if err := appdb.Exec(ctx, m.db, "DROP TRIGGER IF EXISTS "+f.quoted(f.trigger())); err != nil {
			return err
		}
	}
	return appdb.Exec(ctx, m.db, f.sql(fence.String), fmt.Sprintf("REPLACE INTO nextid.fills VALUES (%s, %s, %s, %s)",
		appdb.LiteralMySQL(f.Database), appdb.LiteralMySQL(f.Table), appdb.LiteralMySQL(f.Column), appdb.LiteralMySQL(f.Generator)))
}

// fillProblems checks the tables of the engine, and the triggers that nextid.fills
// lists. It skips columns that no longer exist.
func (m *mysqlApp) fillProblems(ctx context.Context) ([]string, error) {
	problems, err := appdb.Texts(ctx, m.db, `SELECT 'tables of the database nextid are missing: run up' FROM DUAL WHERE 3 > (SELECT COUNT(*)
		FROM information_schema.tables WHERE table_schema = 'nextid' AND table_name IN ('ids', 'id_fields', 'id_parts') AND engine IN ('FEDERATED', 'SPIDER'))`)
	if err != nil {
		return nil, err
	}
	err = appdb.Each(ctx, m.db, func(rows *sql.Rows) error {
		var f Fill
		var trigger, text sql.NullString
		var order, fence sql.NullInt64
		var holds bool
		if err := rows.Scan(&f.Database, &f.Table, &f.Column, &f.Generator, &trigger, &text, &order, &fence, &holds); err != nil {
			return err
		}
		var what string
		switch {
		case !trigger.Valid:
			what = "has no trigger any more"
		case !strings.Contains(text.String, "nextid.next_id('"+f.Generator+"')"):
			what = "has a trigger that was changed"
		case fence.Valid && fence.Int64 < order.Int64:
			what = "has its trigger behind the one of import_generator, which refuses the rows"
		case !holds:
			what = "does not hold an id of 64 bits"
		default:
			return nil
		}
		problems = append(problems, fmt.Sprintf("the column %s %s: run up with --fill %[1]s=%[3]s", f, what, f.Generator))
		return nil
	}, `SELECT f.table_schema, f.table_name, f.column_name, f.generator, t.trigger_name, t.action_statement, t.action_order,
			(SELECT MIN(o.action_order) FROM information_schema.triggers o WHERE o.event_object_schema = f.table_schema
				AND o.event_object_table = f.table_name AND o.trigger_name LIKE '%\\_nextid'), `+holdsIDs+`
		FROM nextid.fills f
		JOIN information_schema.columns c ON c.table_schema = f.table_schema AND c.table_name = f.table_name AND c.column_name = f.column_name
		LEFT JOIN information_schema.triggers t ON t.trigger_schema = f.table_schema AND t.event_object_table = f.table_name
			AND t.event_manipulation = 'INSERT' AND t.trigger_name = LEFT(CONCAT('nextid_', f.table_name, '_', f.column_name), 64)
		ORDER BY 1, 2, 3`)
	return problems, err
}
