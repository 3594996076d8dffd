package mysqlwire_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqltest"
	"nextid/wire/mysqlwire"
	"nextid/wire/wiretest"
)

// The log of an internal error names the statement, in every way to run one.
func TestInternalErrorsAreLoggedWithTheirStatement(t *testing.T) {
	broken := engine.Func("broken(n int8) int8", engine.Volatile, "", engine.Eval(func(*engine.Exec, []datum.Value) (datum.Value, error) {
		return datum.Value{}, errors.New("a bug")
	}))
	broken.Schema = engine.NextidSchema // as in the MySQL dialect
	sql, err := sqlfuncs.NewServer(sqlfuncs.Config{Registry: sqltest.NewServer(t).Registry, Functions: []engine.Function{broken}})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	server := mysqlwire.New(mysqlwire.Config{SQL: wiretest.Ready(sql), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for name, in := range map[string][]byte{
		"COM_QUERY":             query("SELECT broken(1) AS query"),
		"COM_STMT_EXECUTE":      join(prepare("SELECT broken(?) AS query"), execute(-1, 0, bigint(1))),
		"COM_STMT_FETCH":        join(prepare("SELECT broken(?) AS query"), execute(-1, 1, bigint(1)), command(0x1c, u32(1), u32(1))),
		"COM_STMT_BULK_EXECUTE": join(prepare("SELECT broken(?) AS query"), command(0xfa, u32(-1), u16(128), u16(8), []byte{0}, u64(1))),
	} {
		log.Reset()
		z := newFuzzed(t, server)
		z.login(t, maria)
		z.feed(t, in, 0)
		if line := log.String(); strings.Count(line, "internal error") != 1 || !strings.Contains(line, "a bug") || !strings.Contains(line, "AS query") {
			t.Errorf("%s: the log has %q, the client got %q", name, line, z.answers)
		}
	}
}
