package ids_test

import (
	"fmt"
	"testing"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/setting"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/sqltest"
)

func TestLeasesOfWorkerIDs(t *testing.T) {
	server := sqltest.NewServer(t)
	for i, s := range []*sqltest.Session{server.Session(t), server.MySQLSession(t)} {
		pool := []string{"sonyflake", "16"}[i]
		r := s.Must(t, fmt.Sprintf("SELECT worker, not_before, until FROM lease_worker('%s', 'pod-%d')", pool, i))
		if len(r.Rows) != 1 || len(r.Rows[0]) != 3 {
			t.Fatalf("leased: %v", r)
		}
		worker, from, until := r.Rows[0][0], r.Rows[0][1], r.Rows[0][2]
		if from >= until {
			t.Errorf("leased from %s until %s", from, until)
		}
		s.Want(t, fmt.Sprintf("SELECT bits, worker, until FROM nextid.leases WHERE holder = 'pod-%d'", i), "16|"+worker+"|"+until)
		s.Fails(t, fmt.Sprintf("SELECT * FROM renew_worker('%s', %s, '%s')", pool, worker, until), sqlstate.CannotConnectNow) // too early
		s.Fails(t, fmt.Sprintf("SELECT * FROM renew_worker('%s', %s, '%s')", pool, worker, from), sqlstate.CannotConnectNow)  // not its end
		r = s.Must(t, fmt.Sprintf("SELECT * FROM release_worker('%s', %s, '%s', '%s')", pool, worker, until, from))
		if len(r.Rows) != 1 || r.Rows[0][2] <= from || r.Rows[0][2] >= until {
			t.Errorf("released: %v", r)
		}
		s.Fails(t, fmt.Sprintf("SELECT * FROM release_worker('%s', %s, '%s', '%s')", pool, worker, until, from), sqlstate.CannotConnectNow)
		for _, none := range []string{"mastodon", "0", "33", "-1", "nonesuch", ""} {
			s.Fails(t, "SELECT * FROM lease_worker('"+none+"', 'x')", sqlstate.InvalidParameterValue)
		}
	}
	admin := server.Session(t)
	admin.Must(t, `SELECT create_generator('small', 'snowflake', '{"bits": "time 41, worker 1, sequence 8"}')`)
	admin.Must(t, "SELECT * FROM lease_worker('small', 'x')")
	admin.Want(t, "SELECT bits FROM nextid.leases WHERE holder = 'x'", "1")
	for _, worker := range []string{"-1", "2", "9223372036854775807"} {
		admin.Fails(t, "SELECT * FROM renew_worker('small', "+worker+", now())", sqlstate.InvalidParameterValue)
		admin.Fails(t, "SELECT * FROM release_worker('small', "+worker+", now(), now())", sqlstate.InvalidParameterValue)
	}
	named := server.SessionWith(t, sqlfuncs.SessionOptions{User: "tester", Settings: []setting.Own{{Key: "application_name", Value: "pod-9"}}})
	named.Must(t, "SELECT * FROM lease_worker('small')")
	named.Want(t, "SELECT count(*) FROM nextid.leases WHERE holder = 'pod-9'", "1")
	only := server.SessionWith(t, sqlfuncs.SessionOptions{User: "shop", Generators: []string{"orders", "mybatis"}})
	only.Must(t, "SELECT * FROM lease_worker('mybatis')")
	only.Fails(t, "SELECT * FROM lease_worker('small')", sqlstate.InsufficientPrivilege)
}
