package main

import (
	"clients/verdict"
	"errors"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/lib/pq"
	"xorm.io/xorm"
)

// IDs is the table ids: reading the row of a name draws an id.
type IDs struct {
	Name string `xorm:"pk 'name'"`
	ID   int64  `xorm:"'id'"`
}

// TableName is Xorm's way to name the table.
func (IDs) TableName() string { return "ids" }

func main() {
	verdict.Version("xorm.io/xorm")
	driver, dsn := "postgres", verdict.DSN()
	if verdict.OverMySQL() {
		driver, dsn = "mysql", verdict.MySQL("")
	}
	db, err := xorm.NewEngine(driver, dsn)
	verdict.Must("NewEngine", err)
	verdict.Succeed("Ping", db.Ping)
	verdict.Twice("SQL", func(id *int64) error { _, err := db.SQL("SELECT next_id(?)", "orders").Get(id); return err })
	verdict.Twice("SQL without arguments", func(id *int64) error { _, err := db.SQL("SELECT next_id('orders')").Get(id); return err })
	verdict.Check("bean over the table ids", func() (int64, int64, error) {
		a, b := IDs{Name: "orders"}, IDs{}
		_, err := db.Cols("id").Get(&a)
		_, err2 := db.Where("name = ?", "orders").Get(&b)
		return a.ID, b.ID, errors.Join(err, err2)
	})
	verdict.Check("session in a transaction", func() (int64, int64, error) {
		s := db.NewSession()
		defer s.Close()
		if err := s.Begin(); err != nil {
			return 0, 0, err
		}
		a, b, err := verdict.Two(func(id *int64) error { _, err := s.SQL("SELECT next_id(?)", "orders").Get(id); return err })
		return a, b, errors.Join(err, s.Commit())
	})
	if verdict.Meta() {
		verdict.Succeed("meta IsTableExist", func() error { _, err := db.IsTableExist("ids"); return err })
		verdict.Succeed("meta DBMetas", func() error { _, err := db.DBMetas(); return err })
	}
	_ = db.Close()
	verdict.Done()
}
