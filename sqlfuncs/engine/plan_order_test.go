package engine

import (
	"slices"
	"testing"

	"nextid/sqlfuncs/syntax"
)

func TestReadingOrder(t *testing.T) {
	var tables []Table
	for _, name := range []string{"a", "b", "c", "d"} {
		tables = append(tables, Table{Schema: PGCatalog, Name: name, Catalog: true})
	}
	tables = append(tables, Table{Schema: "public", Name: "ids"})
	p := &Planner{Dialect: PostgreSQL{}, Catalog: NewCatalog(nil, [][]Table{tables}, nil)}
	for _, c := range []struct {
		from string
		want []int
	}{
		{"a, b, c WHERE c.x = 1 AND b.y = c.y AND a.z = b.z", []int{2, 1, 0}},
		{"a, b, c, d WHERE d.x = 'i' AND (c.y = d.y) AND a.v[b.z] = c.v AND b.w = a.w AND a.w = c.w", []int{3, 2, 0, 1}},
		{"a, a b, c WHERE b.x = 1 AND c.x = b.x", []int{1, 2, 0}},
		{"a, b, c WHERE a.x = 1 AND a.y = b.y AND c.x = b.x", []int{0, 1, 2}},
		{"a, b, c WHERE c.x > 1", []int{0, 1, 2}},
		{"a, b WHERE b.x = 1", []int{0, 1}},
		{"a, b, ids c WHERE b.x = 1", []int{0, 1, 2}},
		{"a, b, (SELECT 1) c WHERE b.x = 1", []int{0, 1, 2}},
	} {
		parsed, err := syntax.Parse("SELECT 1 FROM "+c.from, syntax.PostgreSQL)
		if err != nil {
			t.Fatal(err)
		}
		core := parsed[0].Statement.(*syntax.Select).Body.(*syntax.SelectCore)
		if got := p.readingOrder(&Scope{}, core); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.from, got, c.want)
		}
	}
}
