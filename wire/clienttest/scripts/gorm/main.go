package main

import (
	"clients/verdict"
	"errors"
	"fmt"

	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// IDs is the table ids: reading the row of a name draws an id.
type IDs struct {
	Name string `gorm:"primaryKey"`
	ID   int64
}

// TableName is GORM's way to name the table.
func (IDs) TableName() string { return "ids" }

// mode is a way to open the database.
type mode struct {
	name      string
	dialector gorm.Dialector
	prepare   bool
}

func main() {
	verdict.Version("gorm.io/gorm")
	modes := []mode{
		{"default", postgres.Open(verdict.DSN()), false},
		{"PrepareStmt", postgres.Open(verdict.DSN()), true},
		{"PreferSimpleProtocol", postgres.New(postgres.Config{DSN: verdict.DSN(), PreferSimpleProtocol: true}), false},
	}
	if verdict.OverMySQL() {
		dsn := verdict.MySQL("&charset=utf8mb4&parseTime=True&loc=Local")
		modes = []mode{{"default", mysql.Open(dsn), false}, {"PrepareStmt", mysql.Open(dsn), true}}
	}
	for _, mode := range modes {
		db, err := gorm.Open(mode.dialector, &gorm.Config{PrepareStmt: mode.prepare, Logger: logger.Default.LogMode(logger.Silent)})
		verdict.Must(mode.name, err)
		checkMode(mode.name+": ", db)
	}
	verdict.Done()
}

func checkMode(mode string, db *gorm.DB) {
	verdict.Twice(mode+"Raw", func(id *int64) error { return db.Raw("SELECT next_id('orders')").Scan(id).Error })
	bound := func(db *gorm.DB, id *int64) error { return db.Raw("SELECT next_id(?)", "orders").Scan(id).Error }
	verdict.Twice(mode+"Raw with an argument", func(id *int64) error { return bound(db, id) })
	verdict.Check(mode+"Transaction, nested", func() (a, b int64, err error) {
		err = db.Transaction(func(tx *gorm.DB) error {
			err := bound(tx, &a)
			return errors.Join(err, tx.Transaction(func(tx *gorm.DB) error { return bound(tx, &b) }))
		})
		return a, b, err
	})
	verdict.Check(mode+"model over the table ids", func() (int64, int64, error) {
		var a, b IDs
		err := errors.Join(db.Where("name = ?", "orders").Take(&a).Error, db.First(&b, "name = ?", "orders").Error)
		return a.ID, b.ID, err
	})
	if verdict.Meta() {
		verdict.Succeed("meta "+mode+"Migrator", func() error {
			// It looks for base tables only, so that ids is none.
			columns, err := db.Migrator().ColumnTypes(&IDs{})
			if err == nil && (len(columns) != 2 || !db.Migrator().HasColumn(&IDs{}, "id")) {
				err = fmt.Errorf("columns of ids: %v", columns)
			}
			_, err2 := db.Migrator().GetTables()
			_, err3 := db.Migrator().GetIndexes(&IDs{})
			return errors.Join(err, err2, err3)
		})
	}
	if pool, err := db.DB(); err == nil {
		_ = pool.Close()
	}
}
