package pgwire_test

import (
	"bytes"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"nextid/sqlfuncs"
	"nextid/wire"
	"nextid/wire/pgwire"
	"nextid/wire/wiretest"
)

// A text that takes long to parse and plan waits for a CPU slot, as a long statement
// does. statement_timeout ends the wait.
func TestLongTextsTakeCPUSlots(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // one long statement works at a time
	sql, l := wiretest.SQL(t), listenPipes()
	wiretest.Serve(t, pgwire.New(pgwire.Config{SQL: wiretest.Ready(sql), Logger: quiet()}), l, wire.ErrServerClosed)
	busy, err := sql.NewSession(sqlfuncs.SessionOptions{User: "busy"})
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	if err := busy.Long(t.Context()); err != nil {
		t.Fatal(err)
	}
	dial := func() *client {
		conn, err := l.Dial()
		return loginOn(t, conn, err)
	}
	long := "SELECT length('" + strings.Repeat("x", sqlfuncs.LongText) + "')"
	simple, prepared, stopped, short := dial(), dial(), dial(), dial()
	simple.write(queryMsg(long))
	prepared.write(append(parseMsg("", long), syncMsg()...))
	stopped.write(queryMsg("SET statement_timeout = '50ms'"))
	stopped.until("ReadyForQuery")
	stopped.write(queryMsg(long))
	if got := strings.Join(stopped.until("ReadyForQuery"), " "); !strings.Contains(got, "57014") {
		t.Errorf("a text that waited too long: %s", got)
	}
	short.write(queryMsg("SELECT 1"))
	short.until("ReadyForQuery")
	ended, rested := make(chan time.Time, 1), make(chan struct{})
	time.AfterFunc(200*time.Millisecond, func() {
		ended <- time.Now()
		busy.Rest()
		close(rested) // the session is the test's again
	})
	for name, c := range map[string]*client{"a query": simple, "a statement that is prepared": prepared} {
		if got := strings.Join(c.until("ReadyForQuery"), " "); strings.Contains(got, "ErrorResponse") {
			t.Errorf("%s: %s", name, got)
		}
	}
	select {
	case <-ended:
	default:
		t.Error("a long text did not wait for a CPU slot")
	}
	<-rested
}

// statement_timeout ends the parsing and planning of a text.
func TestStatementTimeoutEndsLongTexts(t *testing.T) {
	l := listenPipes()
	wiretest.Serve(t, pgwire.New(pgwire.Config{SQL: wiretest.Ready(wiretest.SQL(t)), Logger: quiet()}), l, wire.ErrServerClosed)
	conn, err := l.Dial()
	c := loginOn(t, conn, err)
	c.write(queryMsg("SET statement_timeout = '5ms'"))
	c.until("ReadyForQuery")
	long := "SELECT true OR 1 IN (0" + strings.Repeat(", 0", 200_000) + ")" // runs in no time
	for name, message := range map[string][]byte{"a query": queryMsg(long), "a statement that is prepared": append(parseMsg("", long), syncMsg()...)} {
		c.write(message)
		if got := strings.Join(c.until("ReadyForQuery"), " "); !strings.Contains(got, "57014") {
			t.Errorf("%s: %.200s", name, got)
		}
		c.write(queryMsg("SELECT 1"))
		if got := strings.Join(c.until("ReadyForQuery"), " "); strings.Contains(got, "ErrorResponse") {
			t.Errorf("behind %s: %s", name, got)
		}
	}
}

// Statements that arrive together wait for a CPU slot once they have worked long
// together.
func TestManyShortStatementsAreALongOne(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // one long statement works at a time
	sql := wiretest.SQL(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	wiretest.Serve(t, pgwire.New(pgwire.Config{SQL: wiretest.Ready(sql), Logger: quiet()}), l, wire.ErrServerClosed)
	busy, err := sql.NewSession(sqlfuncs.SessionOptions{User: "busy"})
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	c := loginOn(t, conn, err)
	const many = 200
	one := queryMsg("SELECT count(*) FROM generate_series(1, 1000)")
	for range 2 { // short again, after the client was waited for
		c.write(one)
		c.until("ReadyForQuery")
	}
	if err := busy.Long(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.write(one) // a short one needs no CPU slot
	c.until("ReadyForQuery")
	began := time.Now()
	rested := make(chan struct{})
	time.AfterFunc(300*time.Millisecond, func() {
		busy.Rest()
		close(rested)
	})
	c.write(bytes.Repeat(one, many))
	for range many {
		c.until("ReadyForQuery")
	}
	if took := time.Since(began); took < 300*time.Millisecond {
		t.Errorf("%d statements that came together were done after %v, though another held the CPU slot", many, took)
	}
	<-rested
}
