package sqlfuncs

import "nextid/sqlfuncs/engine"

// AllFunctions are the functions of each dialect, by name.
func AllFunctions() (postgres, mysql map[string][]*engine.Function) {
	return newCatalog().Functions, newMySQLDialect().functions
}
