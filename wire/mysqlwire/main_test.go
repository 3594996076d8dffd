package mysqlwire_test

import (
	"os"
	"testing"

	"nextid/wire/wiretest"
)

func TestMain(m *testing.M) { os.Exit(wiretest.Main(m)) }
