package mysqlwire_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"nextid/sqlfuncs"
	memory "nextid/sqlfuncs/account"
	"nextid/sqlfuncs/sqltest"
	"nextid/wire"
	"nextid/wire/mysqlwire"
	"nextid/wire/wiretest"
)

// header is a packet's header.
func header(length int, seq byte) []byte {
	return []byte{byte(length), byte(length >> 8), byte(length >> 16), seq}
}

// TestLengthsAreCheckedBeforeAnythingElse sends every command with a length
// over its limit. Only the header and the type are sent: a server that
// allocates or waits for the rest would hang or swell.
func TestLengthsAreCheckedBeforeAnythingElse(t *testing.T) {
	limits := wire.DefaultLimits
	piece := make([]byte, 1<<20)
	for _, typ := range []int{0x00, 0x01, 0x02, 0x03, 0x04, 0x09, 0x0c, 0x0e, 0x11, 0x12, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1f, 0x7f, 0xfa, 0xff} {
		limit := limits.Small
		switch typ {
		case 0x03, 0x16, 0x17, 0x18, 0xfa:
			limit = limits.Statement + 1
		case 0x11:
			limit = 16 << 10
		}
		m, out := machine(t, plain)
		for _, length := range []int{limit + 1, 1<<24 - 2, 1<<24 - 1} {
			out.B = out.B[:0]
			in := append(header(length, 0), byte(typ))
			n, err := m.Feed(t.Context(), in, out)
			if typ == 0x18 || typ == 0x19 { // no answer that the client would read
				if err == nil {
					t.Fatalf("type %#x, length %d: the connection goes on", typ, length)
				}
				m, out = machine(t, plain)
				continue
			}
			if err != nil || n != len(in) || len(out.B) > 0 {
				t.Fatalf("type %#x, length %d: consumed %d, answered %q, %v", typ, length, n, out.B, err)
			}
			for left := length - 1; left > 0; { // is thrown away as it comes
				part := piece[:min(left, len(piece))]
				left -= len(part)
				feed(t, m, out, part)
			}
			if length == 1<<24-1 {
				feed(t, m, out, packet(1, nil))
			}
			d := &decoder{r: bytes.NewReader(out.B), caps: plain, seq: 1}
			if length == 1<<24-1 {
				d.seq = 2 // behind a chain of two
			}
			b, err := d.next()
			if err != nil || !strings.HasPrefix(d.err(&fields{b[1:]}), "ERR 1153 08S01") {
				t.Fatalf("type %#x, length %d: %q, %v", typ, length, out.B, err)
			}
		}
		if got := answers(t, m, out, plain, query("SELECT next_id('numbers')"), "text"); len(got) != 4 {
			t.Fatalf("type %#x: the connection does not go on: %q", typ, got)
		}
	}
}

// TestLongCommands sends statements up to the limit and beyond, in one packet
// and in chains of packets.
func TestLongCommands(t *testing.T) {
	const limit = 17 << 20
	sizes := []int{1000, 1<<24 - 2, 1<<24 - 1, 1 << 24, limit, limit + 1, 2 << 24}
	if raceEnabled { // which makes long texts very slow
		sizes = []int{1000, 2 << 24}
	}
	address, _ := startServer(t, mysqlwire.Config{Limits: wire.Limits{Statement: limit, Message: time.Minute}})
	const head = "SELECT 1 AS a -- "
	for _, size := range sizes {
		c := login(t, address, plain)
		go func(b []byte) { // the answer may come before the end
			_, _ = c.conn.Write(b)
		}(join(query(head+strings.Repeat("x", size-len(head))), command(0x0e)))
		packets := (size+1)/(1<<24-1) + 1
		c.seq = byte(packets)
		b, err := c.next()
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		if size > limit {
			if got := c.err(&fields{b[1:]}); !strings.HasPrefix(got, "ERR 1153 08S01") {
				t.Errorf("%d bytes: %s", size, got)
			}
		} else {
			lines, _, err := c.result("text", b, nil, nil)
			if err != nil || len(lines) != 4 || lines[2] != `Row "1"` {
				t.Errorf("%d bytes: %q, %v", size, lines, err)
			}
		}
		if got := c.read("text"); !strings.HasPrefix(got[0], "OK") {
			t.Errorf("%d bytes: the ping behind it got %q", size, got)
		}
		_ = c.conn.Close()
	}
}

// A command for which the account has no memory gets an error, and the connection
// goes on.
func TestCommandWithoutMemoryIsSkipped(t *testing.T) {
	sql := sqltest.NewServer(t, sqltest.Config{NoAutoCreate: true, Memory: memory.Limits{Server: 1 << 20, User: 512 << 10, Session: 512 << 10}}).Server
	address, _ := startServer(t, mysqlwire.Config{SQL: wiretest.Ready(sql)})
	c := login(t, address, plain)
	go func(b []byte) { _, _ = c.conn.Write(b) }(join(query("SELECT 1 -- "+strings.Repeat("x", 590_000)), command(0x0e)))
	c.seq = 1
	if got := c.read("text"); !strings.HasPrefix(got[0], "ERR 1041") {
		t.Errorf("a long command: %q", got)
	}
	if got := c.read("text"); !strings.HasPrefix(got[0], "OK") {
		t.Errorf("the ping behind it: %q", got)
	}
}

// MariaDB cuts the names of result columns at 255 bytes. Without that, a list of many
// columns could repeat the text of a long expression.
func TestLongColumnNames(t *testing.T) {
	m, out := machine(t, plain)
	for sql, want := range map[string]string{
		"SELECT CONCAT('" + strings.Repeat("x", 1000) + "', '')":             "CONCAT('" + strings.Repeat("x", 247) + ":",
		"SELECT 1 AS '" + strings.Repeat("ü", 200) + "'":                     strings.Repeat("ü", 127) + ":",
		"SELECT a.* FROM (SELECT '" + strings.Repeat("x", 1000) + "') a":     ".a." + strings.Repeat("x", 255) + "(",
		"SELECT a.* FROM (SELECT 1 AS '" + strings.Repeat("x", 256) + "') a": ".a." + strings.Repeat("x", 255) + "(",
	} {
		if got := answers(t, m, out, plain, query(sql), "text")[0]; !strings.HasPrefix(got, "Column "+want) {
			t.Errorf("%.40s: %s", sql, got)
		}
	}
}

// A result of more than 16 MB comes in several packets.
func TestLongRows(t *testing.T) {
	m, out := machine(t, plain)
	for _, size := range []int{1<<24 - 7, 1<<24 - 6, 1<<24 - 5, 1<<24 - 4, 1 << 24, 2<<24 - 8} {
		got := answers(t, m, out, plain, query(fmt.Sprintf("SELECT repeat('x', %d) AS a", size)), "text")
		if len(got) == 4 && strings.HasPrefix(got[2], "Row") {
			if n := len(got[2]) - len(`Row ""`); n != size {
				t.Errorf("%d of %d bytes came", n, size)
			}
		} else if !strings.HasPrefix(got[len(got)-1], "ERR 1226") { // a limit of the SQL layer
			t.Errorf("%d bytes: %.200q", size, got)
		}
	}
}

// stages brings a connection into every state that a client can reach. It returns
// the sequence number of the client's next packet.
var stages = map[string]func(t *testing.T, address string) (c *client, seq byte){
	"greeted": func(t *testing.T, address string) (*client, byte) {
		return dial(t, address).greet(), 1
	},
	"switching": func(t *testing.T, address string) (*client, byte) {
		c := dial(t, address).greet()
		c.caps = plain
		c.send(response(plain, "fast", "", "", "dialog"))
		c.wantOutcome("switch caching_sha2_password")
		return c, 3
	},
	"full exchange": func(t *testing.T, address string) (*client, byte) {
		c := dial(t, address).greet()
		c.caps = plain
		c.send(response(plain, "slow", scramble256("secret", c.greeting.nonce), "", "caching_sha2_password"))
		c.wantOutcome(`more "\x04"`)
		return c, 3
	},
	"key sent": func(t *testing.T, address string) (*client, byte) {
		c := dial(t, address).greet()
		c.caps = plain
		c.send(response(plain, "slow", scramble256("secret", c.greeting.nonce), "", "caching_sha2_password"))
		c.wantOutcome(`more "\x04"`)
		c.send([]byte{2})
		c.wantOutcome("more …")
		return c, 5
	},
	"ready": func(t *testing.T, address string) (*client, byte) {
		c := dial(t, address).greet()
		c.caps = plain
		c.send(response(plain, "fast", scramble256("secret", c.greeting.nonce), "", "caching_sha2_password"))
		c.wantOutcome(`more "\x03"`)
		c.wantOutcome("OK")
		return c, 0
	},
}

// TestEveryPacketInEveryState is the table of states: before the login no
// command does anything but end the connection, and a packet out of order
// always does.
func TestEveryPacketInEveryState(t *testing.T) {
	address, _ := startServer(t, mysqlwire.Config{Auth: people.Begin})
	bodies := map[string][]byte{
		"empty": nil, "one": {1}, "query": append([]byte{3}, "SELECT next_id('numbers')"...), "quit": {1}, "ping": {0x0e},
		"change user": append([]byte{0x11}, "fast\x00\x00\x00"...), "random": []byte("\x8a\x21\xff\x00\x00\xfb\x10garbage"),
		"response": response(plain, "fast", "", "", "caching_sha2_password"), "long": make([]byte, 16<<10),
	}
	for stage, reach := range stages {
		for name, body := range bodies {
			t.Run(stage+"/"+name, func(t *testing.T) {
				c, seq := reach(t, address)
				if stage == "ready" {
					c.write(packet(0, body))
					c.seq = 1
					if got := c.outcome(); got == "closed" && name != "quit" && name != "one" && name != "change user" {
						t.Errorf("the connection ended")
					}
					return
				}
				c.write(packet(seq, body))
				c.seq = seq + 1
				got := c.outcome()
				if got == "OK" {
					t.Fatal("logged in")
				}
				if strings.HasPrefix(got, "switch") { // a handshake response in its place
					return
				}
				if strings.HasPrefix(got, "ERR") {
					got = c.outcome()
				}
				if got != "closed" {
					t.Errorf("the connection goes on: %q", got)
				}
			})
		}
		t.Run(stage+"/out of order", func(t *testing.T) {
			c, seq := reach(t, address)
			c.write(packet(seq+1, bodies["query"]))
			got, err := io.ReadAll(c.conn) // to the end of the connection
			if err != nil || !strings.Contains(string(got), "Got packets out of order") {
				t.Errorf("%q, %v", got, err)
			}
		})
		t.Run(stage+"/PostgreSQL's SSLRequest", func(t *testing.T) {
			c, _ := reach(t, address)
			c.write([]byte{0, 0, 0, 8, 4, 210, 22, 47})
			got, err := io.ReadAll(c.conn)
			if err != nil || strings.Contains(string(got), "MySQL port of nextid") != (stage == "greeted") {
				t.Errorf("%q, %v", got, err)
			}
		})
		if stage == "ready" {
			continue
		}
		for _, length := range []int{16<<10 + 1, 1<<24 - 2, 1<<24 - 1} {
			t.Run(fmt.Sprintf("%s/%d bytes", stage, length), func(t *testing.T) {
				c, seq := reach(t, address)
				c.write(append(header(length, seq), 0)) // no chain of packets before the login
				c.seq = seq + 1
				if got := c.outcome(); !strings.Contains(got, "1153") {
					t.Errorf("%q", got)
				}
				if got := c.outcome(); got != "closed" {
					t.Errorf("the connection goes on: %q", got)
				}
			})
		}
	}
}

// TestBadHandshakes sends handshake responses that are not whole, or lie about
// lengths.
func TestBadHandshakes(t *testing.T) {
	address, _ := startServer(t, mysqlwire.Config{})
	good := response(plain, "root", "answer", "db", "mysql_native_password", "program_name", "test")
	lies := map[string][]byte{
		"old protocol":       response(plain&^protocol41, "root", "", "", ""),
		"answer of 2^64":     join(good[:32], cstr("root"), []byte{0xfe}, u64(1<<64-1)),
		"answer of 2^63":     join(good[:32], cstr("root"), []byte{0xfe}, u64(1<<63)),
		"answer beyond":      join(good[:32], cstr("root"), []byte{200}, []byte("x")),
		"answer NULL":        join(good[:32], cstr("root"), []byte{0xfb}),
		"user without end":   join(good[:32], []byte("root")),
		"attributes of 2^64": join(response(plain&^connectAttrs, "root", "", "", ""), []byte{0xfe}, u64(1<<64-1)),
		"user not UTF-8":     response(plain, "ro\xffot", "", "", ""),
	}
	lies["attributes of 2^64"] = setCaps(lies["attributes of 2^64"], plain)
	for cut := range good {
		if cut < 32+len("root\x00")+len("\x06answer") {
			lies[fmt.Sprintf("cut at %d", cut)] = good[:cut]
		}
	}
	for name, b := range lies {
		t.Run(name, func(t *testing.T) {
			c := dial(t, address).greet()
			c.caps = plain
			c.send(b)
			if got := c.outcome(); !strings.HasPrefix(got, "ERR 1043") {
				t.Errorf("%q", got)
			}
			if got := c.outcome(); got != "closed" {
				t.Errorf("the connection goes on: %q", got)
			}
		})
	}
}

// TestWrongAttributes sends connection attributes that MariaDB and MySQL accept: they
// only show them.
func TestWrongAttributes(t *testing.T) {
	address, _ := startServer(t, mysqlwire.Config{})
	none := response(plain&^connectAttrs, "root", "", "", "mysql_native_password")
	for name, b := range map[string][]byte{
		"beyond":    setCaps(join(none, []byte{3, 2, 'a', 'b'}), plain),
		"no value":  response(plain, "root", "", "", "mysql_native_password", "a"),
		"not UTF-8": response(plain, "root", "", "", "mysql_native_password", "program_name", "B\xfcro"),
		"long":      response(plain, "root", "", "", "mysql_native_password", "a", strings.Repeat("x", 9000)),
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, address).greet()
			c.caps = plain
			c.send(b)
			if got := c.outcome(); got != "OK" {
				t.Errorf("%q", got)
			}
		})
	}
}

func setCaps(b []byte, caps uint32) []byte {
	b = bytes.Clone(b)
	binary.LittleEndian.PutUint32(b, caps)
	return b
}

// TestStalledClientsCostLittle opens connections that claim 16 MB and send
// nothing more, before and after the login.
func TestStalledClientsCostLittle(t *testing.T) {
	address, _ := startServer(t, mysqlwire.Config{})
	warm := login(t, address, plain)
	warm.ask("text", query("SELECT next_id('numbers')"))
	before := residentSet(t)
	for i := range 50 {
		if i%2 == 0 {
			c := login(t, address, plain)
			c.write(append(header(1<<24-1, 0), 3))
			c.write(make([]byte, 1000))
			continue
		}
		c := dial(t, address).greet()
		c.write(append(header(1<<24-1, 1), 0))
	}
	if got := warm.ask("text", query("SELECT next_id('numbers')")); len(got) != 4 {
		t.Error(got)
	}
	grown := residentSet(t) - before
	t.Logf("%d kB for 50 connections, the clients' ends included", grown>>10)
	if grown > 2<<20 && !raceEnabled {
		t.Errorf("the process grew by %d bytes", grown)
	}
}

// residentSet is the process's resident memory.
func residentSet(t *testing.T) int64 {
	t.Helper()
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("needs /proc")
	}
	pages, err := strconv.ParseInt(strings.Fields(string(b))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

func TestStatementsAreCounted(t *testing.T) {
	m, out := machine(t, plain)
	for i := range 257 {
		got := answers(t, m, out, plain, prepare(fmt.Sprintf("SELECT %d AS a", i)), "prepare")
		if want := []string{"Prepared", "ERR 1461 42000"}[i/256]; !strings.HasPrefix(got[0], want) {
			t.Fatalf("statement %d: %q", i, got)
		}
	}
	feed(t, m, out, command(0x19, u32(1)))
	if got := answers(t, m, out, plain, prepare("SELECT 1 AS a"), "prepare"); !strings.HasPrefix(got[0], "Prepared") {
		t.Errorf("after closing one: %q", got)
	}
}

func TestParametersAreCounted(t *testing.T) {
	m, out := machine(t, plain)
	for n, want := range map[int]string{256: "Prepared", 257: "ERR 1390 HY000"} {
		got := answers(t, m, out, plain, prepare("SELECT "+strings.Repeat("?,", n-1)+"?"), "prepare")
		if !strings.HasPrefix(got[0], want) {
			t.Errorf("%d parameters: %q", n, got[0])
		}
	}
}

func TestCursorsAreCounted(t *testing.T) {
	m, out := machine(t, plain)
	for i := range 65 {
		answers(t, m, out, plain, prepare("SELECT * FROM next_ids('numbers', 10)"), "prepare")
		got := answers(t, m, out, plain, execute(i+1, 1), "binary")
		if want := []string{"Column", "ERR 1226"}[i/64]; !strings.HasPrefix(got[0], want) {
			t.Fatalf("cursor %d: %q", i, got)
		}
	}
}

// The types of a malformed execution are not those of the next one, which sends none.
func TestTypesOfAMalformedExecution(t *testing.T) {
	m, out := machine(t, plain)
	answers(t, m, out, plain, prepare("SELECT CONCAT(?, ?)"), "prepare")
	answers(t, m, out, plain, execute(1, 0, text("a"), text("b")), "binary")
	head := join(u32(1), []byte{0}, u32(1), []byte{0})
	if got := answers(t, m, out, plain, command(0x17, head, []byte{1}, u16(253)), "binary"); !strings.HasPrefix(got[0], "ERR 1835") {
		t.Errorf("one type of two: %q", got)
	}
	if got := answers(t, m, out, plain, command(0x17, head, []byte{0}, lenstr("c"), lenstr("4")), "binary"); !strings.HasPrefix(got[0], "ERR 1210") {
		t.Errorf("no types: %q", got)
	}
}

func TestLongDataIsBounded(t *testing.T) {
	m, out := machine(t, plain)
	answers(t, m, out, plain, prepare("SELECT next_id(?)"), "prepare")
	part := make([]byte, 1<<19)
	for range 3 {
		feed(t, m, out, command(0x18, u32(1), u16(0), part))
	}
	if got := answers(t, m, out, plain, execute(1, 0, text("x")), "binary"); !strings.HasPrefix(got[0], "ERR 1301") {
		t.Errorf("%.100q", got)
	}
	for name, body := range map[string][]byte{"no such parameter": join(u32(1), u16(9), []byte("x")), "too short": u32(1)} {
		feed(t, m, out, command(0x18, body))
		if got := answers(t, m, out, plain, execute(1, 0, text("x")), "binary"); !strings.HasPrefix(got[0], "ERR 1210") {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := answers(t, m, out, plain, execute(1, 0, text("numbers")), "binary"); len(got) != 4 {
		t.Errorf("the statement does not go on: %q", got)
	}
	// The bound is the connection's, not a statement's.
	answers(t, m, out, plain, prepare("SELECT next_id(?)"), "prepare")
	for id := range 2 {
		feed(t, m, out, command(0x18, u32(id+1), u16(0), part))
	}
	feed(t, m, out, command(0x18, u32(2), u16(0), []byte("x")))
	if got := answers(t, m, out, plain, execute(2, 0, text("x")), "binary"); !strings.HasPrefix(got[0], "ERR 1301") {
		t.Errorf("%.100q", got)
	}
	feed(t, m, out, join(command(0x19, u32(1)), command(0x18, u32(2), u16(0), part), command(0x18, u32(2), u16(0), part)))
	if got := answers(t, m, out, plain, execute(2, 0, text("x")), "binary"); strings.HasPrefix(got[0], "ERR 1301") {
		t.Errorf("closing a statement does not make room: %.100q", got)
	}
}

func TestConnectionsAreCounted(t *testing.T) {
	address, _ := startServer(t, mysqlwire.Config{Limits: wire.Limits{Connections: 8, ReservedForSocket: 5, PerIP: 100}})
	for range 3 {
		login(t, address, plain)
	}
	c := dial(t, address).greet()
	c.caps = plain
	c.send(response(plain, "root", "", "", "mysql_native_password"))
	c.wantOutcome("ERR 1040 08004…")
	c.wantOutcome("closed")
}

// A session may set a shorter idle timeout than the server's, and no longer one.
// TestWaitTimeout: the session's own timeout. TestTheShorterIdleTimeout of package wire
// has it beside the server's limit.
func TestWaitTimeout(t *testing.T) {
	t.Parallel() // it is in whole seconds
	address, _ := startServer(t, mysqlwire.Config{Limits: wire.Limits{Idle: time.Hour}})
	c := login(t, address, plain)
	began := time.Now()
	c.ask("text", query("SET wait_timeout = 1"))
	c.seq = 0
	c.wantOutcome("ERR 4031 HY000…")
	c.wantOutcome("closed")
	if took := time.Since(began); took < time.Second {
		t.Errorf("disconnected after %v", took)
	}
}

func TestIdleInTransactionTimeout(t *testing.T) {
	sql := sqltest.NewServer(t, sqltest.Config{Limits: sqlfuncs.Limits{IdleInTransaction: 50 * time.Millisecond}}).Server
	address, _ := startServer(t, mysqlwire.Config{SQL: wiretest.Ready(sql)})
	c := login(t, address, plain)
	c.ask("text", query("START TRANSACTION"))
	c.seq = 0
	c.wantOutcome("ERR 4031 HY000…")
	c.wantOutcome("closed")
}

func TestShutdownTellsIdleClients(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := mysqlwire.New(mysqlwire.Config{SQL: wiretest.Ready(wiretest.SQL(t)), Logger: quiet()})
	go func() { _ = server.Serve(l) }() // ends with Shutdown
	idle := login(t, l.Addr().String(), plain)
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	idle.seq = 0
	idle.wantOutcome("ERR 1053 08S01…")
	idle.wantOutcome("closed")
}

// A client that leaves in the middle of an answer is no error of the server.
func TestVanishedClient(t *testing.T) {
	m := mysqlwire.New(mysqlwire.Config{SQL: wiretest.Ready(wiretest.SQL(t)), Logger: quiet()}).NewMachine(&wire.Conn{ID: 1})
	t.Cleanup(m.Close)
	var broken error
	out := wire.NewOut(1<<10, func([]byte) error { return broken })
	feed(t, m, out, nil)
	feed(t, m, out, packet(1, response(plain, "u", "", "", "mysql_native_password")))
	broken = errors.New("broken pipe")
	if _, err := m.Feed(t.Context(), query("SELECT * FROM next_ids('numbers', 10000)"), out); !errors.Is(err, broken) {
		t.Errorf("Feed returned %v", err)
	}
}

func TestKill(t *testing.T) {
	address, _ := startServer(t, mysqlwire.Config{})
	killer := login(t, address, plain)
	victim := dial(t, address).greet()
	victim.caps = plain
	victim.send(response(plain, "root", "", "", "mysql_native_password"))
	victim.wantOutcome("OK")
	if got := killer.ask("text", command(0x0c, u32(int(victim.greeting.id)))); !strings.HasPrefix(got[0], "OK") {
		t.Fatal(got)
	}
	victim.seq = 0
	victim.wantOutcome("ERR 1927 70100…")
	victim.wantOutcome("closed")
	if got := killer.ask("text", query("KILL 999999")); !strings.HasPrefix(got[0], "ERR 1094") {
		t.Error(got)
	}
	if got := killer.ask("text", command(0x0c, u32(999999))); !strings.HasPrefix(got[0], "ERR 1094") {
		t.Error(got)
	}
	other := dial(t, address).greet()
	other.caps = plain
	other.send(response(plain, "somebody else", "", "", "mysql_native_password"))
	other.wantOutcome("OK")
	if got := killer.ask("text", command(0x0c, u32(int(other.greeting.id)))); !strings.HasPrefix(got[0], "OK") { // without users everybody is an administrator
		t.Errorf("the connection of another user: %q", got)
	}
}

func TestKillQuery(t *testing.T) {
	address, _ := startServer(t, mysqlwire.Config{})
	killer := login(t, address, plain)
	victim := dial(t, address).greet()
	victim.caps = plain
	victim.send(response(plain, "root", "", "", "mysql_native_password"))
	victim.wantOutcome("OK")
	done := make(chan []string, 1)
	go func() { done <- victim.ask("text", query("SELECT sleep(20)")) }()
	for {
		if got := killer.ask("text", query(fmt.Sprintf("KILL QUERY %d", victim.greeting.id))); !strings.HasPrefix(got[0], "OK") {
			t.Fatal(got)
		}
		select {
		case got := <-done:
			if last := got[len(got)-1]; !strings.HasPrefix(last, "ERR 1317 70100") {
				t.Errorf("the killed query got %q", got)
			}
			if got := victim.ask("text", query("SELECT next_id('numbers')")); len(got) != 4 {
				t.Errorf("the connection does not go on: %q", got)
			}
			return
		case <-time.After(10 * time.Millisecond): // it had not begun
		}
	}
}
