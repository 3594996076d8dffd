package pgwire_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nextid/wire"
	"nextid/wire/pgwire"
	"nextid/wire/wiretest"
)

// answers feeds a logged-in machine and returns its answers as text.
func answers(t *testing.T, m wire.Machine, out *wire.Out, in []byte) []string {
	t.Helper()
	out.B = out.B[:0]
	feed(t, m, out, in)
	return decode(t, out.B)
}

func wantAnswers(t *testing.T, m wire.Machine, out *wire.Out, in []byte, want ...string) {
	t.Helper()
	if got := answers(t, m, out, in); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func TestTextMustBeUTF8(t *testing.T) {
	m, out := machine(t)
	const refused = "Error ERROR 22021"
	for name, in := range map[string][]byte{
		"query":     queryMsg("SELECT 'a\xffb'"),
		"comment":   queryMsg("SELECT 1 -- \xc3("),
		"statement": join(parseMsg("", "SELECT '\xe0\x80'"), syncMsg()),
		"name":      join(parseMsg("\xff", "SELECT 1"), syncMsg()),
		"portal":    join(parseMsg("", "SELECT 1"), bindMsg("\xff", "", 0), syncMsg()),
		"parameter": join(parseMsg("", "SELECT $1::text"), bindMsg("", "", 0, "\xed\xa0\x80"), syncMsg()),
	} {
		if got := strings.Join(answers(t, m, out, in), " "); !strings.Contains(got, refused+" ReadyForQuery I") {
			t.Errorf("%s: %s", name, got)
		}
	}
	wantAnswers(t, m, out, queryMsg("SELECT 'é漢𝄞'"),
		"RowDescription ?column?:25:0", "DataRow 0xc3a9e6bca2f09d849e", "CommandComplete SELECT 1", "ReadyForQuery I")
}

// Texts of the start-up packet that are not UTF-8 do not reach other sessions, which
// could not read them.
func TestStartupTextsBecomeUTF8(t *testing.T) {
	address, _ := startServer(t, wire.Limits{})
	c := dial(t, address)
	c.write(join(startupPacket(3<<16, "user", "M\xfcller", "database", "\xff", "application_name", "B\xfcro", "options", "-c a.b=\xfe"),
		queryMsg("SELECT current_user, current_database(), current_setting('application_name'), current_setting('a.b')")))
	c.until("ReadyForQuery")
	if got := c.until("ReadyForQuery")[1]; got != `DataRow "M?ller" "?" "B?ro" "?"` {
		t.Error(got)
	}
}

func TestLongNamesAreRefused(t *testing.T) {
	m, out := machine(t)
	for size, want := range map[int]string{1024: "ParseComplete", 1025: "Error ERROR 54000"} {
		wantAnswers(t, m, out, join(parseMsg(strings.Repeat("s", size), "SELECT 1"), syncMsg()), want, "ReadyForQuery I")
	}
	feed(t, m, out, parseMsg("", "SELECT 1"))
	for size, want := range map[int]string{1024: "BindComplete", 1025: "Error ERROR 54000"} {
		wantAnswers(t, m, out, join(bindMsg(strings.Repeat("p", size), "", 0), syncMsg()), want, "ReadyForQuery I")
	}
}

func TestResultFormatsAreCounted(t *testing.T) {
	m, out := machine(t)
	columns := strings.Repeat("1,", 256) + "1"
	bind := func(formats int) []byte {
		return msg('B', cstr(""), cstr(""), i16(0, 0, formats), i16(make([]int, formats)...))
	}
	for n, want := range map[int]string{256: "BindComplete", 257: "Error ERROR 54000"} {
		sql := "SELECT " + columns[:2*n-1]
		wantAnswers(t, m, out, join(parseMsg("", sql), bind(n), syncMsg()), "ParseComplete", want, "ReadyForQuery I")
	}
}

func TestStartupParametersAreCounted(t *testing.T) {
	for n, want := range map[int]string{32: "AuthenticationOk", 33: "Error FATAL 08P01"} {
		m := pgwire.New(pgwire.Config{SQL: wiretest.Ready(wiretest.SQL(t)), Logger: quiet()}).NewMachine(&wire.Conn{ID: 1})
		t.Cleanup(m.Close)
		out := wire.NewOut(1<<30, func([]byte) error { return nil })
		params := []string{"user", "u"}
		for range n - 1 {
			params = append(params, "application_name", "a")
		}
		_, _ = m.Feed(t.Context(), startupPacket(3<<16, params...), out)
		if got := decode(t, out.B)[0]; got != want {
			t.Errorf("%d parameters: %s, want %s", n, got, want)
		}
	}
}

func TestStartupPacketLengths(t *testing.T) {
	for length, ok := range map[uint32]bool{10_000: true, 10_001: false, 8: false, 7: false, 0: false, 1 << 31: false, 1<<32 - 1: false} {
		m := pgwire.New(pgwire.Config{SQL: wiretest.Ready(wiretest.SQL(t)), Logger: quiet()}).NewMachine(&wire.Conn{ID: 1})
		t.Cleanup(m.Close)
		out := wire.NewOut(1<<30, func([]byte) error { return nil })
		head := len(startupPacket(3<<16, "user", "u", "database", ""))
		packet := startupPacket(3<<16, "user", "u", "database", strings.Repeat("d", max(0, int(min(length, 20_000))-head)))
		binary.BigEndian.PutUint32(packet, length)
		_, err := m.Feed(t.Context(), packet, out)
		if first := decode(t, out.B)[0]; (first == "AuthenticationOk") != ok || (err == nil) != ok {
			t.Errorf("length %d: %s, %v", length, first, err)
		}
	}
}

func TestStartupSettings(t *testing.T) {
	for name, c := range map[string]struct {
		params []string
		show   string
		want   string
	}{
		"parameter":                   {[]string{"application_name", "a b"}, "application_name", "a b"},
		"option -c":                   {[]string{"options", "-c statement_timeout=5s"}, "statement_timeout", "5s"},
		"option -c without blank":     {[]string{"options", "-cstatement_timeout=5s"}, "statement_timeout", "5s"},
		"option --":                   {[]string{"options", "--statement-timeout=5s"}, "statement_timeout", "5s"},
		"escaped blank":               {[]string{"options", `-c application_name=a\ b`}, "application_name", "a b"},
		"escaped backslash":           {[]string{"options", `-c application_name=a\\b`}, "application_name", `a\b`},
		"many blanks":                 {[]string{"options", "  -c   application_name=x \t\n -c statement_timeout=1s "}, "application_name", "x"},
		"parameter wins over options": {[]string{"application_name", "p", "options", "-c application_name=o"}, "application_name", "p"},
		"last option wins":            {[]string{"options", "-c application_name=1 -c application_name=2"}, "application_name", "2"},
		"default idle in transaction": {nil, "idle_in_transaction_session_timeout", "1min"},
		"own idle in transaction":     {[]string{"idle_in_transaction_session_timeout", "5s"}, "idle_in_transaction_session_timeout", "5s"},
		"replication off":             {[]string{"replication", "false", "application_name", "r"}, "application_name", "r"},
	} {
		t.Run(name, func(t *testing.T) {
			for range 5 { // not by the luck of a map's order
				m := pgwire.New(pgwire.Config{SQL: wiretest.Ready(wiretest.SQL(t)), Logger: quiet()}).NewMachine(&wire.Conn{ID: 1})
				t.Cleanup(m.Close)
				out := wire.NewOut(1<<30, func([]byte) error { return nil })
				_, _ = m.Feed(t.Context(), startupPacket(3<<16, append([]string{"user", "u"}, c.params...)...), out)
				got := answers(t, m, out, queryMsg("SHOW "+c.show))
				if len(got) < 2 || got[1] != fmt.Sprintf("DataRow %q", c.want) {
					t.Fatalf("got %s", got)
				}
			}
		})
	}
}

func TestBadStartupOptions(t *testing.T) {
	for _, options := range []string{"-c", "-c x", "-cx", "--x", "--", "-c =1", "-f", "x", `\`, "-c a=b -d 5"} {
		m := pgwire.New(pgwire.Config{SQL: wiretest.Ready(wiretest.SQL(t)), Logger: quiet()}).NewMachine(&wire.Conn{ID: 1})
		t.Cleanup(m.Close)
		out := wire.NewOut(1<<30, func([]byte) error { return nil })
		_, err := m.Feed(t.Context(), startupPacket(3<<16, "user", "u", "options", options), out)
		if got := decode(t, out.B)[0]; got != "Error FATAL 42601" || err == nil {
			t.Errorf("%q: %s, %v", options, got, err)
		}
	}
}

func TestReplicationIsRefused(t *testing.T) {
	for _, value := range []string{"true", "on", "database", "1", "nonsense"} {
		m := pgwire.New(pgwire.Config{SQL: wiretest.Ready(wiretest.SQL(t)), Logger: quiet()}).NewMachine(&wire.Conn{ID: 1})
		t.Cleanup(m.Close)
		out := wire.NewOut(1<<30, func([]byte) error { return nil })
		_, _ = m.Feed(t.Context(), startupPacket(3<<16, "user", "u", "replication", value), out)
		if got := decode(t, out.B)[0]; got != "Error FATAL 0A000" {
			t.Errorf("%q: %s", value, got)
		}
	}
}

func TestFailedBlockRefusesOlderPortals(t *testing.T) {
	m, out := machine(t)
	feed(t, m, out, join(queryMsg("BEGIN"), parseMsg("s", "SELECT 1"), bindMsg("p", "s", 0), parseMsg("", "nonsense"), syncMsg()))
	for name, in := range map[string][]byte{
		"portal":           executeMsg("p", 0),
		"describe portal":  describeMsg('P', "p"),
		"describe":         describeMsg('S', "s"),
		"bind":             bindMsg("", "s", 0),
		"fast path prefix": join(parseMsg("", "SELECT next_id('numbers')")),
	} {
		got := answers(t, m, out, join(in, syncMsg()))
		if first := got[0]; first != "Error ERROR 25P02" && !(strings.Contains(name, "portal") && first == "Error ERROR 34000") {
			t.Errorf("%s: %s", name, got)
		}
	}
	wantAnswers(t, m, out, join(parseMsg("", "ROLLBACK"), describeMsg('S', ""), bindMsg("", "", 0), executeMsg("", 0), syncMsg()),
		"ParseComplete", "ParameterDescription []", "NoData", "BindComplete", "CommandComplete ROLLBACK", "ReadyForQuery I")
}

// bubble runs a test on a server on a network in memory, in virtual time.
func bubble(t *testing.T, limits wire.Limits, body func(t *testing.T, server *wire.Server, dial func() *client)) {
	t.Helper()
	sql := wiretest.SQL(t) // outside: the engines have timers of their own
	synctest.Test(t, func(t *testing.T) {
		server := pgwire.New(pgwire.Config{SQL: wiretest.Ready(sql), Limits: limits, Logger: quiet()})
		l := listenPipes()
		go func() { _ = server.Serve(l) }() // ends with Shutdown
		defer func() {
			if err := server.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
		}()
		body(t, server, func() *client {
			conn, err := l.Dial()
			return loginOn(t, conn, err)
		})
	})
}

// loginOn goes through the start-up on a connection without deadlines.
func loginOn(t *testing.T, conn net.Conn, err error) *client {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	c := newClient(t, conn)
	c.write(startupPacket(3<<16, "user", "postgres", "database", "postgres"))
	c.until("ReadyForQuery")
	return c
}

func TestIdleInTransactionIsEndedByDefault(t *testing.T) {
	bubble(t, wire.Limits{}, func(t *testing.T, _ *wire.Server, dial func() *client) {
		c := dial()
		c.write(queryMsg("BEGIN"))
		c.until("ReadyForQuery T")
		start := time.Now()
		if got := show(c.next()); got != "Error FATAL 25P03" {
			t.Error(got)
		}
		if d := time.Since(start); d != time.Minute {
			t.Errorf("after %v", d)
		}
	})
}

func TestSessionChoosesItsIdleInTransactionTimeout(t *testing.T) {
	bubble(t, wire.Limits{}, func(t *testing.T, _ *wire.Server, dial func() *client) {
		c := dial()
		c.write(queryMsg("SET idle_in_transaction_session_timeout = 0; BEGIN"))
		c.until("ReadyForQuery T")
		<-time.After(24 * time.Hour)
		c.write(queryMsg("SELECT 1"))
		c.until("ReadyForQuery T")
		c.write(queryMsg("ROLLBACK")) // for which the server would wait
		c.until("ReadyForQuery I")
	})
}

func TestIdleSessionLimit(t *testing.T) {
	bubble(t, wire.Limits{Idle: time.Hour}, func(t *testing.T, _ *wire.Server, dial func() *client) {
		c := dial()
		start := time.Now()
		if got := show(c.next()); got != "Error FATAL 57P05" {
			t.Error(got)
		}
		if d := time.Since(start); d != time.Hour {
			t.Errorf("after %v", d)
		}
	})
}

func TestShutdownCutOffSendsAnError(t *testing.T) {
	for name, statement := range map[string][]byte{
		"simple":   queryMsg("SELECT pg_sleep(3600)"),
		"extended": join(parseMsg("", "SELECT pg_sleep(3600)"), bindMsg("", "", 0), executeMsg("", 0), syncMsg()),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, wire.Limits{}, func(t *testing.T, server *wire.Server, dial func() *client) {
				c := dial()
				c.write(statement)
				synctest.Wait()
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				ended := make(chan error)
				go func() { ended <- server.Shutdown(ctx) }()
				got := c.until("Error")
				if last := got[len(got)-1]; last != "Error FATAL 57P01" {
					t.Error(got)
				}
				if m := c.next(); m != nil {
					t.Errorf("the last word is followed by %s", show(m))
				}
				if err := <-ended; !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
			})
		})
	}
}

// A client that leaves in the middle of an answer is no error of the server.
func TestVanishedClientIsNotLoggedAsAnError(t *testing.T) {
	for name, ask := range map[string][]byte{
		"ids":      queryMsg("SELECT * FROM next_ids('numbers', 10000)"),
		"values":   queryMsg("SELECT g, 'text' FROM generate_series(1, 10000) g"),
		"copy":     queryMsg("COPY (SELECT g FROM generate_series(1, 10000) g) TO STDOUT"),
		"extended": join(parseMsg("", "SELECT * FROM next_ids('numbers', 10000)"), bindMsg("", "", 0), executeMsg("", 0), syncMsg()),
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			m := pgwire.New(pgwire.Config{SQL: wiretest.Ready(wiretest.SQL(t)), Logger: slog.New(slog.NewTextHandler(&log, nil))}).NewMachine(&wire.Conn{ID: 1})
			t.Cleanup(m.Close)
			gone := errors.New("broken pipe")
			var broken error
			out := wire.NewOut(1<<10, func([]byte) error { return broken })
			feed(t, m, out, startupPacket(3<<16, "user", "u"))
			broken = gone
			if _, err := m.Feed(t.Context(), ask, out); !errors.Is(err, gone) {
				t.Errorf("Feed returned %v", err)
			}
			if log.Len() > 0 {
				t.Errorf("logged %s", log.String())
			}
		})
	}
}
