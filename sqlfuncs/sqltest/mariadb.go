package sqltest

import (
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

// mysqlKind returns the client type of a type that MariaDB's driver reports.
func mysqlKind(name string) string {
	name = strings.TrimPrefix(name, "UNSIGNED ")
	switch name {
	case "TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "YEAR":
		return "integer"
	case "DECIMAL":
		return "decimal"
	case "DOUBLE", "FLOAT":
		return "double"
	case "DATE", "TIME", "DATETIME":
		return strings.ToLower(name)
	case "TIMESTAMP":
		return "datetime"
	case "BINARY", "VARBINARY", "BLOB", "LONGBLOB", "MEDIUMBLOB", "TINYBLOB":
		return "binary"
	case "NULL":
		return "null"
	}
	return "text"
}

// DatumKind returns the client type of a type of package datum.
func DatumKind(t datum.OID) string {
	switch t {
	case datum.Int2, datum.Int4, datum.Int8:
		return "integer"
	case datum.Numeric:
		return "decimal"
	case datum.Float4, datum.Float8:
		return "double"
	case datum.Date:
		return "date"
	case datum.Time:
		return "time"
	case datum.Timestamp:
		return "datetime"
	case datum.Bytea:
		return "binary"
	case datum.Text, datum.Varchar, datum.JSON:
		return "text"
	case datum.Unknown:
		return "null"
	}
	return datum.FormatType(t, -1)
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
		names, kinds = append(names, c.Name()), append(kinds, mysqlKind(c.DatabaseTypeName()))
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
