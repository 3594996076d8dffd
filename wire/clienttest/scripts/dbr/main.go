package main

import (
	"clients/verdict"

	"github.com/gocraft/dbr/v2"
	_ "github.com/lib/pq"
)

func main() {
	verdict.Version("github.com/gocraft/dbr/v2")
	conn, err := dbr.Open("postgres", verdict.DSN(), nil)
	if err != nil {
		verdict.Fail("Open", err)
		verdict.Done()
	}
	s := conn.NewSession(nil)
	verdict.Check("Select and SelectBySql", func() (a, b int64, err error) {
		if err = s.Select("id").From("ids").Where("name = ?", "orders").LoadOne(&a); err == nil {
			err = s.SelectBySql("SELECT next_id(?)", "orders").LoadOne(&b)
		}
		return a, b, err
	})
	verdict.Check("Load in a transaction", func() (int64, int64, error) {
		tx, err := s.Begin()
		if err != nil {
			return 0, 0, err
		}
		defer tx.RollbackUnlessCommitted()
		var ids []int64
		if _, err := tx.SelectBySql("SELECT * FROM next_ids(?, ?)", "orders", 3).Load(&ids); err != nil || len(ids) != 3 {
			return 0, 0, err
		}
		return ids[0], ids[2], tx.Commit()
	})
	_ = conn.Close()
	verdict.Done()
}
