package sqltest

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"nextid/sqlfuncs/datum"
)

// In the files of the MySQL dialect, types have the names of client types (integer,
// decimal, double, text, binary, date, time, datetime), and errors their number.

// clientTypes maps the names that MariaDB's driver and datum.FormatType have for types to
// client types.
var clientTypes = map[string]string{
	"TINYINT": "integer", "SMALLINT": "integer", "MEDIUMINT": "integer", "INT": "integer", "BIGINT": "integer", "YEAR": "integer",
	"DECIMAL": "decimal", "DOUBLE": "double", "FLOAT": "double", "NULL": "null",
	"DATE": "date", "TIME": "time", "DATETIME": "datetime", "TIMESTAMP": "datetime", "BINARY": "binary", "VARBINARY": "binary",
	"TINYBLOB": "binary", "BLOB": "binary", "MEDIUMBLOB": "binary", "LONGBLOB": "binary",

	"smallint": "integer", "integer": "integer", "bigint": "integer", "numeric": "decimal",
	"real": "double", "double precision": "double", "text": "text", "character varying": "text", "json": "text", "unknown": "null",
	"date": "date", "time without time zone": "time", "timestamp without time zone": "datetime", "bytea": "binary",
}

// DatumKind returns the client type of a type of package datum.
func DatumKind(t datum.OID) string {
	name := datum.FormatType(t, -1)
	return cmp.Or(clientTypes[name], name)
}

// RunMySQLFiles runs the files with sessions in the MySQL dialect.
func RunMySQLFiles(t *testing.T) {
	runFiles(t, false, func(t *testing.T) answerer { return ours(NewServer(t).MySQLSession(t)) })
}

// CompareMariaDBFiles compares the files with a real MariaDB.
func CompareMariaDBFiles(t *testing.T, addr string) {
	runFiles(t, true, func(t *testing.T) answerer {
		conn := DialMariaDB(t, addr)
		return func(t *testing.T, sql string) string { return MariaDB(t, conn, sql) }
	})
}

// DialMariaDB connects to a real MariaDB.
func DialMariaDB(t testing.TB, addr string) *sql.Conn {
	t.Helper()
	db, err := sql.Open("mysql", "root@tcp("+addr+")/test?charset=utf8mb4")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// MariaDB returns the answer of a real MariaDB.
func MariaDB(t *testing.T, conn *sql.Conn, query string) string {
	rows, err := conn.QueryContext(t.Context(), query)
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return fmt.Sprintf("%s%d", ErrorPrefix, e.Number)
	}
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		t.Fatal(err)
	}
	var names, kinds []string
	for _, c := range types {
		names, kinds = append(names, c.Name()), append(kinds, cmp.Or(clientTypes[strings.TrimPrefix(c.DatabaseTypeName(), "UNSIGNED ")], "text"))
	}
	var out [][]string
	values, into := make([]sql.RawBytes, len(types)), make([]any, len(types))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		row := make([]string, len(values))
		for i, v := range values {
			if row[i] = string(v); v == nil {
				row[i] = Null
			}
		}
		out = append(out, row)
	}
	if err := rows.Err(); errors.As(err, &e) {
		return fmt.Sprintf("%s%d", ErrorPrefix, e.Number)
	} else if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return FormatAnswer(names, kinds, out)
}
