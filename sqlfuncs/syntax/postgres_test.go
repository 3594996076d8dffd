package syntax

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"nextid/sqlfuncs/sqlstate"
)

// connectPostgreSQL connects to the PostgreSQL 15 that the environment names.
// Without one, it skips the test.
func connectPostgreSQL(t *testing.T) *pgconn.PgConn {
	t.Helper()
	url := os.Getenv("NEXTID_TEST_POSTGRES")
	if url == "" {
		t.Skip("NEXTID_TEST_POSTGRES is not set")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	conn, err := pgconn.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close(ctx)
		cancel()
	})
	return conn
}

// serverError prepares a text, which runs nothing, and returns PostgreSQL's error.
func serverError(t *testing.T, conn *pgconn.PgConn, sql string) *pgconn.PgError {
	t.Helper()
	_, err := conn.Prepare(t.Context(), "", sql, nil)
	var e *pgconn.PgError
	if err != nil && !errors.As(err, &e) {
		t.Fatalf("%q: %v", sql, err)
	}
	return e
}

func TestWrongTextsAgainstPostgreSQL(t *testing.T) {
	conn := connectPostgreSQL(t)
	for _, c := range wrong {
		if e := serverError(t, conn, c.sql); e == nil || e.Code != "42601" || e.Message != c.message || int(e.Position) != c.position {
			t.Errorf("%q: PostgreSQL says %+v", c.sql, e)
		}
	}
}

func TestGrammarAgainstPostgreSQL(t *testing.T) {
	conn := connectPostgreSQL(t)
	for _, sql := range slices.Concat(grammar(t, PostgreSQL), corpus(t, PostgreSQL)) {
		if e := serverError(t, conn, sql); e != nil && isSyntaxError(e.Code, e.Message) {
			t.Errorf("%q: PostgreSQL says %s", sql, e.Message)
		}
	}
}

// isSyntaxError reports whether an error is that of PostgreSQL's parser. Its
// analysis after the parser has errors of the same code.
func isSyntaxError(code, message string) bool {
	return code == "42601" && (strings.Contains(message, " at or near ") || strings.HasSuffix(message, "end of input"))
}

// TestDamagedTextsAgainstPostgreSQL removes, adds or repeats a word in known
// statements and compares the answers of both parsers.
func TestDamagedTextsAgainstPostgreSQL(t *testing.T) {
	conn := connectPostgreSQL(t)
	r := rand.New(rand.NewPCG(1, 2))
	texts := slices.Concat(grammar(t, PostgreSQL), corpus(t, PostgreSQL))
	words := vocabulary(PostgreSQL)
	compared, different := 0, 0
	for range 20_000 {
		sql := damage(r, texts[r.IntN(len(texts))], PostgreSQL, words)
		same, ok := compare(t, conn, sql)
		if !ok {
			continue
		}
		compared++
		if !same {
			different++
		}
	}
	// The known differences are words that the grammar takes in one place only
	// (NULLS FIRST, SET TIME ZONE word) and misplaced words in DROP and CREATE.
	if t.Logf("%d of %d texts differ", different, compared); different > compared/200 {
		t.Errorf("%d of %d texts differ", different, compared)
	}
}

// compare reports whether both parsers accept a text, or refuse it with the same
// message and position. ok is false for texts that cannot be compared: statements
// that nextid does not parse to the end.
func compare(t *testing.T, conn *pgconn.PgConn, sql string) (same, ok bool) {
	theirs := serverError(t, conn, sql)
	parsed, err := Parse(sql, PostgreSQL)
	for _, p := range parsed {
		switch p.Statement.(type) {
		case *Unsupported, *Lock:
			return false, false
		}
	}
	var ours *sqlstate.Error
	errors.As(err, &ours)
	if ours != nil && ours.Code == sqlstate.FeatureNotSupported || strings.Contains(strings.ToLower(sql), "insert") {
		return false, false
	}
	theirSyntax := theirs != nil && isSyntaxError(theirs.Code, theirs.Message)
	ourSyntax := ours != nil && isSyntaxError(string(ours.Code), ours.Message)
	if theirSyntax != ourSyntax {
		return false, true
	}
	return !ourSyntax || theirs.Message == ours.Message && int(theirs.Position) == ours.Position, true
}
