package pgwire_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"nextid/sqlfuncs/account"

	"nextid/sqlfuncs/sqltest"
	"nextid/wire"
	"nextid/wire/pgwire"
	"nextid/wire/wiretest"
)

// TestLengthsAreCheckedBeforeAnythingElse sends every message type with
// lengths at and over its limit. Only the header is sent: a server that
// allocates or waits for the body would hang or swell.
func TestLengthsAreCheckedBeforeAnythingElse(t *testing.T) {
	limits := wire.DefaultLimits
	address, _ := startServer(t, limits)
	for _, typ := range []byte("QPBFdCDEHSXcfp") {
		limit, skips := limits.Small, false
		if strings.IndexByte("QPBFd", typ) >= 0 {
			limit, skips = limits.Statement, true
		}
		for _, length := range []uint32{uint32(limit) + 5, 1<<30 + 1, 1<<31 - 1, 1 << 31, 1<<32 - 1, 0, 3} {
			if typ == 'd' && length == uint32(limit)+5 {
				continue // CopyData is ignored, whatever its length
			}
			t.Run(fmt.Sprintf("%c %d", typ, length), func(t *testing.T) {
				c := login(t, address)
				header := []byte{typ, 0, 0, 0, 0}
				binary.BigEndian.PutUint32(header[1:], length)
				c.write(header)
				want := "Error FATAL 08P01"
				if skips && length == uint32(limit)+5 {
					want = "Error ERROR 54000"
				}
				if got := show(c.next()); got != want {
					t.Fatalf("got %s, want %s", got, want)
				}
			})
		}
	}
}

// Bytes of incomplete messages are counted on the account of memory, from the first
// read on. A client gets an error when the account has no memory left. An account
// draws memory in grains of 64 KiB.
func TestBeginningsOfMessagesAreCounted(t *testing.T) {
	const grain, grains = 64 << 10, 8
	sql := sqltest.NewServer(t, sqltest.Config{NoAutoCreate: true, Memory: account.Limits{Server: 100 * grain, User: grains * grain, Session: grains * grain}}).Server
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	wiretest.Serve(t, pgwire.New(pgwire.Config{SQL: wiretest.Ready(sql), Logger: quiet()}), l, wire.ErrServerClosed)
	got := make(chan string, 7*grains)
	begin := func(bytes int) {
		c := login(t, l.Addr().String())
		c.write(append([]byte{'Q', 0, 0, 0xf0, 0}, make([]byte, bytes)...)) // of 60 KiB
		go func() {
			answer := make([]byte, 1000)
			n, _ := c.conn.Read(answer) // the end of the test closes it
			got <- string(answer[:n])
		}()
	}
	for range 5 * grains {
		begin(1000) // too small to be counted
	}
	for range 2 * grains {
		begin(20_000)
	}
	for range grains { // half of the larger ones
		select {
		case s := <-got:
			if !strings.Contains(s, "C53200") {
				t.Errorf("without memory the answer is %q", s)
			}
		case <-time.After(waitLimit):
			t.Fatal("too few of the beginnings are counted")
		}
	}
	select {
	case s := <-got:
		t.Errorf("with memory the answer is %q", s)
	case <-time.After(100 * time.Millisecond):
	}
}

// A message for which the account has no memory gets an error, and the connection
// goes on.
func TestMessageWithoutMemoryIsSkipped(t *testing.T) {
	sql := sqltest.NewServer(t, sqltest.Config{NoAutoCreate: true, Memory: account.Limits{Server: 1 << 20, User: 512 << 10, Session: 512 << 10}}).Server
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	wiretest.Serve(t, pgwire.New(pgwire.Config{SQL: wiretest.Ready(sql), Logger: quiet()}), l, wire.ErrServerClosed)
	c := login(t, l.Addr().String())
	long := "SELECT 1 --" + strings.Repeat("x", 590_000)
	for _, message := range [][]byte{queryMsg(long), join(parseMsg("", long), bindMsg("", "", 0), syncMsg())} {
		c.write(join(message, queryMsg("SELECT 2")))
		if first := strings.Join(c.until("ReadyForQuery"), "\n"); !strings.Contains(first, "Error ERROR 53200") {
			t.Errorf("a long message: %s", first)
		}
		if second := strings.Join(c.until("ReadyForQuery"), "\n"); !strings.Contains(second, `"2"`) {
			t.Errorf("the query behind it: %s", second)
		}
	}
}

// A row may hold one value in many columns. It counts as long as it is sent.
func TestRowsAreCounted(t *testing.T) {
	sql := sqltest.NewServer(t, sqltest.Config{NoAutoCreate: true, Memory: account.Limits{Server: 100 << 20, Session: 16 << 20}}).Server
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	wiretest.Serve(t, pgwire.New(pgwire.Config{SQL: wiretest.Ready(sql), Logger: quiet()}), l, wire.ErrServerClosed)
	c := login(t, l.Addr().String())
	value := strings.Repeat("x", 100_000)
	for _, columns := range []int{10, 1600, 1600, 40} { // nothing stays counted
		list := strings.Repeat("a.x, ", columns) + "1"
		want := "DataRow"
		if columns == 1600 {
			want = "Error ERROR 53200"
		}
		for name, in := range map[string][]byte{
			"column":    queryMsg("SELECT " + list + " FROM (SELECT repeat('x', 100000) AS x) a"),
			"literal":   queryMsg("SELECT " + list + " FROM (SELECT '" + value + "' AS x) a"),
			"parameter": join(parseMsg("", "SELECT "+list+" FROM (SELECT $1::text AS x) a"), bindMsg("", "", 0, value), executeMsg("", 0), syncMsg()),
			"copy":      queryMsg("COPY (SELECT " + list + " FROM (SELECT repeat('x', 100000) AS x) a) TO STDOUT"),
			"cursor":    queryMsg("BEGIN; DECLARE c CURSOR FOR SELECT " + list + " FROM (SELECT repeat('x', 100000) AS x) a; FETCH c; ROLLBACK"),
		} {
			c.write(join(in, queryMsg("ROLLBACK")))
			got := append(c.until("ReadyForQuery"), c.until("ReadyForQuery")...)
			if !slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, want) || name == "copy" && columns < 1600 }) {
				t.Errorf("%s, %d columns: no %s in %.300q", name, columns, want, got)
			}
		}
	}
}

// Messages behind the login wait for the next Feed. If the account has no memory for
// them, the connection ends: half of them cannot be skipped.
func TestWholeMessagesAreNotDropped(t *testing.T) {
	for _, held := range [][]byte{queryMsg("SELECT 1"), join(queryMsg("SELECT 1"), queryMsg("SELECT 2")[:7])} {
		m, out := machine(t)
		if err := m.Drop(held, out); err == nil {
			t.Errorf("%q: the connection goes on, with %q", held, out.B)
		}
	}
}

func TestLongStatementIsSkippedAndTheConnectionGoesOn(t *testing.T) {
	address, _ := startServer(t, wire.Limits{Statement: 1000})
	for _, size := range []int{999, 1000, 1001, 5000, 200_000} {
		c := login(t, address)
		sql := "SELECT 1 --" + strings.Repeat("x", size-12)
		c.write(join(queryMsg(sql), queryMsg("SELECT 2")))
		first := strings.Join(c.until("ReadyForQuery"), "\n")
		if tooLong := size > 1000; tooLong != strings.Contains(first, "54000") {
			t.Errorf("%d bytes: %s", size, first)
		}
		if second := strings.Join(c.until("ReadyForQuery"), "\n"); !strings.Contains(second, `"2"`) {
			t.Errorf("%d bytes: the next query got %s", size, second)
		}
	}
}

func TestParametersAreCounted(t *testing.T) {
	address, _ := startServer(t, wire.Limits{})
	c := login(t, address)
	for n, want := range map[int]string{256: "ParseComplete", 257: "Error ERROR 54000"} {
		c.write(join(parseMsg("", "SELECT 1", make([]int, n)...), syncMsg()))
		if got := c.until("ReadyForQuery")[0]; got != want {
			t.Errorf("%d parameter types: %s, want %s", n, got, want)
		}
	}
	for limit, want := range map[int]string{299: "Error ERROR 54000", 300: "BindComplete"} {
		address, _ := startServer(t, wire.Limits{Parameters: limit})
		c := login(t, address)
		var sum strings.Builder
		for i := range 300 {
			fmt.Fprintf(&sum, "+ $%d::int", i+1)
		}
		c.write(join(parseMsg("", "SELECT "+sum.String()), bindMsg("", "", 0, slices.Repeat([]string{"1"}, 300)...), syncMsg()))
		if got := c.until("ReadyForQuery")[1]; got != want {
			t.Errorf("300 values, with a limit of %d: %s, want %s", limit, got, want)
		}
	}
	// A count that the message cannot hold must not be believed.
	c.write(msg('P', cstr(""), cstr("SELECT 1"), i16(65535)))
	if got := show(c.next()); got != "Error ERROR 08P01" {
		t.Errorf("65535 types in an empty message: %s", got)
	}
}

// refusedAtConnect dials and returns the error that the server sends.
func refusedAtConnect(t *testing.T, address string) string {
	t.Helper()
	c := dial(t, address)
	c.write(startupPacket(3<<16, "user", "u")) // the error follows it
	return show(c.next())
}

func TestConnectionsAreCounted(t *testing.T) {
	address, server := startServer(t, wire.Limits{Connections: 8, ReservedForSocket: 5, PerIP: 100})
	var clients []*client
	for range 3 {
		clients = append(clients, login(t, address))
	}
	if got := refusedAtConnect(t, address); got != "Error FATAL 53300" {
		t.Errorf("the fourth of three: %s", got)
	}
	clients[0].write(msg('X'))
	if got := show(clients[0].next()); got != "closed" {
		t.Fatalf("after Terminate: %s", got)
	}
	for deadline := time.Now().Add(waitLimit); server.Connections() > 2; {
		if time.Now().After(deadline) {
			t.Fatal("the closed connection is still counted")
		}
	}
	login(t, address)
}

func TestConnectionsOfOneAddressAreCounted(t *testing.T) {
	address, _ := startServer(t, wire.Limits{PerIP: 2})
	login(t, address)
	login(t, address)
	if got := refusedAtConnect(t, address); got != "Error FATAL 53300" {
		t.Errorf("the third of two: %s", got)
	}
}

func TestSilentClientsAreClosedBeforeTheLogin(t *testing.T) {
	address, _ := startServer(t, wire.Limits{FirstByte: 50 * time.Millisecond, Login: 200 * time.Millisecond})
	// A client that sends nothing may be one of MySQL, which waits for a greeting.
	db, err := sql.Open("mysql", "u@tcp("+address+")/shop")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.PingContext(t.Context()); err == nil || !strings.Contains(err.Error(), "PostgreSQL port of nextid") {
		t.Errorf("a silent client got %v", err)
	}
	// One byte now and then does not prolong the login.
	slow := dial(t, address)
	packet := startupPacket(3<<16, "user", "u", "database", strings.Repeat("d", 100))
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		for _, b := range packet {
			if _, err := slow.conn.Write([]byte{b}); err != nil {
				return
			}
			select {
			case <-time.After(20 * time.Millisecond):
			case <-t.Context().Done():
				return
			}
		}
	}()
	if got := show(slow.next()); got != "Error FATAL 57014" {
		t.Errorf("a client that drips its login got %s", got)
	}
	<-closed
}

// A client requests far more than it reads. The server closes the connection after
// Limits.Write, and serves others meanwhile.
func TestASlowReaderCostsLittle(t *testing.T) {
	address, server := startServer(t, wire.Limits{Write: 300 * time.Millisecond})
	stuck := login(t, address)
	if tcp, ok := stuck.conn.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(4096) // as small as the system allows
	}
	go func() { // the server stops reading, so that this blocks
		_, _ = stuck.conn.Write(bytes.Repeat(queryMsg("SELECT * FROM next_ids('numbers', 10000)"), 1000))
	}()
	other := login(t, address)
	for deadline := time.Now().Add(waitLimit); server.Connections() > 1; {
		if time.Now().After(deadline) {
			t.Fatal("the stuck client is still connected")
		}
		other.write(queryMsg("SELECT next_id('numbers')"))
		other.until("ReadyForQuery")
	}
}

func TestCancelEndsAStatement(t *testing.T) {
	address, _ := startServer(t, wire.Limits{})
	for _, minor := range []int{0, 2} {
		c := dial(t, address)
		c.write(startupPacket(3<<16|minor, "user", "u"))
		key := c.backendKey()
		if want := map[int]int{0: 4, 2: 32}[minor]; len(key)-4 != want {
			t.Errorf("protocol 3.%d: secret of %d bytes, want %d", minor, len(key)-4, want)
		}
		c.write(queryMsg("SELECT 1; SELECT pg_sleep(60)"))
		c.until("CommandComplete") // sent because the second one waits: it can be cancelled now
		wrong := bytes.Clone(key)
		wrong[len(wrong)-1] ^= 1
		for _, k := range [][]byte{wrong, key} { // the wrong key must do nothing
			request := append(i32(0, 80877102), k...)
			binary.BigEndian.PutUint32(request, uint32(len(request)))
			x := dial(t, address)
			x.write(request)
			if got := show(x.next()); got != "closed" {
				t.Errorf("a cancel request was answered with %s", got)
			}
		}
		if got := strings.Join(c.until("ReadyForQuery"), "\n"); !strings.Contains(got, "Error ERROR 57014") {
			t.Errorf("protocol 3.%d: %s", minor, got)
		}
	}
}

// backendKey reads up to ReadyForQuery and returns the body of
// BackendKeyData.
func (c *client) backendKey() []byte {
	c.t.Helper()
	var key []byte
	for {
		header := make([]byte, 5)
		c.readFull(header)
		body := make([]byte, binary.BigEndian.Uint32(header[1:])-4)
		c.readFull(body)
		switch header[0] {
		case 'K':
			key = body
		case 'Z':
			return key
		}
	}
}

func (c *client) readFull(b []byte) {
	c.t.Helper()
	for n := 0; n < len(b); {
		m, err := c.conn.Read(b[n:])
		if err != nil {
			c.t.Fatal(err)
		}
		n += m
	}
}

func TestStatementTimeout(t *testing.T) {
	address, _ := startServer(t, wire.Limits{})
	c := login(t, address)
	c.write(queryMsg("SET statement_timeout = 50; SELECT pg_sleep(60)"))
	if got := strings.Join(c.until("ReadyForQuery"), "\n"); !strings.Contains(got, "Error ERROR 57014") {
		t.Error(got)
	}
}

// A session may set a shorter idle timeout than the server's, and no longer one.
func TestIdleSessionTimeout(t *testing.T) {
	for _, tc := range []struct {
		limit time.Duration
		set   string
	}{{0, "50"}, {time.Hour, "'50ms'"}, {50 * time.Millisecond, "0"}, {50 * time.Millisecond, "'1h'"}} {
		address, _ := startServer(t, wire.Limits{Idle: tc.limit})
		c := login(t, address)
		c.write(queryMsg("SET idle_session_timeout = " + tc.set))
		c.until("ReadyForQuery")
		if got := show(c.next()); got != "Error FATAL 57P05" {
			t.Errorf("a limit of %s and SET %s: %s", tc.limit, tc.set, got)
		}
	}
}

func TestIdleInTransactionTimeout(t *testing.T) {
	address, _ := startServer(t, wire.Limits{})
	c := login(t, address)
	c.write(queryMsg("SET idle_in_transaction_session_timeout = 50; BEGIN"))
	c.until("ReadyForQuery")
	if got := show(c.next()); got != "Error FATAL 25P03" {
		t.Error(got)
	}
}

func TestShutdownLetsStatementsFinish(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := pgwire.New(pgwire.Config{SQL: wiretest.Ready(wiretest.SQL(t)), Logger: quiet()})
	go func() { _ = server.Serve(l) }() // ends with Shutdown
	idle, busy := login(t, l.Addr().String()), login(t, l.Addr().String())
	busy.write(queryMsg("SELECT 1, pg_sleep(0.3)"))
	done := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
		defer cancel()
		done <- server.Shutdown(ctx)
	}()
	if got := show(idle.next()); got != "Error FATAL 57P01" {
		t.Errorf("the idle client got %s", got)
	}
	// Either the statement had begun and finishes, or it came too late.
	if got := strings.Join(busy.until("Error FATAL 57P01"), "\n"); strings.Contains(got, "57014") {
		t.Errorf("the busy client got %s", got)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestShutdownCutsOffWhatDoesNotEnd(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := pgwire.New(pgwire.Config{SQL: wiretest.Ready(wiretest.SQL(t)), Logger: quiet()})
	go func() { _ = server.Serve(l) }() // ends with Shutdown
	c := login(t, l.Addr().String())
	c.write(queryMsg("SELECT 1; SELECT pg_sleep(60)"))
	c.until("CommandComplete")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := server.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Shutdown returned %v", err)
	}
}
