package sqlfuncs

import (
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/mysql"
)

// AllFunctions returns the functions of each dialect, by name.
func AllFunctions() (postgres, ofMySQL map[string][]*engine.Function) {
	return newCatalog().Functions, mysql.NewDialect(nil).Own
}
