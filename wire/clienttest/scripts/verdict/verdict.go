// Package verdict prints the verdicts of a Go client: one line a check, for
// the test to read.
package verdict

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

var (
	client = os.Getenv("CLIENT")
	failed bool
)

// Meta reports whether the checks of the catalogs are wanted.
func Meta() bool { return slices.Contains(strings.Split(os.Getenv("CHECKS"), ","), "meta") }

// OverMySQL reports whether the server is asked over MySQL's protocol.
func OverMySQL() bool { return os.Getenv("PROTOCOL") == "mysql" }

// DSN returns where the server is, in libpq's form.
func DSN() string {
	return fmt.Sprintf("host=%s port=%s user=%s password=%s dbname=%s sslmode=disable connect_timeout=10",
		os.Getenv("HOST"), os.Getenv("PORT"), os.Getenv("USER"), os.Getenv("PASSWORD"), os.Getenv("DB"))
}

// Addr returns the server's host:port.
func Addr() string { return os.Getenv("HOST") + ":" + os.Getenv("PORT") }

// MySQL returns where the server is, in the form of go-sql-driver/mysql.
func MySQL(parameters string) string {
	return fmt.Sprintf("%s:%s@tcp(%s)/%s?timeout=10s%s", os.Getenv("USER"), os.Getenv("PASSWORD"), Addr(), os.Getenv("DB"), parameters)
}

// Version prints the version of the client's module.
func Version(module string) {
	info, _ := debug.ReadBuildInfo()
	for _, m := range info.Deps {
		if m.Path == module {
			fmt.Println("version", client, strings.TrimPrefix(m.Version, "v"))
		}
	}
}

// Check runs f, which returns two ids, the second larger.
func Check(what string, f func() (a, b int64, err error)) {
	defer func() {
		if x := recover(); x != nil {
			fail(what, x)
		}
	}()
	a, b, err := f()
	switch {
	case err != nil:
		fail(what, err)
	case a <= 0 || b <= a:
		fail(what, fmt.Sprintf("not two rising ids: %d, %d", a, b))
	default:
		fmt.Println("ok", client, what)
	}
}

// Two calls draw twice.
func Two(draw func(id *int64) error) (a, b int64, err error) {
	err = errors.Join(draw(&a), draw(&b))
	return a, b, err
}

// Twice checks two calls of draw.
func Twice(what string, draw func(id *int64) error) {
	Check(what, func() (int64, int64, error) { return Two(draw) })
}

// Three checks three rising ids, which draw returns.
func Three(what string, draw func() ([]int64, error)) {
	Check(what, func() (int64, int64, error) {
		ids, err := draw()
		if err != nil || len(ids) != 3 {
			return 0, 0, fmt.Errorf("%v, not 3 ids: %w", ids, err)
		}
		return ids[0], ids[2], nil
	})
}

// Succeed runs f, which returns no ids.
func Succeed(what string, f func() error) {
	Check(what, func() (int64, int64, error) { return 1, 2, f() })
}

// SQL checks a driver of database/sql. mark is a parameter of a statement. Each name
// of a check ends in mode.
func SQL(db *sql.DB, mark, mode string) {
	const constant = "SELECT next_id('orders')"
	bound := "SELECT next_id(" + mark + ")"
	Succeed("Ping"+mode, db.Ping)
	Twice("plain"+mode, func(id *int64) error { return db.QueryRow(constant).Scan(id) })
	Twice("bound parameter"+mode, func(id *int64) error { return db.QueryRow(bound, "orders").Scan(id) })
	prepared := func(what, text string, args ...any) {
		Check(what+mode, func() (int64, int64, error) {
			s, err := db.Prepare(text)
			if err != nil {
				return 0, 0, err
			}
			defer s.Close()
			return Two(func(id *int64) error { return s.QueryRow(args...).Scan(id) })
		})
	}
	prepared("Prepare", bound, "orders")
	prepared("Prepare without parameters", constant)
	Check("transaction"+mode, func() (int64, int64, error) {
		tx, err := db.Begin()
		if err != nil {
			return 0, 0, err
		}
		a, b, err := Two(func(id *int64) error { return tx.QueryRow(bound, "orders").Scan(id) })
		return a, b, errors.Join(err, tx.Commit())
	})
}

// Several checks a query of two statements.
func Several(db *sql.DB, mode string) {
	Check("several statements"+mode, func() (int64, int64, error) {
		rows, err := db.Query("SELECT next_id('orders'); SELECT next_id('orders')")
		if err != nil {
			return 0, 0, err
		}
		defer rows.Close()
		return Two(func(id *int64) (err error) {
			for rows.Next() {
				err = rows.Scan(id)
			}
			rows.NextResultSet()
			return errors.Join(err, rows.Err())
		})
	})
}

// fail prints a failed check.
func fail(what string, why any) {
	failed = true
	fmt.Printf("FAIL %s %s: %s\n", client, what, strings.Join(strings.Fields(fmt.Sprint(why)), " "))
}

// Must ends the program with a failed check unless err is nil.
func Must(what string, err error) {
	if err != nil {
		fail(what, err)
		Done()
	}
}

// Done ends the program.
func Done() {
	if failed {
		os.Exit(1)
	}
	os.Exit(0)
}
