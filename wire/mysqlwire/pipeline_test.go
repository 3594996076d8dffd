package mysqlwire_test

import (
	"testing"

	"nextid/wire"
	"nextid/wire/mysqlwire"
	"nextid/wire/wiretest"
)

func TestAPipelineIsAnsweredLikeSingleQueries(t *testing.T) {
	for name, caps := range map[string]uint64{"plain": plain, "modern": modern, "MariaDB": maria} {
		t.Run(name, func(t *testing.T) {
			login := func() func(in []byte) []byte {
				m := mysqlwire.New(mysqlwire.Config{SQL: wiretest.Ready(wiretest.SQL(t)), Logger: quiet()}).NewMachine(&wire.Conn{ID: 1})
				t.Cleanup(m.Close)
				ask := asker(t, m)
				ask(nil)
				ask(packet(1, response(caps, "u", "", "", "mysql_native_password")))
				return ask
			}
			wiretest.CheckPipelines(t, login, login, query, query, "SELECT LAST_INSERT_ID()", "SELECT row_count()", "SET autocommit = 0", "SET autocommit = 1",
				"USE other", "SET @@sql_select_limit = 0", "SET @@sql_select_limit = DEFAULT", "SELECT next_id('numbers') LIMIT 0", "SELECT CAST('x' AS SIGNED)")
		})
	}
}

// asker returns a function that feeds a machine and returns its answers.
func asker(t *testing.T, m wire.Machine) func(in []byte) []byte {
	var sent []byte
	out := wire.NewOut(1000, func(b []byte) error {
		sent = append(sent, b...)
		return nil
	})
	return func(in []byte) []byte {
		sent = nil
		if _, err := m.Feed(t.Context(), in, out); err != nil {
			t.Fatal(err)
		}
		if err := out.Flush(); err != nil {
			t.Fatal(err)
		}
		return sent
	}
}
