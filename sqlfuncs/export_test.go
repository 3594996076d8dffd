package sqlfuncs

// AllFunctions and MySQLFunctions are the functions of each dialect.
var (
	AllFunctions   = allFunctions
	MySQLFunctions = mysqlFunctions
)
