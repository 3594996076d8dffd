package pgwire_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"nextid/sqlfuncs"
	"nextid/wire"
	"nextid/wire/pgwire"
	"nextid/wire/wiretest"
)

// fuzzMachine feeds input to a new connection in two parts and checks the answers:
// whole messages that an independent decoder understands, and no internal error.
func fuzzMachine(t *testing.T, sql *sqlfuncs.Server, loggedIn bool, in []byte, cut int) {
	server := pgwire.New(pgwire.Config{SQL: wiretest.Ready(sql), Logger: quiet()})
	m := server.NewMachine(&wire.Conn{ID: 1})
	defer m.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second) // ends pg_sleep and other waits
	defer cancel()
	const most = 4 << 20
	sent := 0
	var answers []byte
	out := wire.NewOut(1<<16, func(b []byte) error {
		if sent += len(b); sent > most {
			return io.ErrShortWrite // a reader that has enough
		}
		answers = append(answers, b...)
		return nil
	})
	if loggedIn {
		if _, err := m.Feed(ctx, startupPacket(3<<16, "user", "u"), out); err != nil {
			t.Fatal(err)
		}
		out.B = out.B[:0]
	}
	cut = min(max(cut, 0), len(in))
	n, err := m.Feed(ctx, in[:cut:cut], out)
	if err == nil {
		if n > cut {
			t.Fatalf("consumed %d of %d bytes", n, cut)
		}
		_, _ = m.Feed(ctx, in[n:], out)
	}
	_ = out.Flush() // the length is checked above
	if !loggedIn {
		answers = bytes.TrimLeft(answers, "N") // to encryption requests, without a frame
	}
	if sent <= most {
		checkAnswers(t, answers)
	}
}

// checkAnswers decodes the server's answers. They must be whole messages.
func checkAnswers(t *testing.T, b []byte) {
	f := pgwire.NewDecoder(t, bytes.NewReader(b))
	for rest := b; len(rest) > 0; {
		if len(rest) < 5 || int(binary.BigEndian.Uint32(rest[1:]))+1 > len(rest) {
			t.Fatalf("the answer ends within a message: %q", rest)
		}
		rest = rest[binary.BigEndian.Uint32(rest[1:])+1:]
		m, err := f.Receive()
		if err != nil {
			t.Fatalf("the answer cannot be decoded: %v\n%q", err, b)
		}
		if e, ok := m.(*pgproto3.ErrorResponse); ok && e.Code == "XX000" {
			t.Fatalf("internal error: %s", e.Message)
		}
	}
}

func FuzzStartup(f *testing.F) {
	f.Add(startupPacket(3<<16, "user", "u", "options", "-c a.b=c"), 3)
	f.Add(startupPacket(3<<16|99, "user", "u", "_pq_.x", "1"), 9)
	f.Add(join(startupPacket(80877103), startupPacket(3<<16, "user", "u")), 8)
	f.Add([]byte{0, 0, 0, 8, 4, 210, 22, 47}, 4)
	sql := wiretest.SQL(f)
	f.Fuzz(func(t *testing.T, in []byte, cut int) { fuzzMachine(t, sql, false, in, cut) })
}

func FuzzMessages(f *testing.F) {
	for _, path := range fastPaths() {
		f.Add(join(path.prepare, path.ask), 7)
	}
	f.Add(join(queryMsg("COPY (SELECT 1) TO STDOUT"), queryMsg("BEGIN; SELECT 1/0"), queryMsg("ROLLBACK")), 20)
	f.Add(join(parseMsg("", "SELECT $1::int, $2", 23), bindMsg("p", "", 0, "1", "x"), describeMsg('P', "p"), executeMsg("p", 1), closeMsg('P', "p"), syncMsg()), 30)
	sql := wiretest.SQL(f)
	f.Fuzz(func(t *testing.T, in []byte, cut int) { fuzzMachine(t, sql, true, in, cut) })
}

// FuzzOneMessage puts fuzzed bodies into well-framed messages: the decoders
// of the messages, one by one.
func FuzzOneMessage(f *testing.F) {
	for _, m := range [][]byte{
		parseMsg("s", "SELECT next_id($1)", 25), bindMsg("", "s", 1, "orders"), describeMsg('S', "s"),
		executeMsg("", 5), closeMsg('S', "s"), queryMsg("SELECT next_id('orders')"),
	} {
		f.Add(m[0], m[5:])
	}
	sql := wiretest.SQL(f)
	f.Fuzz(func(t *testing.T, typ byte, body []byte) {
		known := parseMsg("s", "SELECT next_id($1)")
		fuzzMachine(t, sql, true, join(known, msg(typ, body), syncMsg()), len(known))
	})
}
