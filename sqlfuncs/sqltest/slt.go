package sqltest

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

	"nextid/sqlfuncs/account"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// The files testdata/*.slt of a package hold statements and their answers, similar
// to sqllogictest. A file is a list of cases with blank lines between:
//
//	query                 or: error 42703 8
//	SELECT 1 AS a, 'x' AS b
//	----
//	a:integer|b:text
//	1|x
//
// The line after ---- holds the columns with their types. An error has its SQLSTATE
// and its position in characters, 0 for none. The word "ours" before a case means
// that the real server answers differently. All other cases must have the same
// answer from the real server.

// update makes a comparison write the answers of the real server into the files.
var update = flag.Bool("update-slt", false, "write the answers of the real server into testdata/*.slt")

// Case is one case of a file.
type Case struct {
	SQL     string
	want    string // an answer, see FormatAnswer
	ours    bool   // not compared with a real server
	comment string // lines with # before the case
	line    int    // of the case in its file
}

// ErrorPrefix begins answers that are errors.
const ErrorPrefix = "error "

// ReadCases reads a file.
func ReadCases(t testing.TB, path string) []Case {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var cases []Case
	line := 1
	for block := range strings.SplitSeq(string(text), "\n\n") {
		c := Case{line: line}
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
		c.SQL, c.want, _ = strings.Cut(strings.TrimRight(body, "\n"), "\n----\n")
		if strings.HasPrefix(head, ErrorPrefix) {
			c.want = head
		} else if head != "query" {
			t.Fatalf("%s:%d: a case begins with query or error, not %q", path, c.line, head)
		}
		cases = append(cases, c)
	}
	return cases
}

// writeCases writes a file that ReadCases reads.
func writeCases(t *testing.T, path string, cases []Case) {
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
		if strings.HasPrefix(c.want, ErrorPrefix) {
			fmt.Fprintf(&b, "%s\n%s\n", c.want, c.SQL)
		} else {
			fmt.Fprintf(&b, "query\n%s\n----\n%s\n", c.SQL, c.want)
		}
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// FormatAnswer writes an answer as the files do, with a type after each name.
func FormatAnswer(names, types []string, rows [][]string) string {
	head := make([]string, len(names))
	for i, name := range names {
		head[i] = name + ":" + types[i]
	}
	lines := []string{cmp.Or(strings.Join(head, "|"), "(none)")}
	for _, row := range rows {
		lines = append(lines, cmp.Or(strings.Join(row, "|"), "(empty)")) // a blank line would end the case
	}
	return strings.Join(lines, "\n")
}

// Files lists the files that pattern matches; "" means testdata/*.slt of the package
// under test.
func Files(t testing.TB, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(cmp.Or(pattern, "testdata/*.slt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	return files
}

// answerer returns the answer to a statement.
type answerer func(t *testing.T, sql string) string

// runFiles checks the cases of each file. begin starts a server for one file. A real
// server does not answer the cases marked "ours"; with -update-slt its answers are written
// into the files.
func runFiles(t *testing.T, real bool, begin func(t *testing.T) answerer) {
	for _, file := range Files(t, "") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			answer, cases := begin(t), ReadCases(t, file)
			for i, c := range cases {
				if c.ours && real {
					continue
				}
				if got := answer(t, c.SQL); real && *update {
					cases[i].want = got
				} else if got != c.want {
					t.Errorf("%s:%d: %s\ngot\n%s\nwant\n%s", file, c.line, c.SQL, got, c.want)
				}
			}
			if real && *update {
				writeCases(t, file, cases)
			}
		})
	}
}

// RunPostgreSQLFiles runs the files with sessions in the PostgreSQL dialect.
func RunPostgreSQLFiles(t *testing.T) {
	runFiles(t, false, func(t *testing.T) answerer {
		return ours(NewServer(t, Config{Memory: account.Limits{Session: 64 << 20}}).Session(t))
	})
}

// ComparePostgreSQLFiles compares the files with a real PostgreSQL.
func ComparePostgreSQLFiles(t *testing.T, dsn string) {
	runFiles(t, true, func(t *testing.T) answerer {
		conn, err := pgconn.Connect(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close(context.Background()) })
		return func(t *testing.T, sql string) string { return PostgreSQL(t, conn, sql) }
	})
}

func ours(s *Session) answerer {
	return func(t *testing.T, sql string) string { return Ours(t, s, sql) }
}

// Ours returns the answer of a session of nextid.
func Ours(t *testing.T, s *Session, sql string) string {
	mysql := s.form != nil
	r, err := s.Query(t, sql)
	if err != nil {
		e, ok := errors.AsType[*sqlstate.Error](err)
		switch {
		case !ok:
			t.Fatalf("%s: an error without SQLSTATE: %v", sql, err)
		case mysql:
			return fmt.Sprintf("%s%d", ErrorPrefix, e.MySQL().Number)
		}
		return formatError(string(e.Code), e.Position)
	}
	names, types := make([]string, len(r.Columns)), make([]string, len(r.Columns))
	for i, c := range r.Columns {
		if names[i], types[i] = c.Name, datum.FormatType(c.Type, -1); mysql {
			types[i] = DatumKind(c.Type)
		}
	}
	return FormatAnswer(names, types, r.Rows)
}

// formatError writes an error as the files do.
func formatError(code string, position int) string {
	return fmt.Sprintf("%s%s %d", ErrorPrefix, code, position)
}

// PostgreSQL returns the answer of a real PostgreSQL.
func PostgreSQL(t *testing.T, conn *pgconn.PgConn, sql string) string {
	var names, types []string
	var rows [][]string
	results := conn.Exec(t.Context(), sql)
	for results.NextResult() {
		names, types, rows = nil, nil, nil
		r := results.ResultReader()
		for _, f := range r.FieldDescriptions() {
			names, types = append(names, f.Name), append(types, datum.FormatType(datum.OID(f.DataTypeOID), -1))
		}
		for r.NextRow() {
			var row []string
			for _, v := range r.Values() {
				if text := string(v); v != nil {
					row = append(row, text)
				} else {
					row = append(row, Null)
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
	return FormatAnswer(names, types, rows)
}
