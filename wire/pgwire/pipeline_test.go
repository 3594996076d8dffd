package pgwire_test

import (
	"testing"

	"nextid/wire"
	"nextid/wire/pgwire"
	"nextid/wire/wiretest"
)

func TestAPipelineIsAnsweredLikeSingleQueries(t *testing.T) {
	login := func() func(in []byte) []byte {
		sql, _ := wiretest.SQLWith(t, "")
		m := pgwire.New(pgwire.Config{SQL: sql, Logger: quiet()}).NewMachine(&wire.Conn{ID: 1})
		t.Cleanup(m.Close)
		ask := asker(t, m)
		ask(startupPacket(3<<16, "user", "u"))
		return ask
	}
	wiretest.CheckPipelines(t, login, queryMsg, "SELECT currval('far')", "SELECT 1/0", "SET application_name = 'y'",
		"SET application_name = 'x'; SELECT next_id('numbers')", "SELECT next_id('numbers'); SELECT next_id('near')")
}

// asker returns what feeds a machine and returns its answers.
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
