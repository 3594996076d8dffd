package syntax

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// seed adds the statements of real clients and of the grammar file.
func seed(f *testing.F, d Dialect) {
	for _, sql := range corpus(f, d) {
		f.Add(sql)
	}
	for _, sql := range grammar(f, d) {
		f.Add(sql)
	}
}

// grammar returns the lines of the grammar file, one statement each. Together they
// use every construct of the dialect that has a tree.
func grammar(t testing.TB, d Dialect) []string {
	t.Helper()
	file := map[Dialect]string{PostgreSQL: "grammar.sql", MySQL: "grammar_mysql.sql"}[d]
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// FuzzLex checks that tokens are in order, that only blanks and comments are between
// them, and that the lexer ends.
func FuzzLex(f *testing.F) {
	for d := range Dialect(2) {
		for _, sql := range append(corpus(f, d), grammar(f, d)...) {
			f.Add(sql, d == MySQL)
		}
	}
	f.Fuzz(func(t *testing.T, sql string, mysql bool) {
		d := PostgreSQL
		if mysql {
			d = MySQL
		}
		if !utf8.ValidString(sql) || strings.Contains(sql, "\x00") {
			return
		}
		l := lexer{src: sql, dialect: d}
		for end := 0; ; {
			tok := l.next()
			if tok.kind == tokError {
				if l.err == nil {
					t.Fatal("error token without an error")
				}
				return
			}
			if tok.start < end || tok.end < tok.start || tok.end > len(sql) || tok.kind != tokEOF && tok.end == tok.start {
				t.Fatalf("token %+v after offset %d", tok, end)
			}
			checkGap(t, sql[end:tok.start], d)
			if tok.kind == tokEOF {
				return
			}
			end = tok.end
		}
	})
}

// checkGap checks that gap, the text between two tokens, holds no token.
func checkGap(t *testing.T, gap string, d Dialect) {
	t.Helper()
	if d == MySQL && (strings.Contains(gap, "/*") || strings.Contains(gap, "*/")) {
		return // the begin and end of /*! … */ are blanks only as a pair
	}
	l := lexer{src: gap, dialect: d}
	if tok := l.next(); tok.kind != tokEOF {
		t.Fatalf("gap %q holds %+v", gap, tok)
	}
}

func FuzzParsePostgreSQL(f *testing.F) {
	seed(f, PostgreSQL)
	f.Fuzz(func(t *testing.T, sql string) { checkParse(t, sql, PostgreSQL) })
}

func FuzzParseMySQL(f *testing.F) {
	seed(f, MySQL)
	f.Fuzz(func(t *testing.T, sql string) { checkParse(t, sql, MySQL) })
}

// checkParse checks that a text is refused with a position inside it, or that it has
// trees with ranges and positions inside the text. Printed trees must parse to equal
// trees.
func checkParse(t *testing.T, sql string, d Dialect) {
	parsed, err := Parse(sql, d)
	if err != nil {
		checkError(t, sql, err)
		return
	}
	end := 0
	for _, p := range parsed {
		if p.Statement == nil || p.Start < end || p.End <= p.Start || p.End > len(sql) {
			t.Fatalf("statement %T at [%d:%d] of %d bytes", p.Statement, p.Start, p.End, len(sql))
		}
		end = p.End
		again, err := Parse(sql[p.Start:p.End], d)
		if d == PostgreSQL && (err != nil || len(again) != 1) {
			t.Fatalf("the statement's own text %q: %d statements, %v", sql[p.Start:p.End], len(again), err)
		}
	}
	checkFixedPoint(t, parsed, d)
}
