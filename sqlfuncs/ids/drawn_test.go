package ids_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/sqltest"
)

// TestEachNameHasANewestID draws from names in no order, and asks for the newest
// id of each.
func TestEachNameHasANewestID(t *testing.T) {
	server := sqltest.NewServer(t)
	s := server.Session(t)
	newest := map[string]string{}
	for range 400 { // the table doubles several times, and some names come once
		name := fmt.Sprintf("n%d", rand.IntN(300))
		newest[name] = s.Must(t, "SELECT next_id('"+name+"')").String()
	}
	for name, id := range newest {
		if got := s.Must(t, "SELECT currval('"+name+"')").String(); got != id {
			t.Errorf("the newest id of %s is %s, not %s", name, got, id)
		}
	}
	server.Session(t).Must(t, "SELECT next_id('other')")
	s.Fails(t, "SELECT currval('other')", sqlstate.NotPrerequisite)
}
