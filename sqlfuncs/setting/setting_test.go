package setting_test

import (
	"slices"
	"testing"

	"nextid/sqlfuncs/sqltest"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/setting"
	"nextid/sqlfuncs/sqlstate"
)

func TestSettingsAreShownSetAndReset(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	for _, c := range []struct{ sql, show, want string }{
		{"SET application_name = 'x y'", "application_name", "x y"},
		{"SET application_name TO word", "APPLICATION_NAME", "word"},
		{"RESET application_name", "application_name", ""},
		{"SET SESSION work_mem = '8MB'", "work_mem", "8MB"},
		{"SET statement_timeout = 1500", "statement_timeout", "1500ms"},
		{"SET statement_timeout = '2s'", "statement_timeout", "2s"},
		{"SET statement_timeout = '120 min'", "statement_timeout", "2h"},
		{"SET statement_timeout = 0", "statement_timeout", "0"},
		{"SET statement_timeout TO DEFAULT", "statement_timeout", "0"},
		{"SET extra_float_digits = -15", "extra_float_digits", "-15"},
		{"SET TIME ZONE 'Europe/Paris'", "timezone", "Europe/Paris"},
		{"SET TIME ZONE 'america/new_york'", "timezone", "America/New_York"},
		{"SET TIME ZONE 'est5edt'", "timezone", "EST5EDT"},
		{"SET TIME ZONE LOCAL", "TimeZone", "UTC"},
		{"SET TIME ZONE UTC", "TimeZone", "UTC"},
		{"SET DateStyle = 'ISO, DMY'", "datestyle", "ISO, DMY"},
		{"SET datestyle TO iso, mdy", "datestyle", "ISO, MDY"},
		{"SET client_encoding = 'utf-8'", "client_encoding", "UTF8"},
		{"SET NAMES 'UTF8'", "client_encoding", "UTF8"},
		{"SET bytea_output = 'ESCAPE'", "bytea_output", "escape"},
		{"SET enable_seqscan = no", "enable_seqscan", "off"},
		{"SET my.own = 'thing'", "my.own", "thing"},
		{"SET search_path = a, \"B c\"", "search_path", "a, \"B c\""},
		{"SELECT set_config('application_name', 'conf', false)", "application_name", "conf"},
		{"RESET ALL", "application_name", ""},
		{"SET ROLE tester; RESET ALL", "role", "tester"},
		{"DISCARD ALL", "role", "none"},
		{"BEGIN ISOLATION LEVEL SERIALIZABLE; RESET ALL", "transaction_isolation", "serializable"},
		{"ROLLBACK", "transaction_isolation", "read committed"},
		{"SET default_transaction_read_only = on; BEGIN; RESET ALL", "transaction_read_only", "on"},
		{"COMMIT", "transaction_read_only", "off"},
	} {
		s.Must(t, c.sql)
		if r := s.Must(t, "SHOW "+c.show); r.String() != c.want {
			t.Errorf("%s: SHOW %s is %q, want %q", c.sql, c.show, r.String(), c.want)
		}
	}
	for _, sql := range []string{"RESET server_version", "SET port TO DEFAULT", "SELECT set_config('server_version', NULL, false)"} {
		s.Fails(t, sql, sqlstate.CannotChangeNow)
	}
	s.WantTag(t, "SET application_name = 'x'", "SET")
	s.WantTag(t, "RESET application_name", "RESET")
	s.WantTag(t, "SHOW application_name", "SHOW")
	if r := s.Must(t, "SHOW timezone"); r.Columns[0].Name != "TimeZone" {
		t.Errorf("SHOW timezone names its column %q", r.Columns[0].Name)
	}
	if r := s.Must(t, "SHOW ALL"); len(r.Columns) != 3 || len(r.Rows) < 100 {
		t.Errorf("SHOW ALL: %d columns, %d rows", len(r.Columns), len(r.Rows))
	}
}

func TestOnlyAdminsLearnOfDirectories(t *testing.T) {
	server := sqltest.NewServer(t)
	const listed = "SELECT count(*) FROM pg_settings WHERE name = 'data_directory'"
	admin := server.SessionWith(t, sqlfuncs.SessionOptions{User: "app", Admin: true})
	admin.Want(t, "SHOW data_directory", "")
	admin.Want(t, listed, "1")
	clerk := server.SessionWith(t, sqlfuncs.SessionOptions{User: "clerk"})
	clerk.Fails(t, "SHOW data_directory", sqlstate.InsufficientPrivilege)
	clerk.Fails(t, "SELECT current_setting('Data_Directory')", sqlstate.InsufficientPrivilege)
	clerk.Want(t, listed, "0")
	if all, public := admin.Must(t, "SHOW ALL"), clerk.Must(t, "SHOW ALL"); len(public.Rows) != len(all.Rows)-1 {
		t.Errorf("SHOW ALL has %d rows, %d for administrators", len(public.Rows), len(all.Rows))
	}
}

func TestBadSettingsAreRefused(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	for _, c := range []struct {
		sql  string
		code sqlstate.Code
	}{
		{"SET nosuch = 1", sqlstate.UndefinedObject},
		{"SHOW nosuch", sqlstate.UndefinedObject},
		{"SHOW no.such", sqlstate.UndefinedObject},
		{"RESET nosuch", sqlstate.UndefinedObject},
		{"SELECT current_setting('nosuch')", sqlstate.UndefinedObject},
		{"SELECT set_config('nosuch', 'x', false)", sqlstate.UndefinedObject},
		{"SET work_mem = 'x'", sqlstate.InvalidParameterValue},
		{"SET work_mem = '1s'", sqlstate.InvalidParameterValue},
		{"SET work_mem = 0", sqlstate.InvalidParameterValue},
		{"SET statement_timeout = -1", sqlstate.InvalidParameterValue},
		{"SET statement_timeout = '1 parsec'", sqlstate.InvalidParameterValue},
		{"SET statement_timeout = ''", sqlstate.InvalidParameterValue},
		{"SET enable_seqscan = maybe", sqlstate.InvalidParameterValue},
		{"SET bytea_output = octal", sqlstate.InvalidParameterValue},
		{"SET TimeZone = 'Nowhere/City'", sqlstate.InvalidParameterValue},
		{"SET TimeZone = '../../etc/passwd'", sqlstate.InvalidParameterValue},
		{"SET client_encoding = 'klingon'", sqlstate.InvalidParameterValue},
		{"SET DateStyle = 'stardate'", sqlstate.InvalidParameterValue},
		{"SET server_version = '1'", sqlstate.CannotChangeNow},
		{"SET max_connections = 1", sqlstate.CannotChangeNow},
		{"SET role = 'nobody'", sqlstate.InsufficientPrivilege},
	} {
		s.Fails(t, c.sql, c.code)
	}
	s.Want(t, "SELECT current_setting('nosuch', true) IS NULL", "t")
	s.Want(t, "SELECT current_setting('application_name')", "")
}

func TestFailedSetChangesNothing(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	s.Must(t, "SET work_mem = '8MB'")
	s.Fails(t, "SET work_mem = 'x'", sqlstate.InvalidParameterValue)
	s.Want(t, "SHOW work_mem", "8MB")
}

func TestStartupSettingsAreTheDefaultsOfTheSession(t *testing.T) {
	server := sqltest.NewServer(t)
	s := server.SessionWith(t, sqlfuncs.SessionOptions{
		User:     "u",
		Settings: []setting.Own{{Key: "application_name", Value: "app"}, {Key: "TimeZone", Value: "Asia/Tokyo"}},
	})
	s.Want(t, "SHOW application_name", "app")
	s.Must(t, "SET application_name = 'x'; RESET application_name")
	s.Want(t, "SHOW application_name", "app")
	s.Must(t, "SET application_name = 'x'")
	s.Want(t, "SELECT set_config('application_name', NULL, false)", "app")
	s.Must(t, "SET TimeZone = 'UTC'; RESET ALL")
	s.Want(t, "SHOW TimeZone", "Asia/Tokyo")
	s.Want(t, "SELECT '2024-01-01 00:00+00'::timestamptz", "2024-01-01 09:00:00+09")
	_, err := server.NewSession(sqlfuncs.SessionOptions{User: "u", Settings: []setting.Own{{Key: "nosuch", Value: "1"}}})
	sqltest.WantCode(t, "an unknown start-up parameter", err, sqlstate.UndefinedObject)
	_, err = server.NewSession(sqlfuncs.SessionOptions{User: "u", Settings: []setting.Own{{Key: "work_mem", Value: "x"}}})
	sqltest.WantCode(t, "a bad start-up parameter", err, sqlstate.InvalidParameterValue)
}

func TestStartupSettingsAreBounded(t *testing.T) {
	settings := slices.Repeat([]setting.Own{{Key: "my.setting", Value: "x"}}, 65)
	_, err := sqltest.NewServer(t).NewSession(sqlfuncs.SessionOptions{User: "u", Settings: settings})
	sqltest.WantCode(t, "65 start-up parameters", err, sqlstate.LimitExceeded)
}

// TestDefaultsAreValid checks that RESET finds each default valid that a session may set.
func TestDefaultsAreValid(t *testing.T) {
	for name, d := range setting.PostgreSQL {
		value, err := d.Normalize(d.Default)
		if fixed := d.Context == "internal" || d.Context == "postmaster" || d.Context == "sighup"; !fixed && (err != nil || value != d.Default) {
			t.Errorf("%s: %q, %v, want %q", name, value, err, d.Default)
		}
	}
}
