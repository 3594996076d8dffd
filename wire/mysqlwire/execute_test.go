package mysqlwire_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	memory "nextid/sqlfuncs/account"
	"nextid/sqlfuncs/sqltest"
	"nextid/wire"
	"nextid/wire/auth"
	"nextid/wire/mysqlwire"
	"nextid/wire/wiretest"
)

// FuzzExecute fuzzes prepared statements: long data, executions with any header and
// any values, cursors. in is a list of commands, each with its length before it.
// Every command gets one answer, or none if it is a command without an answer.
func FuzzExecute(f *testing.F) {
	piece := func(packet []byte) []byte {
		body := packet[4:]
		return append(u16(len(body)), body...)
	}
	long := func(param int, data string) []byte { return command(0x18, u32(1), u16(param), []byte(data)) }
	for _, commands := range [][][]byte{
		{execute(1, 0, text("a"), bigint(1))},
		{long(0, "abc"), long(0, "def"), execute(1, 0, param{typ: 252}, bigint(1))},
		{long(1, "x"), command(0x1a, u32(1)), execute(1, 0, text("a"), text("b"))},
		{execute(1, 1, text("a"), text("b")), command(0x1c, u32(1), u32(1)), command(0x1a, u32(1)), command(0x1c, u32(1), u32(1))},
		{execute(1, 0, text("a"), text("b")), command(0x17, u32(1), []byte{0}, u32(1), []byte{0, 0}, lenstr("c"), lenstr("d"))},
		{execute(-1, 0, text("a"), text("b")), command(0x19, u32(1)), execute(1, 0, text("a"), text("b"))},
		{command(0x17, u32(1), []byte{0}, u32(1), []byte{3, 1}), command(0x17, u32(1)), command(0x17)},
		{command(0xfa, u32(1), u16(128), u16(8), u16(253), []byte{0}, u64(7), []byte{2}, []byte{3, 0})},
	} {
		var in []byte
		for _, c := range commands {
			in = append(in, piece(c)...)
		}
		f.Add(uint8(2), in, uint64(plain))
		f.Add(uint8(2), in, uint64(maria))
	}
	server := mysqlwire.New(mysqlwire.Config{SQL: wiretest.Ready(wiretest.SQL(f)), Logger: quiet()})
	f.Fuzz(func(t *testing.T, parameters uint8, in []byte, caps uint64) {
		caps |= protocol41
		z := newFuzzed(t, server)
		z.login(t, caps)
		z.feed(t, prepare("SELECT CONCAT("+strings.Repeat("?, ", int(parameters))+"'')"), 0)
		for range 20 {
			if len(in) < 2 {
				return
			}
			n := min(int(binary.LittleEndian.Uint16(in)), len(in)-2)
			body := in[2 : 2+n]
			in = in[2+n:]
			typ := byte(0x17)
			if n > 0 {
				typ, body = body[0], body[1:]
			}
			kind, ok := map[byte]string{0x17: "binary", 0xfa: "binary", 0x18: "none", 0x19: "none", 0x1a: "text", 0x1c: ""}[typ]
			if !ok {
				continue
			}
			z.answers = nil
			z.feed(t, command(typ, body), 0)
			z.whole(t)
			if z.much {
				return
			}
			if kind == "" {
				continue // rows of a cursor, or an error
			}
			r := bytes.NewReader(z.answers)
			d := &decoder{r: r, caps: caps & (sessionTrack | deprecateEOF | cacheMetadata)}
			if caps&longPassword != 0 {
				d.caps &^= cacheMetadata
			}
			if lines, err := d.answer(kind); err != nil && len(body) > 4 && typ != 0x17 && typ != 0xfa || err == nil && r.Len() > 0 {
				t.Fatalf("command %#x %q: %v, %q, %d bytes left\n%q", typ, body, err, lines, r.Len(), z.answers)
			}
		}
	})
}

// FuzzChangeUser fuzzes COM_CHANGE_USER and the answers to AuthSwitchRequest.
func FuzzChangeUser(f *testing.F) {
	change := func(user, answer, method string) []byte {
		return join(cstr(user), append([]byte{byte(len(answer))}, answer...), cstr("shop"), u16(45), cstr(method), []byte{0})
	}
	f.Add(change("u", "", "mysql_native_password"), []byte("12345678901234567890"), uint64(plain), true)
	f.Add(change("native", "12345678901234567890", "caching_sha2_password"), []byte{}, uint64(modern), false)
	f.Add(change("slow", strings.Repeat("x", 255), "caching_sha2_password"), []byte{2}, uint64(maria), false)
	f.Add([]byte("u\x00\xff"), []byte{}, uint64(plain), true)
	sql := wiretest.SQL(f)
	everybody := mysqlwire.New(mysqlwire.Config{SQL: wiretest.Ready(sql), Logger: quiet()})
	closed := mysqlwire.New(mysqlwire.Config{SQL: wiretest.Ready(sql), Auth: people.Begin, Logger: quiet()})
	f.Fuzz(func(t *testing.T, body, answer []byte, caps uint64, open bool) {
		if len(body)+len(answer) > 1<<16 {
			return
		}
		caps |= protocol41
		server := everybody
		if !open {
			server = closed
		}
		z := newFuzzed(t, server)
		if open {
			z.login(t, caps)
		} else {
			z.loginNative(t, caps|pluginAuth)
		}
		z.feed(t, command(0x11, body), 0)
		z.feed(t, packet(2, answer), 0)
		z.feed(t, packet(4, answer), 0)
		z.feed(t, query("SELECT 1"), 0)
		z.whole(t)
	})
}

// loginNative logs native in, with a password.
func (f *fuzzed) loginNative(t *testing.T, caps uint64) {
	_ = f.out.Flush() // the greeting
	f.answers = nil
	f.feed(t, packet(1, response(caps, "native", "", "", "mysql_native_password")), 0)
	if len(f.answers) > 21 {
		nonce := f.answers[len(f.answers)-21 : len(f.answers)-1]
		f.feed(t, packet(3, []byte(scramble1("secret", nonce))), 0)
	}
	f.answers = nil
}

// TestDroppedLongDataIsNotCharged: a client that sends values in pieces for
// statements that it never executes holds nothing once they are dropped.
func TestDroppedLongDataIsNotCharged(t *testing.T) {
	sql := sqltest.NewServer(t, sqltest.Config{Memory: memory.Limits{Server: 64 << 20}}).Server
	data := bytes.Repeat([]byte("x"), 60<<10)
	for name, drop := range map[string][]byte{
		"COM_RESET_CONNECTION": command(0x1f),
		"COM_CHANGE_USER":      command(0x11, cstr("u"), []byte{0}, cstr("shop"), u16(45), cstr("mysql_native_password"), []byte{0}),
		"COM_STMT_RESET":       command(0x1a, u32(-1)),
		"COM_STMT_CLOSE":       command(0x19, u32(-1)),
	} {
		z := newFuzzed(t, mysqlwire.New(mysqlwire.Config{SQL: wiretest.Ready(sql), Logger: quiet()}))
		z.ctx = t.Context()
		z.login(t, plain)
		for range 3 { // from then on the plan is cached
			z.feed(t, join(prepare("SELECT CONCAT(?, '')"), command(0x1f)), 0)
		}
		before, piece := z.m.Memory().Used(), command(0x18, u32(-1), u16(0), data)
		for range 500 { // 30 MB, where a session may hold 16
			z.feed(t, join(prepare("SELECT CONCAT(?, '')"), piece, drop, command(0x19, u32(-1))), 0)
			z.answers = nil
		}
		// Less is charged where the plan entered the cache only now.
		if got := z.m.Memory().Used() - before; got > 0 {
			t.Errorf("%s: %d bytes are charged for nothing", name, got)
		}
		z.feed(t, join(prepare("SELECT CONCAT(?, '')"), piece, execute(-1, 0, param{typ: 252})), 0)
		if !bytes.Contains(z.answers, data) {
			t.Errorf("%s: %.100q in the place of the value", name, z.answers)
		}
	}
}

// TestAnyParametersAreRead executes statements with random numbers of parameters of
// random types, lengths and NULLs. The statement gets the values that were sent, in
// the packet or before it as long data.
func TestAnyParametersAreRead(t *testing.T) {
	const rounds = 2000
	m, out := machine(t, plain)
	random := rand.New(rand.NewPCG(1, 2))
	for round := range rounds {
		n := 1 + random.IntN(40)
		if round%100 == 0 {
			n = 200 + random.IntN(57) // up to the limit
		}
		params, want := make([]param, n), make([]string, n)
		in := prepare("SELECT CONCAT(" + strings.Repeat("COALESCE(?, 'NULL'), '|', ", n) + "'')")
		for i := range params {
			params[i], want[i] = randomParam(random)
			if !params[i].null && params[i].typ == 252 && random.IntN(2) == 0 { // in pieces
				data := []byte(want[i])
				cut := random.IntN(len(data) + 1)
				in = join(in, command(0x18, u32(-1), u16(i), data[:cut]), command(0x18, u32(-1), u16(i), data[cut:]))
				params[i].value = nil
			}
		}
		got := answers(t, m, out, plain, join(in, execute(-1, 0, params...), command(0x19, u32(-1))), "prepare", "binary")
		text, err := strconv.Unquote(strings.TrimPrefix(got[len(got)-2], "BinaryRow "))
		if wanted := strings.Join(want, "|") + "|"; err != nil || text != wanted {
			t.Fatalf("round %d, %d parameters: %v\n%q, want\n%q", round, n, err, got[len(got)-2], wanted)
		}
	}
}

// randomParam is a parameter, and the text of its value.
func randomParam(random *rand.Rand) (param, string) {
	if random.IntN(8) == 0 {
		return param{typ: []int{1, 3, 8, 253, 252, 5}[random.IntN(6)], null: true}, "NULL"
	}
	v := random.Uint64()
	text := func() string {
		size := []int{0, 1, random.IntN(20), 250, 251, 252, random.IntN(2000), 65_536}[min(random.IntN(200), 7)]
		if size == 65_536 && random.IntN(20) > 0 {
			size = 7
		}
		return strings.Repeat(string(rune('a'+random.IntN(26))), size)
	}
	switch random.IntN(12) {
	case 0:
		return param{typ: 1, value: []byte{byte(v)}}, strconv.Itoa(int(int8(v)))
	case 1:
		return param{typ: 0x8001, value: []byte{byte(v)}}, strconv.FormatUint(uint64(uint8(v)), 10)
	case 2:
		return param{typ: 2, value: u16(int(uint16(v)))}, strconv.Itoa(int(int16(v)))
	case 3:
		return param{typ: 0x8003, value: u32(int(uint32(v)))}, strconv.FormatUint(uint64(uint32(v)), 10)
	case 4:
		return param{typ: 9, value: u32(int(uint32(v)))}, strconv.Itoa(int(int32(v)))
	case 5:
		return param{typ: 8, value: u64(v)}, strconv.FormatInt(int64(v), 10)
	case 6:
		return param{typ: 0x8008, value: u64(v)}, strconv.FormatUint(v, 10)
	case 7:
		f := float64(int32(v)) / 4
		return param{typ: 5, value: u64(math.Float64bits(f))}, strconv.FormatFloat(f, 'f', -1, 64)
	case 8:
		s := fmt.Sprintf("%d.%02d", int32(v), v%100)
		return param{typ: 246, value: lenstr(s)}, s
	case 9:
		day := time.Unix(int64(uint32(v)), 0).UTC()
		return param{typ: 10, value: join([]byte{4}, u16(day.Year()), []byte{byte(day.Month()), byte(day.Day())})}, day.Format(time.DateOnly)
	case 10:
		s := text()
		return param{typ: 252, value: lenstr(s)}, s
	}
	s := text()
	return param{typ: []int{253, 254, 15}[random.IntN(3)], value: lenstr(s)}, s
}

// A client that guesses passwords by COM_CHANGE_USER waits as long as a client that
// guesses at the login.
func TestChangeUserGuessesAreLimited(t *testing.T) {
	sql := wiretest.SQL(t)
	synctest.Test(t, func(t *testing.T) {
		alice, root := &auth.User{Name: "native"}, &auth.User{Name: "root", Admin: true}
		for _, u := range []*auth.User{alice, root} {
			if err := u.SetPassword("secret", true); err != nil {
				t.Fatal(err)
			}
		}
		rules, err := auth.ParseRules("host all all scram\n")
		if err != nil {
			t.Fatal(err)
		}
		policy := auth.New(auth.Config{Users: auth.NewUsers([]*auth.User{alice, root}, nil), Rules: rules, NativePassword: true, Logger: slog.New(slog.DiscardHandler)})
		server := mysqlwire.New(mysqlwire.Config{SQL: wiretest.Ready(sql), Auth: policy.MySQL, Logger: quiet()})
		guess := func() time.Duration {
			z := &fuzzed{m: server.NewMachine(&wire.Conn{ID: 1, IP: netip.MustParseAddr("192.0.2.1")}), ctx: t.Context()}
			defer z.m.Close()
			z.out = wire.NewOut(1<<16, func(b []byte) error { z.answers = append(z.answers, b...); return nil })
			z.feed(t, nil, 0)
			z.loginNative(t, plain|pluginAuth)
			began := time.Now()
			z.feed(t, command(0x11, cstr("root"), []byte{0}, cstr(""), u16(45), cstr("mysql_native_password"), []byte{0}), 0)
			z.feed(t, packet(2, []byte("wrong answer to that")), 0)
			if !bytes.Contains(z.answers, []byte("Access denied for user 'root'")) {
				t.Fatalf("%q", z.answers)
			}
			return time.Since(began)
		}
		first := guess()
		var last time.Duration
		for range 100 {
			last = guess()
		}
		if first < 100*time.Millisecond || last < 5*first {
			t.Errorf("the first guess takes %v, the hundredth %v", first, last)
		}
	})
}
