package ticket

import (
	"errors"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	"nextid/generator"
)

// reasons maps errors of databases to hints, by SQLSTATE of PostgreSQL and error
// number of MySQL.
var reasons = []struct {
	states  []string
	numbers []uint16
	hint    string
}{
	{
		[]string{"55P03"},
		[]uint16{1205},
		"A transaction used the table during the whole wait. Other statements got the lock in between, and nothing was changed. Call it again when that transaction has ended.",
	},
	{
		[]string{"28P01", "28000"},
		[]uint16{1045, 1698},
		"Passwords come from the file of the setting database_passwords, lines of HOST:PORT:DATABASE:USER:PASSWORD.",
	},
	{
		[]string{"42501"},
		[]uint16{1044, 1142, 1143, 1227, 1370},
		"The user needs the right to change what is fenced: UPDATE and DELETE on the table, the ownership of the sequence, TRIGGER on the table.",
	},
	{
		nil,
		[]uint16{1419},
		"With a binary log MySQL lets only administrators make triggers: SET GLOBAL log_bin_trust_function_creators = 1 for that time, or fence it by hand.",
	},
	{
		[]string{"42P01", "3F000"},
		[]uint16{1146},
		"Pass its key and table: import_generator(name, system, dsn, key => '…', table => '…').",
	},
	{
		[]string{"25006"},
		[]uint16{1290, 1836},
		"The database is a replica or read-only: give the URL of the primary.",
	},
}

func matches(err error, states []string, numbers []uint16) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return slices.Contains(states, e.Code)
	}
	e, ok := errors.AsType[*mysql.MySQLError](err)
	return ok && slices.Contains(numbers, e.Number)
}

// explain adds a hint to an error of a database.
func explain(l Location, s system, err error) error {
	if e, ok := errors.AsType[*generator.Error](err); ok {
		return e
	}
	hint := "Is the database up, and does this server reach it? To go on without it, fence it by hand (" + s.how + "), and take it over from a copy with fence => false."
	_, pg := errors.AsType[*pgconn.PgError](err)
	_, my := errors.AsType[*mysql.MySQLError](err)
	if pg || my {
		hint = "Mend that, or fence it by hand (" + s.how + "), then pass fence => false."
	}
	for _, r := range reasons {
		if matches(err, r.states, r.numbers) {
			hint = r.hint
		}
	}
	return generator.Errorf(generator.ErrNotNow, "", hint,
		"the position cannot be taken over from %s: %s", l, strings.Join(strings.Fields(err.Error()), " "))
}
