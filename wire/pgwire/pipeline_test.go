package pgwire_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"nextid/sqlfuncs/sqltest"
	"nextid/wire"
	"nextid/wire/pgwire"
	"nextid/wire/wiretest"
)

func TestAPipelineIsAnsweredLikeSingleQueries(t *testing.T) {
	login := func() func(in []byte) []byte {
		sql := sqltest.NewServer(t, sqltest.Config{NoAutoCreate: true}).Server
		m := pgwire.New(pgwire.Config{SQL: wiretest.Ready(sql), Logger: quiet()}).NewMachine(&wire.Conn{ID: 1})
		t.Cleanup(m.Close)
		ask := asker(t, m)
		ask(startupPacket(3<<16, "user", "u"))
		return ask
	}
	wiretest.CheckPipelines(t, login, login, queryMsg, queryMsg, "SELECT currval('far')", "SELECT 1/0", "SET application_name = 'y'",
		"SET application_name = 'x'; SELECT next_id('numbers')", "SELECT next_id('numbers'); SELECT next_id('near')")
}

// Executions of prepared statements that arrive together get the same answers as the
// same messages one by one.
func TestExecutionsTogetherAreAnsweredLikeMessagesAlone(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	names := []string{"numbers", "near", "down", "far", "few", "absent"}
	login := func() func(in []byte) []byte {
		sql := sqltest.NewServer(t, sqltest.Config{NoAutoCreate: true}).Server
		m := pgwire.New(pgwire.Config{SQL: wiretest.Ready(sql), Logger: quiet()}).NewMachine(&wire.Conn{ID: 1})
		t.Cleanup(m.Close)
		ask := asker(t, m)
		ask(startupPacket(3<<16, "user", "u"))
		for _, name := range names {
			ask(parseMsg(name, "SELECT next_id('"+name+"')"))
		}
		ask(join(parseMsg("any", "SELECT next_id($1)"), syncMsg()))
		return ask
	}
	loginAlone := func() func(in []byte) []byte {
		ask := login()
		return func(in []byte) (answers []byte) {
			for len(in) > 0 {
				n := 1 + int(binary.BigEndian.Uint32(in[1:]))
				answers = append(answers, ask(in[:n])...)
				in = in[n:]
			}
			return answers
		}
	}
	request := func(sql string) []byte {
		var b []byte
		portal := []string{"", "", "", "x"}[random.IntN(4)]
		format := random.IntN(2)
		switch name := names[random.IntN(len(names))]; random.IntN(4) {
		case 0:
			b = join(parseMsg("", sql), bindMsg(portal, "", format))
		case 1:
			b = bindMsg(portal, name, format)
		case 2:
			b = bindMsg(portal, "any", format, name)
		case 3:
			return queryMsg(sql)
		}
		if random.IntN(2) == 0 {
			b = join(b, describeMsg('P', portal))
		}
		if random.IntN(10) > 0 {
			b = join(b, executeMsg(portal, random.IntN(3)))
		}
		if random.IntN(2) > 0 {
			b = join(b, syncMsg())
		}
		return b
	}
	wiretest.CheckPipelines(t, loginAlone, login, queryMsg, request, "SET application_name = 'x'", "SET application_name = 'y'",
		"SET LOCAL application_name = 'z'", "RESET application_name", "SELECT 1/0", "SELECT currval('far')")
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

// ParameterStatus for a changed setting comes before the ReadyForQuery that ends the
// batch, also if a request for an id follows in the batch.
func TestParameterStatusComesBeforeReadyForQuery(t *testing.T) {
	m, out := machine(t)
	feed(t, m, out, join(parseMsg("id", "SELECT next_id('numbers')"), bindMsg("", "id", 0), executeMsg("", 0), syncMsg()))
	for name, id := range map[string][]byte{
		"execution": join(bindMsg("", "id", 0), executeMsg("", 0), syncMsg()),
		"query":     queryMsg("SELECT next_id('numbers')"),
	} {
		out.B = out.B[:0]
		feed(t, m, out, join(parseMsg("", "SET application_name = '"+name+"'"), bindMsg("", "", 0), executeMsg("", 0), id))
		status, ready := bytes.Index(out.B, []byte("application_name\x00"+name)), bytes.IndexByte(out.B, 'Z')
		if status < 0 || status > ready {
			t.Errorf("%s: ParameterStatus at byte %d, ReadyForQuery at %d", name, status, ready)
		}
	}
}

// Messages that end before their first field, with nothing behind them.
func TestEmptyMessagesAreRefused(t *testing.T) {
	for _, typ := range []byte("QPBDEC") {
		m, out := machine(t)
		out.B = out.B[:0]
		feed(t, m, out, msg(typ))
		if !bytes.Contains(out.B, []byte("C08P01")) {
			t.Errorf("%c: %q", typ, out.B)
		}
	}
}
