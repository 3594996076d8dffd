package sqlfuncs_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"nextid/dbtest"
	"nextid/sqlfuncs/account"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// The files testdata/*.slt hold statements and what they answer, in the
// manner of sqllogictest. A file is a list of cases with blank lines between:
//
//	query                 or: error 42703 8
//	SELECT 1 AS a, 'x' AS b
//	----
//	a:integer|b:text
//	1|x
//
// The line after ---- is the columns with their types. An error has its
// SQLSTATE and its position in characters, 0 for none. A word "ours" in
// front marks what PostgreSQL does not know or answers differently; all
// other cases must be answered by the real PostgreSQL in just that way.

// update writes what PostgreSQL answers into testdata/*.slt.
var update = flag.Bool("update", false, "write the answers of PostgreSQL into testdata/*.slt")

// sltCase is one case of a file.
type sltCase struct {
	line    int
	comment string // lines with # before it
	ours    bool
	sql     string
	want    string // an answer, see formatAnswer
}

// sltErrorPrefix begins the answers that are errors.
const sltErrorPrefix = "error "

func readSLT(t testing.TB, path string) []sltCase {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var cases []sltCase
	line := 1
	for block := range strings.SplitSeq(string(text), "\n\n") {
		c := sltCase{line: line}
		line += strings.Count(block, "\n") + 2
		if block = strings.TrimLeft(block, "\n"); strings.TrimSpace(block) == "" {
			continue
		}
		for strings.HasPrefix(block, "#") {
			comment, rest, _ := strings.Cut(block, "\n")
			c.comment += comment + "\n"
			block = rest
		}
		head, body, _ := strings.Cut(block, "\n")
		head, c.ours = strings.CutPrefix(head, "ours ")
		c.sql, c.want, _ = strings.Cut(strings.TrimRight(body, "\n"), "\n----\n")
		if strings.HasPrefix(head, sltErrorPrefix) {
			c.want = head
		} else if head != "query" {
			t.Fatalf("%s:%d: a case begins with query or error, not %q", path, c.line, head)
		}
		cases = append(cases, c)
	}
	return cases
}

func writeSLT(t *testing.T, path string, cases []sltCase) {
	t.Helper()
	var b strings.Builder
	for i, c := range cases {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(c.comment)
		if c.ours {
			b.WriteString("ours ")
		}
		if strings.HasPrefix(c.want, sltErrorPrefix) {
			fmt.Fprintf(&b, "%s\n%s\n", c.want, c.sql)
		} else {
			fmt.Fprintf(&b, "query\n%s\n----\n%s\n", c.sql, c.want)
		}
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// formatAnswer writes an answer as the files do.
func formatAnswer(names []string, types []datum.OID, rows [][]string) string {
	head := make([]string, len(names))
	for i, name := range names {
		head[i] = name + ":" + datum.FormatType(types[i], -1)
	}
	lines := []string{cmp.Or(strings.Join(head, "|"), "(none)")}
	for _, row := range rows {
		lines = append(lines, cmp.Or(strings.Join(row, "|"), "(empty)")) // a blank line would end the case
	}
	return strings.Join(lines, "\n")
}

func formatError(code string, position int) string {
	return fmt.Sprintf("%s%s %d", sltErrorPrefix, code, position)
}

// ourAnswer answers a case with our session.
func ourAnswer(t *testing.T, s *testSession, sql string) string {
	r, err := s.run(t, sql)
	if err != nil {
		var e *sqlstate.Error
		if !errors.As(err, &e) {
			t.Fatalf("%s: an error without SQLSTATE: %v", sql, err)
		}
		return formatError(string(e.Code), e.Position)
	}
	names, types := make([]string, len(r.columns)), make([]datum.OID, len(r.columns))
	for i, c := range r.columns {
		names[i], types[i] = c.Name, c.Type
	}
	return formatAnswer(names, types, r.rows)
}

// realAnswer answers a case with PostgreSQL.
func realAnswer(ctx context.Context, t *testing.T, conn *pgconn.PgConn, sql string) string {
	var names []string
	var types []datum.OID
	var rows [][]string
	results := conn.Exec(ctx, sql)
	for results.NextResult() {
		names, types, rows = nil, nil, nil
		r := results.ResultReader()
		for _, f := range r.FieldDescriptions() {
			names, types = append(names, f.Name), append(types, datum.OID(f.DataTypeOID))
		}
		for r.NextRow() {
			var row []string
			for _, v := range r.Values() {
				if text := string(v); v != nil {
					row = append(row, text)
				} else {
					row = append(row, null)
				}
			}
			rows = append(rows, row)
		}
		if _, err := r.Close(); err != nil {
			break // the error comes from results, too
		}
	}
	if err := results.Close(); err != nil {
		var e *pgconn.PgError
		if !errors.As(err, &e) {
			t.Fatalf("%s: %v", sql, err)
		}
		return formatError(e.Code, int(e.Position))
	}
	return formatAnswer(names, types, rows)
}

// sltFiles lists the files.
func sltFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.slt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no testdata/*.slt: %v", err)
	}
	return files
}

func TestStatementFiles(t *testing.T) {
	for _, file := range sltFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			server := newServer(t, serverConfig{memory: account.Limits{Session: 64 << 20}})
			s := server.session(t)
			for _, c := range readSLT(t, file) {
				if got := ourAnswer(t, s, c.sql); got != c.want {
					t.Errorf("%s:%d: %s\ngot\n%s\nwant\n%s", file, c.line, c.sql, got, c.want)
				}
			}
		})
	}
}

func TestStatementFilesAgainstPostgreSQL(t *testing.T) {
	dsn := dbtest.QuickPostgres(t)
	ctx := t.Context()
	for _, file := range sltFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			conn, err := pgconn.Connect(ctx, dsn)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(ctx)
			cases := readSLT(t, file)
			for i, c := range cases {
				if c.ours {
					continue
				}
				got := realAnswer(ctx, t, conn, c.sql)
				if *update {
					cases[i].want = got
				} else if got != c.want {
					t.Errorf("%s:%d: %s\nPostgreSQL answers\n%s\nwant\n%s", file, c.line, c.sql, got, c.want)
				}
			}
			if *update {
				writeSLT(t, file, cases)
			}
		})
	}
}
