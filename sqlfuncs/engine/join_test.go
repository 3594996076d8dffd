package engine_test

import (
	"testing"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqltest"
)

// The binary form of a record has the types of its fields. So has a NULL that an
// outer join puts in place of a table without rows.
func TestNullsOfAJoinHaveATypeInARecord(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	p, err := s.BindTexts("SELECT t FROM (SELECT y FROM (VALUES (1)) a (x) LEFT JOIN (SELECT 2 AS y WHERE false) b ON x = y) t")
	if err != nil {
		t.Fatal(err)
	}
	row, err := p.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if field := row[0].Elems[0]; field.Valid || field.Type != datum.Int4 {
		t.Errorf("the field is %+v", field)
	}
}
