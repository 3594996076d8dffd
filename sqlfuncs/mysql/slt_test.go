package mysql_test

import (
	"testing"

	"nextid/dbtest"
	"nextid/sqlfuncs/sqltest"
)

func TestStatementFiles(t *testing.T) { sqltest.RunMySQLFiles(t) }

func TestStatementFilesAgainstMariaDB(t *testing.T) {
	addr, _ := dbtest.QuickMariaDB(t)
	sqltest.CompareMariaDBFiles(t, addr)
}
