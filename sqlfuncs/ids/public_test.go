package ids_test

import (
	"strings"
	"testing"

	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/sqltest"
)

// Both protocols write and read UUIDs in every form.
func TestCodesOfUUIDs(t *testing.T) {
	t.Parallel()
	server := sqltest.NewServer(t)
	admin := server.Session(t)
	admin.Must(t, `SELECT create_generator('users', 'typeid', '{"prefix": "user"}'), create_generator('short', 'uuid', '{"form": "base58"}'),
		create_generator('plain', 'uuid'), create_generator('events', 'ulid'), create_generator('names', 'nanoid'), create_generator('orders', 'segment', '{"text": "base62"}')`)
	const u = "01890a5d-ac96-774b-bcce-b302099a8057"
	for _, s := range []*sqltest.Session{admin, server.MySQLSession(t)} {
		for name, code := range map[string]string{
			"users": "user_01h455vb4pex5vsknk084sn02q", "events": "01H455VB4PEX5VSKNK084SN02Q", "ulid": "01H455VB4PEX5VSKNK084SN02Q",
			"plain": u, "hex": "01890a5dac96774bbcceb302099a8057", "short": "1BzmjTFLHWXwiSK4y3H5iW", "base58": "1BzmjTFLHWXwiSK4y3H5iW",
			"base62": "02tcRIyrxLXTR81B3dqdOx",
		} {
			if got := s.Value(t, "SELECT to_code('"+u+"', '"+name+"')"); got != code {
				t.Errorf("to_code of %s: %s, want %s", name, got, code)
			}
			if got := s.Value(t, "SELECT code_uuid('"+code+"', '"+name+"')"); got != u {
				t.Errorf("code_uuid of %s %s: %s", name, code, got)
			}
			if strings.HasPrefix(name, "base") || name == "short" {
				s.Fails(t, "SELECT code_uuid('"+code+"')", sqlstate.InvalidParameterValue)
			} else if got := s.Value(t, "SELECT code_uuid('"+code+"')"); got != u {
				t.Errorf("code_uuid of %s: %s", code, got)
			}
		}
		if got := s.Value(t, "SELECT to_code('62', 'orders')"); got != "10" {
			t.Errorf("to_code of a number as a text: %s", got)
		}
		made := s.Value(t, "SELECT next_code('short')")
		if got := s.Value(t, "SELECT to_code(code_uuid('"+made+"', 'short'), 'short')"); len(made) != 22 || got != made {
			t.Errorf("%s comes back as %s", made, got)
		}
		s.Fails(t, "SELECT code_uuid('"+u+"', 'users')", sqlstate.InvalidParameterValue)
		s.Fails(t, "SELECT code_uuid('"+u+"', 'nobody')", sqlstate.UndefinedTable)
		s.Fails(t, "SELECT to_code('"+u+"', 'nobody')", sqlstate.UndefinedTable)
		s.Fails(t, "SELECT to_code('"+u+"', 'orders')", sqlstate.FeatureNotSupported)
		s.Fails(t, "SELECT code_uuid('x', 'names')", sqlstate.FeatureNotSupported)
	}
	admin.Want(t, "SELECT to_code('"+u+"'::uuid, 'users'), to_code(62, 'orders')", "user_01h455vb4pex5vsknk084sn02q|10")
}

func TestPublicUUIDs(t *testing.T) {
	t.Parallel()
	server := sqltest.NewServer(t)
	admin := server.Session(t)
	admin.Must(t, `SELECT create_generator('users', 'uuid', '{"public": "correct horse battery staple"}'), create_generator('rows', 'typeid', '{"prefix": "row", "public": true}'),
		create_generator('plain', 'uuid'), create_generator('orders', 'segment')`)
	const u, public = "01890a5d-ac96-774b-bcce-b302099a8057", "1ccb67d5-2d0d-4da0-a1b8-d1aa93aed718"
	for _, s := range []*sqltest.Session{admin, server.MySQLSession(t)} {
		if got := s.Value(t, "SELECT public_uuid('"+u+"', 'users')"); got != public {
			t.Errorf("public: %s", got)
		}
		if got := s.Value(t, "SELECT private_uuid('"+public+"', 'users')"); got != u {
			t.Errorf("private: %s", got)
		}
		if got := s.Value(t, "SELECT private_uuid(public_uuid(code_uuid(next_code('rows')), 'rows'), 'rows') IS NOT NULL"); got != s.Value(t, "SELECT 1 = 1") {
			t.Errorf("of a TypeID: %s", got)
		}
		s.Fails(t, "SELECT public_uuid('"+public+"', 'users')", sqlstate.InvalidParameterValue)
		s.Fails(t, "SELECT private_uuid('"+u+"', 'users')", sqlstate.InvalidParameterValue)
		s.Fails(t, "SELECT public_uuid('"+u+"', 'plain')", sqlstate.NotPrerequisite)
		s.Fails(t, "SELECT public_uuid('"+u+"', 'orders')", sqlstate.FeatureNotSupported)
		s.Fails(t, "SELECT public_uuid('"+u+"', 'nobody')", sqlstate.UndefinedTable)
	}
	// The key stays where it is stored.
	admin.Want(t, "SELECT options->'public' FROM nextid.generators WHERE name IN ('users', 'rows')", "true\ntrue")
	before := admin.Value(t, "SELECT public_uuid('"+u+"', 'rows')")
	admin.Must(t, "SELECT alter_generator('plain', '{\"public\": true}'), alter_generator('rows', '{\"prefix\": \"line\"}')")
	admin.Want(t, "SELECT public_uuid('"+u+"', 'rows')", before)
	if other := admin.Value(t, "SELECT public_uuid('"+u+"', 'plain')"); other == before {
		t.Errorf("two random keys make %s", other)
	}
}
