package main

import (
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestPoolsOfAServer: two programs that take 50 numbers from each nextval of a new
// name have no number in common.
func TestPoolsOfAServer(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	a, b := s.connect(), s.connect()
	taken := map[int64]bool{}
	for range 100 {
		for _, conn := range []*pgx.Conn{a, b} {
			var id int64
			if err := conn.QueryRow(t.Context(), "SELECT nextval('invoices')").Scan(&id); err != nil {
				t.Fatal(err)
			}
			for n := range int64(50) {
				if taken[id-n] {
					t.Fatalf("%d is taken twice", id-n)
				}
				taken[id-n] = true
			}
		}
	}
}
