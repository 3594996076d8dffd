package main

import (
	"clients/verdict"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"
)

func main() {
	verdict.Version("github.com/go-sql-driver/mysql")
	for _, options := range []string{
		"", "&interpolateParams=true", "&multiStatements=true&parseTime=true&charset=utf8mb4&loc=UTC",
		"&collation=utf8mb4_general_ci&tls=preferred", "&compress=true",
		"&checkConnLiveness=false&sql_mode=%27STRICT_ALL_TABLES%27&autocommit=1",
	} {
		db, err := sql.Open("mysql", verdict.MySQL(options))
		verdict.Must("open "+options, err)
		db.SetMaxOpenConns(1)
		checks(db, " "+options)
		_ = db.Close()
	}
	verdict.Done()
}

func checks(db *sql.DB, mode string) {
	verdict.SQL(db, "?", mode)
	if strings.Contains(mode, "multiStatements") {
		verdict.Several(db, mode)
	}
	for what, options := range map[string]sql.TxOptions{
		"transaction of a level": {Isolation: sql.LevelReadCommitted}, "read-only transaction": {ReadOnly: true},
	} {
		verdict.Check(what+", rollback"+mode, func() (int64, int64, error) {
			tx, err := db.BeginTx(context.Background(), &options)
			if err != nil {
				return 0, 0, err
			}
			a, b, err := verdict.Two(func(id *int64) error { return tx.QueryRow("SELECT next_id('orders')").Scan(id) })
			return a, b, errors.Join(err, tx.Rollback())
		})
	}
	verdict.Twice("Exec, LastInsertId"+mode, func(id *int64) error {
		r, err := db.Exec("DO next_id('orders')")
		if err == nil {
			*id, err = r.LastInsertId()
		}
		return err
	})
	verdict.Succeed("column type"+mode, func() error {
		rows, err := db.Query("SELECT next_id('orders') AS id")
		if err != nil {
			return err
		}
		defer rows.Close()
		types, err := rows.ColumnTypes()
		if err == nil && (types[0].DatabaseTypeName() != "BIGINT" || types[0].Name() != "id") {
			err = fmt.Errorf("%s %s", types[0].Name(), types[0].DatabaseTypeName())
		}
		return err
	})
	verdict.Succeed("error 1064"+mode, func() error {
		_, err := db.Exec("SELEC 1")
		if refused := (*mysql.MySQLError)(nil); errors.As(err, &refused) && refused.Number == 1064 {
			return nil
		}
		return fmt.Errorf("not a syntax error: %w", err)
	})
}
