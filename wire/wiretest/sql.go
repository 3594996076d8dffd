package wiretest

import (
	"testing"

	"nextid/generator/segment"
	"nextid/sqlfuncs"
	"nextid/sqlfuncs/sqltest"
)

// SQL makes the SQL layer on a memory store, with the generators numbers and letters
// of kind segment.
func SQL(t testing.TB) *sqlfuncs.Server {
	t.Helper()
	s := sqltest.NewServer(t)
	for _, name := range []string{"numbers", "letters"} {
		if err := s.Registry.Create(t.Context(), name, segment.KindName, []byte(`{"step": 1000000}`)); err != nil {
			t.Fatal(err)
		}
	}
	return s.Server
}

// Ready returns s as the SQL of a server that does not wait for its store.
func Ready(s *sqlfuncs.Server) func() *sqlfuncs.Server {
	return func() *sqlfuncs.Server { return s }
}
