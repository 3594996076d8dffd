package pgfunc_test

import (
	"testing"

	"nextid/dbtest"
	"nextid/sqlfuncs/sqltest"
)

func TestStatementFiles(t *testing.T) { sqltest.RunPostgreSQLFiles(t) }

func TestStatementFilesAgainstPostgreSQL(t *testing.T) {
	sqltest.ComparePostgreSQLFiles(t, dbtest.QuickPostgres(t))
}
