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
		if err != nil {
			verdict.Fail("open "+options, err)
			continue
		}
		db.SetMaxOpenConns(1)
		checks(db, options)
		_ = db.Close()
	}
	verdict.Done()
}

type queryer interface {
	QueryRow(query string, args ...any) *sql.Row
}

// two runs a query twice.
func two(q queryer, query string, args ...any) func() (int64, int64, error) {
	return func() (a, b int64, err error) {
		if err = q.QueryRow(query, args...).Scan(&a); err == nil {
			err = q.QueryRow(query, args...).Scan(&b)
		}
		return a, b, err
	}
}

func prepared(db *sql.DB, query string, args ...any) func() (int64, int64, error) {
	return func() (a, b int64, err error) {
		s, err := db.Prepare(query)
		if err != nil {
			return 0, 0, err
		}
		defer s.Close()
		if err = s.QueryRow(args...).Scan(&a); err == nil {
			err = s.QueryRow(args...).Scan(&b)
		}
		return a, b, err
	}
}

func checks(db *sql.DB, options string) {
	ctx := context.Background()
	check := func(what string, f func() (a, b int64, err error)) {
		verdict.Check(strings.TrimSpace(what+" "+options), f)
	}
	check("Ping", func() (int64, int64, error) { return 1, 2, db.Ping() })
	check("plain", two(db, "SELECT next_id('orders')"))
	check("bound parameter", two(db, "SELECT next_id(?)", "orders"))
	check("Prepare", prepared(db, "SELECT next_id(?)", "orders"))
	check("Prepare without parameters", prepared(db, "SELECT next_id('orders')"))
	check("transaction", func() (a, b int64, err error) {
		tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
		if err != nil {
			return 0, 0, err
		}
		if a, b, err = two(tx, "SELECT next_id(?)", "orders")(); err != nil {
			return 0, 0, err
		}
		return a, b, tx.Commit()
	})
	check("read-only transaction, rollback", func() (a, b int64, err error) {
		tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			return 0, 0, err
		}
		if a, b, err = two(tx, "SELECT next_id('orders')")(); err != nil {
			return 0, 0, err
		}
		return a, b, tx.Rollback()
	})
	check("Exec, LastInsertId", func() (a, b int64, err error) {
		for _, id := range []*int64{&a, &b} {
			r, err := db.Exec("DO next_id('orders')")
			if err != nil {
				return 0, 0, err
			}
			if *id, err = r.LastInsertId(); err != nil {
				return 0, 0, err
			}
		}
		return a, b, nil
	})
	if strings.Contains(options, "multiStatements") {
		check("several statements", func() (a, b int64, err error) {
			rows, err := db.Query("SELECT next_id('orders'); SELECT next_id('orders')")
			if err != nil {
				return 0, 0, err
			}
			defer rows.Close()
			for _, id := range []*int64{&a, &b} {
				for rows.Next() {
					if err := rows.Scan(id); err != nil {
						return 0, 0, err
					}
				}
				rows.NextResultSet()
			}
			return a, b, rows.Err()
		})
	}
	check("column type", func() (int64, int64, error) {
		rows, err := db.Query("SELECT next_id('orders') AS id")
		if err != nil {
			return 0, 0, err
		}
		defer rows.Close()
		types, err := rows.ColumnTypes()
		if err == nil && (types[0].DatabaseTypeName() != "BIGINT" || types[0].Name() != "id") {
			err = fmt.Errorf("%s %s", types[0].Name(), types[0].DatabaseTypeName())
		}
		return 1, 2, err
	})
	check("error 1064", func() (int64, int64, error) {
		_, err := db.Exec("SELEC 1")
		var refused *mysql.MySQLError
		if errors.As(err, &refused) && refused.Number == 1064 {
			return 1, 2, nil
		}
		return 0, 0, fmt.Errorf("not a syntax error: %w", err)
	})
}
