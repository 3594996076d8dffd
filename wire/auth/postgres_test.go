package auth

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"nextid/dbtest"
)

// Verifiers that PostgreSQL made can be copied from pg_authid, whatever is in
// the password.
func TestVerifiersOfPostgreSQL(t *testing.T) {
	conn, err := pgx.Connect(t.Context(), dbtest.QuickPostgres(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }() // the server ends anyway
	for _, password := range []string{
		"pencil", "correct horse ☃", "I\u00adX", "\u2168", "a\u00a0b", "\ufb01 \U0001f600", "\u06271", "\x07", "e\u0301", "\u1e9b\u0323", "\u00ad",
		"a\u200bb", "\u0340a", "\U0001f21a", "\u32ff\u2000x", "\u0627\u2121\u0628",
	} {
		if _, err := conn.Exec(t.Context(), "DROP ROLE IF EXISTS someone; CREATE ROLE someone PASSWORD '"+strings.ReplaceAll(password, "'", "''")+"'"); err != nil {
			t.Fatal(err)
		}
		var stored string
		if err := conn.QueryRow(t.Context(), "SELECT rolpassword FROM pg_authid WHERE rolname = 'someone'").Scan(&stored); err != nil {
			t.Fatal(err)
		}
		v, err := ParseSCRAM(stored)
		if err != nil || v.String() != stored {
			t.Errorf("%q: %s, %v", password, stored, err)
		} else if !v.Check(password) || v.Check(password+"x") {
			t.Errorf("%q does not fit PostgreSQL's verifier %s", password, stored)
		}
	}
}
