package main

import (
	"clients/verdict"

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
	if err != nil {
		verdict.Fail("NewEngine", err)
		verdict.Done()
	}
	verdict.Succeed("Ping", db.Ping)
	verdict.Check("SQL", func() (a, b int64, err error) {
		if _, err = db.SQL("SELECT next_id(?)", "orders").Get(&a); err == nil {
			_, err = db.SQL("SELECT next_id('orders')").Get(&b)
		}
		return a, b, err
	})
	verdict.Check("bean over the table ids", func() (int64, int64, error) {
		a, b := IDs{Name: "orders"}, IDs{}
		_, err := db.Cols("id").Get(&a)
		if err == nil {
			_, err = db.Where("name = ?", "orders").Get(&b)
		}
		return a.ID, b.ID, err
	})
	verdict.Check("session in a transaction", func() (a, b int64, err error) {
		s := db.NewSession()
		defer s.Close()
		if err = s.Begin(); err != nil {
			return 0, 0, err
		}
		if _, err = s.SQL("SELECT next_id(?)", "orders").Get(&a); err == nil {
			_, err = s.SQL("SELECT next_id(?)", "orders").Get(&b)
		}
		if err != nil {
			return 0, 0, err
		}
		return a, b, s.Commit()
	})
	if verdict.Meta() {
		verdict.Succeed("meta IsTableExist", func() error { _, err := db.IsTableExist("ids"); return err })
		verdict.Succeed("meta DBMetas", func() error { _, err := db.DBMetas(); return err })
	}
	_ = db.Close()
	verdict.Done()
}
