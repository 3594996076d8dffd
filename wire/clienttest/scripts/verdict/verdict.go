// Package verdict prints the verdicts of a Go client: one line a check, for
// the test to read.
package verdict

import (
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
			Fail(what, x)
		}
	}()
	a, b, err := f()
	switch {
	case err != nil:
		Fail(what, err)
	case a <= 0 || b <= a:
		Fail(what, fmt.Sprintf("not two rising ids: %d, %d", a, b))
	default:
		fmt.Println("ok", client, what)
	}
}

// Succeed runs f, which returns no ids.
func Succeed(what string, f func() error) {
	Check(what, func() (int64, int64, error) { return 1, 2, f() })
}

// Fail prints a failed check.
func Fail(what string, why any) {
	failed = true
	fmt.Printf("FAIL %s %s: %s\n", client, what, strings.Join(strings.Fields(fmt.Sprint(why)), " "))
}

// Done ends the program.
func Done() {
	if failed {
		os.Exit(1)
	}
	os.Exit(0)
}

// MySQL returns where the server is, in the form of go-sql-driver/mysql.
func MySQL(parameters string) string {
	return fmt.Sprintf("%s:%s@tcp(%s)/%s?timeout=10s%s", os.Getenv("USER"), os.Getenv("PASSWORD"), Addr(), os.Getenv("DB"), parameters)
}
