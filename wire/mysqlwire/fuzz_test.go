package mysqlwire_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"nextid/wire"
	"nextid/wire/mysqlwire"
	"nextid/wire/wiretest"
)

// fuzzed is a machine and its answers, up to a bound.
type fuzzed struct {
	m       wire.Machine
	out     *wire.Out
	ctx     context.Context
	answers []byte
	much    bool // more was sent than is kept
}

func newFuzzed(t *testing.T, server *wire.Server) *fuzzed {
	f := &fuzzed{m: server.NewMachine(&wire.Conn{ID: 1})}
	t.Cleanup(f.m.Close)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second) // ends sleep and other waits
	t.Cleanup(cancel)
	f.ctx = ctx
	f.out = wire.NewOut(1<<16, func(b []byte) error {
		if len(f.answers) > 4<<20 {
			f.much = true
			return io.ErrShortWrite // a reader that has enough
		}
		f.answers = append(f.answers, b...)
		return nil
	})
	if _, err := f.m.Feed(ctx, nil, f.out); err != nil {
		t.Fatal(err)
	}
	return f
}

// login logs in and forgets the answers.
func (f *fuzzed) login(t *testing.T, caps uint64) {
	if _, err := f.m.Feed(f.ctx, packet(1, response(caps, "u", "", "", "mysql_native_password")), f.out); err != nil {
		t.Fatal(err)
	}
	f.out.B, f.answers = f.out.B[:0], nil
}

// feed gives the machine input in two parts.
func (f *fuzzed) feed(t *testing.T, in []byte, cut int) {
	cut = min(max(cut, 0), len(in))
	n, err := f.m.Feed(f.ctx, in[:cut:cut], f.out)
	if err == nil {
		if n > cut {
			t.Fatalf("consumed %d of %d bytes", n, cut)
		}
		_, _ = f.m.Feed(f.ctx, in[n:], f.out) // ends the connection, perhaps
	}
	_ = f.out.Flush() // the reader may have enough
}

// whole checks that the answers are whole packets, without internal errors and
// requests for a file.
func (f *fuzzed) whole(t *testing.T) {
	if f.much {
		return
	}
	for b := f.answers; len(b) > 0; {
		if len(b) < 4 {
			t.Fatalf("the answer ends within a header: %q", b)
		}
		n := int(b[0]) | int(b[1])<<8 | int(b[2])<<16
		if len(b) < 4+n {
			t.Fatalf("the answer ends within a packet: %q", b)
		}
		if payload := b[4 : 4+n]; n > 9 && payload[0] == 0xff && strings.Contains(string(payload), "internal error") {
			t.Fatalf("%q", payload)
		}
		b = b[4+n:]
	}
}

// FuzzHandshake fuzzes everything before the login.
func FuzzHandshake(f *testing.F) {
	f.Add(packet(1, response(plain, "fast", "12345678901234567890", "db", "caching_sha2_password", "program_name", "x")), 9, true)
	f.Add(packet(1, response(maria, "u", "", "", "mysql_native_password")), 40, false)
	f.Add(join(packet(1, response(plain, "slow", "x", "", "caching_sha2_password")), packet(3, []byte{2}), packet(5, make([]byte, 256))), 70, true)
	f.Add(packet(1, response(plain|ssl, "u", "", "", "")[:32]), 3, false)
	sql := wiretest.SQL(f)
	// One server for all: to make its key takes long.
	everybody := mysqlwire.New(mysqlwire.Config{SQL: wiretest.Ready(sql), Logger: quiet()})
	closed := mysqlwire.New(mysqlwire.Config{SQL: wiretest.Ready(sql), Auth: people.Begin, Logger: quiet()})
	f.Fuzz(func(t *testing.T, in []byte, cut int, users bool) {
		server := everybody
		if users {
			server = closed
		}
		z := newFuzzed(t, server)
		z.feed(t, in, cut)
		z.whole(t)
	})
}

// FuzzPackets fuzzes the stream behind the login.
func FuzzPackets(f *testing.F) {
	for _, path := range fastPaths() {
		f.Add(join(path.prepare, path.ask), path.caps, 7)
	}
	f.Add(join(query("SELECT 1; SELECT 2"), command(0x0e), command(0x1b, u16(1)), command(0x1f), command(9)), uint64(plain), 20)
	f.Add(command(0x11, cstr("u"), []byte{0}, cstr("db"), u16(45), cstr("mysql_native_password"), []byte{0}), uint64(modern), 5)
	f.Add(join(prepare("SELECT * FROM next_ids(?, 10)"), execute(1, 1, text("numbers")), command(0x1c, u32(1), u32(3)), command(0x1a, u32(1))), uint64(plain), 60)
	server := mysqlwire.New(mysqlwire.Config{SQL: wiretest.Ready(wiretest.SQL(f)), Logger: quiet()})
	f.Fuzz(func(t *testing.T, in []byte, caps uint64, cut int) {
		z := newFuzzed(t, server)
		z.login(t, caps|protocol41)
		z.feed(t, in, cut)
		z.whole(t)
	})
}

// FuzzCommand puts fuzzed bodies into well-framed commands, behind a few
// prepared statements: the decoders of the commands, one by one. Every
// command but the few without an answer gets exactly one, which an
// independent decoder understands.
func FuzzCommand(f *testing.F) {
	for _, b := range [][]byte{
		query("SELECT next_id('numbers')"), prepare("SELECT ?, ?"), execute(1, 0, text("numbers")),
		execute(2, 0, bigint(5), double(1.5), text("x"), param{typ: 12, value: []byte{11, 0xea, 7, 11, 21, 1, 2, 3, 4, 5, 6, 0}}),
		command(0x18, u32(1), u16(0), []byte("data")), command(0x1c, u32(1), u32(10)), command(4, cstr("ids"), []byte("%")),
		command(0xfa, u32(1), u16(128), u16(253), []byte{0}, lenstr("numbers"), []byte{1}), command(2, []byte("db")),
		command(0x0c, u32(1)), command(0x1b, u16(0)), command(0x1a, u32(1)), command(0x11, cstr("u"), []byte{0}, cstr("")),
	} {
		for _, caps := range []uint64{plain, modern, maria} {
			f.Add(b[4], b[5:], caps)
		}
	}
	server := mysqlwire.New(mysqlwire.Config{SQL: wiretest.Ready(wiretest.SQL(f)), Logger: quiet()})
	f.Fuzz(func(t *testing.T, typ byte, body []byte, caps uint64) {
		if len(body) > 1<<16 {
			return
		}
		caps |= protocol41
		z := newFuzzed(t, server)
		z.login(t, caps)
		before := join(prepare("SELECT next_id(?)"), prepare("SELECT ?, ?, ?, ?"))
		z.feed(t, before, 0)
		z.answers = nil
		z.feed(t, command(typ, body), 0)
		z.whole(t)
		if z.much {
			return
		}
		kind := map[byte]string{
			0x03: "text", 0x16: "prepare", 0x17: "binary", 0xfa: "binary", 0x04: "fields", 0x1b: "fields",
			0x09: "string", 0x18: "none", 0x19: "none", 0x01: "none", 0x11: "", 0x1c: "",
		}
		k, ok := kind[typ]
		switch {
		case !ok:
			k = "text"
		case k == "":
			return // its answer depends on earlier commands
		}
		r := bytes.NewReader(z.answers)
		// Capabilities that the server does not offer are not in effect.
		d := &decoder{r: r, caps: caps & (sessionTrack | deprecateEOF | cacheMetadata)}
		if caps&longPassword != 0 {
			d.caps &^= cacheMetadata
		}
		if _, err := d.answer(k); err != nil || r.Len() > 0 {
			t.Fatalf("command %#x %q: %v, %d bytes left\n%q", typ, body, err, r.Len(), z.answers)
		}
	})
}

// FuzzParameters fuzzes the values of an execution, type by type.
func FuzzParameters(f *testing.F) {
	for typ := range 256 {
		f.Add(uint16(typ), []byte{11, 0xea, 7, 11, 21, 1, 2, 3, 4, 5, 6, 0}, typ%2 == 0)
		f.Add(uint16(typ)|0x8000, []byte("\xff\xff\xff\xff\xff\xff\xff\xff"), typ%2 == 0)
	}
	f.Add(uint16(11), []byte{12, 1, 3, 0, 0, 0, 23, 59, 59, 1, 0, 0, 0}, false)
	server := mysqlwire.New(mysqlwire.Config{SQL: wiretest.Ready(wiretest.SQL(f)), Logger: quiet()})
	f.Fuzz(func(t *testing.T, typ uint16, value []byte, bulk bool) {
		z := newFuzzed(t, server)
		caps := uint64(maria &^ cacheMetadata)
		z.login(t, caps)
		z.feed(t, prepare("SELECT ?, ?"), 0)
		z.answers = nil
		p := param{typ: int(typ), value: value}
		in := execute(1, 0, p, bigint(7))
		if bulk {
			in = command(0xfa, u32(1), u16(128), u16(int(typ)), u16(8), []byte{0}, value, []byte{0}, u64(7))
		}
		z.feed(t, in, 0)
		z.whole(t)
		r := bytes.NewReader(z.answers)
		d := &decoder{r: r, caps: caps}
		if lines, err := d.answer("binary"); err != nil || r.Len() > 0 {
			t.Fatalf("%v, %d bytes left, %q\n%q", err, r.Len(), lines, z.answers)
		}
	})
}
