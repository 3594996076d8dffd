package ids_test

import (
	"testing"

	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/sqltest"
)

// A counter of any configuration becomes one whose numbers can be held.
func TestNumbersInTwoPhases(t *testing.T) {
	t.Parallel()
	server := sqltest.NewServer(t)
	s := server.Session(t)
	s.Must(t, "SELECT create_generator('invoices', 'counter'), create_generator('flakes', 'snowflake')")
	s.Want(t, "SELECT next_id('invoices')", "1")
	s.Want(t, "SELECT hold_id('invoices', '10 minutes'), hold_id('invoices', interval '10 minutes', 'Ada')", "2|3")
	s.Want(t, "SELECT next_id('invoices'), confirm_id('invoices', 2)", "4|2")
	s.Fails(t, "SELECT confirm_id('invoices', 2)", sqlstate.NotPrerequisite)
	s.Fails(t, "SELECT confirm_id('invoices', 3, 'Bob')", sqlstate.NotPrerequisite)
	s.Fails(t, "SELECT confirm_id('invoices', 5)", sqlstate.NotPrerequisite)
	s.Want(t, "SELECT confirm_id('invoices', 3, 'Ada')", "3")
	s.Want(t, "SELECT hold_id('invoices', '1 day'), void_id('invoices', 5, 'printed twice'), void_id('invoices', 4, 'cancelled')", "5|5|4")
	s.Fails(t, "SELECT void_id('invoices', 4, 'again')", sqlstate.NotPrerequisite)
	s.Want(t, "SELECT name, n, why, at <= now() + interval '1 minute' FROM nextid.voids", "invoices|4|cancelled|t\ninvoices|5|printed twice|t")
	s.Want(t, "SELECT hold_id('invoices', '1 millisecond')", "6")
	s.Must(t, "SELECT pg_sleep(0.01)")
	s.Fails(t, "SELECT confirm_id('invoices', 6)", sqlstate.NotPrerequisite)
	my := server.MySQLSession(t)
	if got := my.Value(t, "SELECT hold_id('invoices', '10 minutes')"); got != "6" {
		t.Errorf("the expired hold does not come back: %s", got)
	}
	if got := my.Value(t, "SELECT void_id('invoices', 6, 'MySQL')"); got != "6" {
		t.Errorf("void_id: %s", got)
	}
	// What came back is confirmed by the session that holds it, or by its holder.
	other := server.Session(t)
	s.Want(t, "SELECT hold_id('invoices', '1 millisecond')", "7")
	s.Must(t, "SELECT pg_sleep(0.01)")
	other.Want(t, "SELECT hold_id('invoices', '10 minutes')", "7")
	s.Fails(t, "SELECT confirm_id('invoices', 7)", sqlstate.NotPrerequisite)
	s.Fails(t, "SELECT void_id('invoices', 7, 'late')", sqlstate.NotPrerequisite)
	other.Want(t, "SELECT confirm_id('invoices', 7)", "7")
	s.Want(t, "SELECT hold_id('invoices', '10 minutes', 'Ada')", "8")
	s.Fails(t, "SELECT void_id('invoices', 8, 'not mine')", sqlstate.NotPrerequisite)
	other.Want(t, "SELECT void_id('invoices', 8, 'mine', 'Ada')", "8")
	s.Want(t, "SELECT hold_id('invoices', '50 milliseconds')", "9")
	s.Want(t, "SELECT pg_sleep(0.1) IS NULL, hold_id('invoices', '10 minutes')", "f|9")
	s.Must(t, "DISCARD ALL") // a pool gives the session to another client
	s.Fails(t, "SELECT confirm_id('invoices', 9)", sqlstate.NotPrerequisite)
	for sql, code := range map[string]sqlstate.Code{
		"SELECT hold_id('flakes', '1 minute')":      sqlstate.FeatureNotSupported,
		"SELECT hold_id('nobody', '1 minute')":      sqlstate.UndefinedTable,
		"SELECT hold_id('invoices', '-1 minute')":   sqlstate.InvalidParameterValue,
		"SELECT hold_id('invoices', '1 year')":      sqlstate.InvalidParameterValue,
		"SELECT hold_id('invoices', '213514 days')": sqlstate.InvalidParameterValue, // 2⁶⁴ ns and a few days
	} {
		s.Fails(t, sql, code)
	}
}
