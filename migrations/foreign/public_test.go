package foreign_test

import (
	"strings"
	"testing"
)

// TestPublicUUIDs: public_uuid and private_uuid give equal results on the server and
// in the database of an application.
func TestPublicUUIDs(t *testing.T) {
	t.Parallel()
	server, cluster := startServer(t), startCluster(t)
	direct := server.connect()
	direct.exec(`SELECT create_generator('users', 'uuid', '{"public": "correct horse battery staple"}')`)
	dsn := cluster.install(t, server)
	s := connect(t, dsn, nil)
	s.exec("INSERT INTO nextid.public_keys VALUES ('users', 'correct horse battery staple'), ('others', 'another key of this test')")

	uuids := strings.Fields("01890a5d-ac96-774b-bcce-b302099a8057 00000000-0000-7000-8000-000000000000 ffffffff-ffff-7fff-bfff-ffffffffffff")
	for range 500 {
		uuids = append(uuids, direct.text("SELECT next_uuid('users')::text"))
	}
	for _, u := range uuids {
		public := direct.text("SELECT public_uuid('" + u + "', 'users')::text")
		if twin := s.text("SELECT nextid.public_uuid('" + u + "', 'users')::text"); twin != public || public[14] != '4' {
			t.Fatalf("%s is public as %s, and as %s in the application's database", u, public, twin)
		}
		if back := s.text("SELECT nextid.private_uuid('" + public + "', 'users')::text"); back != u {
			t.Fatalf("%s is public as %s, which comes back as %s", u, public, back)
		}
		if other := s.text("SELECT nextid.public_uuid('" + u + "', 'others')::text"); other == public {
			t.Fatalf("both keys make %s of %s", other, u)
		}
	}
	s.fails("22023", "SELECT nextid.private_uuid('"+uuids[0]+"', 'users')")
	s.fails("22023", "SELECT nextid.public_uuid('00000000-0000-0000-0000-000000000000', 'users')")
	s.fails("55000", "SELECT nextid.public_uuid('"+uuids[0]+"', 'nobody')")
	if n := s.numbers("SELECT count(*) FROM (SELECT nextid.public_uuid(NULL, 'users') u) x WHERE u IS NULL"); n[0] != 1 {
		t.Error("the public UUID of NULL is not NULL")
	}

	// A role that may call the functions cannot read the keys.
	s.exec("CREATE ROLE plain LOGIN")
	s.exec("SET ROLE plain")
	s.text("SELECT nextid.public_uuid('" + uuids[0] + "', 'users')::text")
	s.fails("42501", "SELECT key FROM nextid.public_keys")
}
