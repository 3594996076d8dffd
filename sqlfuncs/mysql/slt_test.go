package mysql_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"nextid/sqlfuncs/sqltest"

	"github.com/go-sql-driver/mysql"

	"nextid/dbtest"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// The files testdata/*.slt are those of sqltest for the MySQL
// dialect: what is not marked "ours" is what MariaDB answers. Types are named
// by what a client makes of them (integer, decimal, double, text, binary,
// date, time, datetime), errors by their number.

// mysqlKind names the kind of a type that MariaDB's driver reports.
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

// datumKind names the kind of one of our types.
func datumKind(t datum.OID) string {
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

// ours begins a session of ours that answers cases.
func ours(t *testing.T) func(t *testing.T, query string) string {
	s := sqltest.NewServer(t).MySQLSession(t)
	return func(t *testing.T, query string) string {
		r, err := s.Query(t, query)
		if err != nil {
			var e *sqlstate.Error
			if !errors.As(err, &e) {
				t.Fatalf("%s: an error without SQLSTATE: %v", query, err)
			}
			return fmt.Sprintf("%s%d", sqltest.ErrorPrefix, e.MySQL().Number)
		}
		var names, kinds []string
		for _, c := range r.Columns {
			names, kinds = append(names, c.Name), append(kinds, datumKind(c.Type))
		}
		return sqltest.FormatAnswer(names, kinds, r.Rows)
	}
}

// mariadbAnswer answers a case with MariaDB.
func mariadbAnswer(ctx context.Context, t *testing.T, conn *sql.Conn, query string) string {
	rows, err := conn.QueryContext(ctx, query)
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return fmt.Sprintf("%s%d", sqltest.ErrorPrefix, e.Number)
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
				row[i] = sqltest.Null
			}
		}
		out = append(out, row)
	}
	if err := rows.Err(); errors.As(err, &e) {
		return fmt.Sprintf("%s%d", sqltest.ErrorPrefix, e.Number)
	} else if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return sqltest.FormatAnswer(names, kinds, out)
}

func TestStatementFiles(t *testing.T) { sqltest.RunFiles(t, ours) }

func TestStatementFilesAgainstMariaDB(t *testing.T) {
	addr, _ := dbtest.QuickMariaDB(t)
	sqltest.CompareFiles(t, func(t *testing.T) func(t *testing.T, query string) string {
		ctx := context.Background()
		db, err := sql.Open("mysql", "root@tcp("+addr+")/test?charset=utf8mb4")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		conn, err := db.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return func(t *testing.T, query string) string { return mariadbAnswer(ctx, t, conn, query) }
	})
}
