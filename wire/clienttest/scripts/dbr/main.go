package main

import (
	"clients/verdict"
	"errors"

	"github.com/gocraft/dbr/v2"
	_ "github.com/lib/pq"
)

func main() {
	verdict.Version("github.com/gocraft/dbr/v2")
	conn, err := dbr.Open("postgres", verdict.DSN(), nil)
	verdict.Must("Open", err)
	s := conn.NewSession(nil)
	verdict.Twice("Select", func(id *int64) error { return s.Select("id").From("ids").Where("name = ?", "orders").LoadOne(id) })
	verdict.Twice("SelectBySql", func(id *int64) error { return s.SelectBySql("SELECT next_id(?)", "orders").LoadOne(id) })
	verdict.Three("Load in a transaction", func() (ids []int64, err error) {
		tx, err := s.Begin()
		if err != nil {
			return nil, err
		}
		_, err = tx.SelectBySql("SELECT * FROM next_ids(?, ?)", "orders", 3).Load(&ids)
		return ids, errors.Join(err, tx.Commit())
	})
	_ = conn.Close()
	verdict.Done()
}
