package main

import (
	"clients/verdict"
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
		quiet := logger.Default.LogMode(logger.Silent)
		db, err := gorm.Open(mode.dialector, &gorm.Config{PrepareStmt: mode.prepare, Logger: quiet})
		if err != nil {
			verdict.Fail(mode.name, err)
			continue
		}
		checkMode(mode.name+": ", db)
	}
	verdict.Done()
}

func checkMode(mode string, db *gorm.DB) {
	two := func(sql string, args ...any) func() (a, b int64, err error) {
		return func() (a, b int64, err error) {
			if err = db.Raw(sql, args...).Scan(&a).Error; err == nil {
				err = db.Raw(sql, args...).Scan(&b).Error
			}
			return a, b, err
		}
	}
	verdict.Check(mode+"Raw", two("SELECT next_id('orders')"))
	verdict.Check(mode+"Raw with an argument", two("SELECT next_id(?)", "orders"))
	verdict.Check(mode+"Transaction, nested", func() (a, b int64, err error) {
		err = db.Transaction(func(tx *gorm.DB) error {
			if err := tx.Raw("SELECT next_id(?)", "orders").Scan(&a).Error; err != nil {
				return err
			}
			return tx.Transaction(func(tx *gorm.DB) error { return tx.Raw("SELECT next_id(?)", "orders").Scan(&b).Error })
		})
		return a, b, err
	})
	verdict.Check(mode+"model over the table ids", func() (int64, int64, error) {
		var a, b IDs
		err := db.Where("name = ?", "orders").Take(&a).Error
		if err == nil {
			err = db.First(&b, "name = ?", "orders").Error
		}
		return a.ID, b.ID, err
	})
	if verdict.Meta() {
		verdict.Succeed("meta "+mode+"Migrator", func() error {
			// It looks for base tables only, so that ids is none.
			columns, err := db.Migrator().ColumnTypes(&IDs{})
			if err == nil && (len(columns) != 2 || !db.Migrator().HasColumn(&IDs{}, "id")) {
				err = fmt.Errorf("columns of ids: %v", columns)
			}
			if err == nil {
				_, err = db.Migrator().GetTables()
			}
			if err == nil {
				_, err = db.Migrator().GetIndexes(&IDs{})
			}
			return err
		})
	}
	if pool, err := db.DB(); err == nil {
		_ = pool.Close()
	}
}
