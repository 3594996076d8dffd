package pgwire_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"nextid/sqlfuncs"
	"nextid/wire"
	"nextid/wire/pgwire"
	"nextid/wire/wiretest"
)

// passwords requests two clear-text passwords: the user's name, twice.
func passwords(user string, _ *wire.Conn) pgwire.Exchange { return &passwordExchange{user: user} }

type passwordExchange struct {
	user  string
	asked int
}

func (e *passwordExchange) Authorize(o *sqlfuncs.SessionOptions) { o.Admin = e.user == "root" }

func (e *passwordExchange) Next(_ context.Context, answer []byte) (request pgproto3.BackendMessage, done bool, err error) {
	e.asked++
	switch {
	case e.asked == 1:
		return &pgproto3.AuthenticationCleartextPassword{}, false, nil
	case string(answer) != e.user+"\x00":
		return nil, false, errors.New("secret detail")
	case e.asked == 2:
		return &pgproto3.AuthenticationCleartextPassword{}, false, nil
	}
	return nil, true, nil
}

// machineInState makes a machine in one of the states of a connection.
func machineInState(t *testing.T, state string) (m wire.Machine, out *wire.Out) {
	t.Helper()
	cfg := pgwire.Config{SQL: wiretest.Ready(wiretest.SQL(t)), Logger: quiet()}
	if state == "identifying" {
		cfg.Auth = passwords
	}
	m = pgwire.New(cfg).NewMachine(&wire.Conn{ID: 1})
	t.Cleanup(m.Close)
	out = wire.NewOut(1<<30, func([]byte) error { return nil })
	if state == "starting" {
		return m, out
	}
	feed(t, m, out, startupPacket(3<<16, "user", "u"))
	switch state {
	case "skipping":
		feed(t, m, out, parseMsg("", "nonsense"))
	case "failed block":
		feed(t, m, out, join(queryMsg("BEGIN; SELECT 1 AS before"), queryMsg("nonsense")))
	}
	out.B = out.B[:0]
	return m, out
}

// tags returns the type bytes of the messages in b.
func tags(b []byte) string {
	var s strings.Builder
	for len(b) >= 5 {
		s.WriteByte(b[0])
		n := 1 + int(b[1])<<24 + int(b[2])<<16 + int(b[3])<<8 + int(b[4])
		b = b[min(n, len(b)):]
	}
	return s.String() + string(b)
}

// TestEveryMessageInEveryState checks a table of the answers to each message in each
// state. An answer is the types of its messages. "!" means that the connection ends.
func TestEveryMessageInEveryState(t *testing.T) {
	messages := map[byte][]byte{
		'Q': queryMsg("SELECT 1"),
		'P': parseMsg("x", "SELECT 1"),
		'B': bindMsg("", "", 0),
		'D': describeMsg('S', "nope"),
		'E': executeMsg("nope", 0),
		'C': closeMsg('S', "nope"),
		'H': msg('H'),
		'S': syncMsg(),
		'F': msg('F', i32(1), i16(0, 0, 0)),
		'd': msg('d', cstr("data")),
		'c': msg('c'),
		'f': msg('f', cstr("reason")),
		'p': msg('p', cstr("wrong")),
		'X': msg('X'),
		'R': msg('R', i32(0)), // a server's message
		0:   msg(0),
	}
	for state, want := range map[string]map[byte]string{
		"starting": {
			'Q': "E!", 'P': "E!", 'B': "E!", 'D': "E!", 'E': "E!", 'C': "E!", 'H': "E!", 'S': "E!", 'F': "E!",
			'd': "E!", 'c': "E!", 'f': "E!", 'p': "E!", 'X': "E!", 'R': "E!", 0: "E!",
		},
		"identifying": {
			'Q': "E!", 'P': "E!", 'B': "E!", 'D': "E!", 'E': "E!", 'C': "E!", 'H': "E!", 'S': "E!", 'F': "E!",
			'd': "E!", 'c': "E!", 'f': "E!", 'p': "E!", 'X': "E!", 'R': "E!", 0: "E!",
		},
		"ready": {
			'Q': "TDCZ", 'P': "1", 'B': "E", 'D': "E", 'E': "E", 'C': "3", 'H': "", 'S': "Z", 'F': "EZ",
			'd': "", 'c': "", 'f': "", 'p': "E!", 'X': "!", 'R': "E!", 0: "E!",
		},
		"skipping": {
			'Q': "", 'P': "", 'B': "", 'D': "", 'E': "", 'C': "", 'H': "", 'S': "Z", 'F': "",
			'd': "", 'c': "", 'f': "", 'p': "", 'X': "!", 'R': "E!", 0: "E!",
		},
		"failed block": {
			'Q': "EZ", 'P': "E", 'B': "E", 'D': "E", 'E': "E", 'C': "3", 'H': "", 'S': "Z", 'F': "EZ",
			'd': "", 'c': "", 'f': "", 'p': "E!", 'X': "!", 'R': "E!", 0: "E!",
		},
	} {
		for typ, in := range messages {
			t.Run(fmt.Sprintf("%s %q", state, string(typ)), func(t *testing.T) {
				m, out := machineInState(t, state)
				_, err := m.Feed(t.Context(), in, out)
				got := tags(out.B)
				if err != nil {
					got += "!"
				}
				if got != want[typ] {
					t.Errorf("got %q, want %q", got, want[typ])
				}
			})
		}
	}
}

func TestLoginByAnAuthenticator(t *testing.T) {
	for name, c := range map[string]struct {
		user, first, second, want string
	}{
		"right":        {"anna", "anna", "anna", "AuthenticationCleartextPassword AuthenticationCleartextPassword AuthenticationOk"},
		"wrong":        {"anna", "bert", "", "AuthenticationCleartextPassword Error FATAL XX000"},
		"wrong second": {"anna", "anna", "bert", "AuthenticationCleartextPassword AuthenticationCleartextPassword Error FATAL XX000"},
	} {
		t.Run(name, func(t *testing.T) {
			m := pgwire.New(pgwire.Config{SQL: wiretest.Ready(wiretest.SQL(t)), Logger: quiet(), Auth: passwords}).NewMachine(&wire.Conn{ID: 1})
			t.Cleanup(m.Close)
			out := wire.NewOut(1<<30, func([]byte) error { return nil })
			in := join(startupPacket(3<<16, "user", c.user), msg('p', cstr(c.first)), msg('p', cstr(c.second)))
			_, _ = m.Feed(t.Context(), in, out)
			var got []string
			for _, line := range decode(t, out.B) {
				if strings.HasPrefix(line, "Auth") || strings.HasPrefix(line, "Error") {
					got = append(got, line)
				}
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("got %s\nwant %s", s, c.want)
			}
			if strings.Contains(string(out.B), "secret detail") {
				t.Error("the client learns why")
			}
		})
	}
}

// The right password in the wrong message is no login.
func TestOnlyAnswersAreReadWhileIdentifying(t *testing.T) {
	for _, typ := range []byte("QPBDECHSFdcfX") {
		m, out := machineInState(t, "identifying")
		_, err := m.Feed(t.Context(), msg(typ, cstr("u")), out)
		if got := decode(t, out.B)[0]; got != "Error FATAL 08P01" || err == nil {
			t.Errorf("%c: %s, %v", typ, got, err)
		}
	}
}

func TestOnlyAdministratorsCreateGenerators(t *testing.T) {
	for user, want := range map[string]string{"root": "CommandComplete CREATE SEQUENCE", "anna": "Error ERROR 42501"} {
		m := pgwire.New(pgwire.Config{SQL: wiretest.Ready(wiretest.SQL(t)), Logger: quiet(), Auth: passwords}).NewMachine(&wire.Conn{ID: 1})
		t.Cleanup(m.Close)
		out := wire.NewOut(1<<30, func([]byte) error { return nil })
		feed(t, m, out, join(startupPacket(3<<16, "user", user), msg('p', cstr(user)), msg('p', cstr(user))))
		out.B = out.B[:0]
		feed(t, m, out, queryMsg("CREATE SEQUENCE mine"))
		if got := decode(t, out.B)[0]; got != want {
			t.Errorf("%s: %s, want %s", user, got, want)
		}
	}
}

func TestPasswordMessageHasALimit(t *testing.T) {
	for length, want := range map[uint32]string{
		1028: "Error FATAL XX000", // read, and wrong
		1029: "Error FATAL 08P01", 3: "Error FATAL 08P01", 0: "Error FATAL 08P01",
		1 << 31: "Error FATAL 08P01", 1<<32 - 1: "Error FATAL 08P01",
	} {
		m, out := machineInState(t, "identifying")
		in := make([]byte, 5+1024)
		in[0] = 'p'
		binary.BigEndian.PutUint32(in[1:], length)
		if _, err := m.Feed(t.Context(), in, out); err == nil {
			t.Errorf("length %d: the connection goes on", length)
		}
		if got := decode(t, out.B)[0]; got != want {
			t.Errorf("length %d: %s, want %s", length, got, want)
		}
	}
}
