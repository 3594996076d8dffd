package sqlfuncs_test

import (
	"testing"
	"time"
)

func TestEveryCatalogCanBeRead(t *testing.T) {
	server := newServer(t)
	server.segment(t, "orders")
	s := server.session(t)
	rels := s.must(t, "SELECT c.oid::regclass::text, c.oid FROM pg_catalog.pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname IN ('pg_catalog', 'information_schema') ORDER BY relname")
	if len(rels.rows) < 200 {
		t.Fatalf("pg_class has %d system catalogs", len(rels.rows))
	}
	rels = s.must(t, "SELECT n.nspname||'.'||c.relname FROM pg_catalog.pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname IN ('pg_catalog', 'information_schema') ORDER BY 1")
	for _, name := range rels.column(0) {
		start := time.Now()
		if _, err := s.run(t, "SELECT * FROM "+name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if d := time.Since(start); d > 20*time.Millisecond {
			t.Logf("%s: %v", name, d)
		}
	}
}
