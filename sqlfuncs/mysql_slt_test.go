package sqlfuncs_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"nextid/dbtest"
	"nextid/sqlfuncs"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// The files testdata/mysql/*.slt are those of slt_test.go for the MySQL
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

func mysqlAnswer(names, kinds []string, rows [][]string) string {
	head := make([]string, len(names))
	for i, name := range names {
		head[i] = name + ":" + kinds[i]
	}
	lines := []string{strings.Join(head, "|")}
	if len(names) == 0 {
		lines[0] = "(none)"
	}
	for _, row := range rows {
		line := strings.Join(row, "|")
		if line == "" {
			line = "(empty)"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// ourMySQLAnswer answers a case with a session of ours.
func ourMySQLAnswer(t *testing.T, s *testSession, sql string) string {
	r, err := s.run(t, sql)
	if err != nil {
		var e *sqlstate.Error
		if !errors.As(err, &e) {
			t.Fatalf("%s: an error without SQLSTATE: %v", sql, err)
		}
		return fmt.Sprintf("%s%d", sltErrorPrefix, e.MySQL().Number)
	}
	var names, kinds []string
	for _, c := range r.columns {
		names, kinds = append(names, c.Name), append(kinds, datumKind(c.Type))
	}
	return mysqlAnswer(names, kinds, r.rows)
}

// realMySQLAnswer answers a case with MariaDB.
func realMySQLAnswer(ctx context.Context, t *testing.T, conn *sql.Conn, query string) string {
	rows, err := conn.QueryContext(ctx, query)
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return fmt.Sprintf("%s%d", sltErrorPrefix, e.Number)
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
				row[i] = null
			}
		}
		out = append(out, row)
	}
	if err := rows.Err(); errors.As(err, &e) {
		return fmt.Sprintf("%s%d", sltErrorPrefix, e.Number)
	} else if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return mysqlAnswer(names, kinds, out)
}

func mysqlFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/mysql/*.slt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no testdata/mysql/*.slt: %v", err)
	}
	return files
}

// mysqlSession begins a session in the MySQL dialect.
func (s *testServer) mysqlSession(t *testing.T) *testSession {
	session := s.sessionWith(t, sqlfuncs.SessionOptions{Dialect: syntax.MySQL, User: "root", Database: "test", PID: 7, Admin: true, RemoteAddr: "127.0.0.1:4711"})
	session.form = mysqlForm
	return session
}

// mysqlForm is a value as MySQL's protocol writes it.
func mysqlForm(v datum.Value, c sqlfuncs.Column) string {
	switch v.Type {
	case datum.Bytea:
		return v.Str
	case datum.Float8:
		return strconv.FormatFloat(v.Float, 'g', -1, 64) // as the driver does
	case datum.Timestamp, datum.Time:
		whole, fraction, _ := strings.Cut(string(datum.AppendText(nil, v, nil)), ".")
		if digits := c.TypeMod; digits > 0 || digits < 0 && fraction != "" {
			if digits < 0 {
				digits = 6
			}
			whole += "." + (fraction + "000000")[:digits]
		}
		return whole
	}
	return string(datum.AppendText(nil, v, nil))
}

func TestMySQLStatementFiles(t *testing.T) {
	for _, file := range mysqlFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			s := newServer(t).mysqlSession(t)
			for _, c := range readSLT(t, file) {
				if got := ourMySQLAnswer(t, s, c.sql); got != c.want {
					t.Errorf("%s:%d: %s\ngot\n%s\nwant\n%s", file, c.line, c.sql, got, c.want)
				}
			}
		})
	}
}

func TestMySQLStatementFilesAgainstMariaDB(t *testing.T) {
	addr, _ := dbtest.QuickMariaDB(t)
	ctx := t.Context()
	for _, file := range mysqlFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			db, err := sql.Open("mysql", "root@tcp("+addr+")/test?charset=utf8mb4")
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			conn, err := db.Conn(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			cases := readSLT(t, file)
			for i, c := range cases {
				if c.ours {
					continue
				}
				got := realMySQLAnswer(ctx, t, conn, c.sql)
				if *update {
					cases[i].want = got
				} else if got != c.want {
					t.Errorf("%s:%d: %s\nMariaDB answers\n%s\nwant\n%s", file, c.line, c.sql, got, c.want)
				}
			}
			if *update {
				writeSLT(t, file, cases)
			}
		})
	}
}
