package mysqlwire_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"
)

// decoder reads a server's packets, slowly and in the plain words of MySQL's
// documentation: it shares nothing with the encoder that it checks.
type decoder struct {
	r    io.Reader
	caps uint64
	seq  byte
}

// errNotWhole is an answer that ends too early.
var errNotWhole = errors.New("the packet is too short")

// next reads a payload.
func (d *decoder) next() ([]byte, error) {
	var payload []byte
	for {
		h := make([]byte, 4)
		if _, err := io.ReadFull(d.r, h); err != nil {
			return nil, err
		}
		if h[3] != d.seq {
			return nil, fmt.Errorf("sequence number %d, want %d", h[3], d.seq)
		}
		d.seq++
		n := int(h[0]) | int(h[1])<<8 | int(h[2])<<16
		part := make([]byte, n)
		if _, err := io.ReadFull(d.r, part); err != nil {
			return nil, fmt.Errorf("packet of %d bytes: %w", n, err)
		}
		payload = append(payload, part...)
		if n < 1<<24-1 {
			return payload, nil
		}
	}
}

// fields cuts a payload into values.
type fields struct{ b []byte }

func (f *fields) take(n int) []byte {
	if n < 0 || n > len(f.b) {
		panic(errNotWhole)
	}
	v := f.b[:n]
	f.b = f.b[n:]
	return v
}

func (f *fields) int(n int) uint64 {
	var v [8]byte
	copy(v[:], f.take(n))
	return binary.LittleEndian.Uint64(v[:])
}

func (f *fields) lenenc() uint64 {
	switch b := f.int(1); b {
	case 0xfc:
		return f.int(2)
	case 0xfd:
		return f.int(3)
	case 0xfe:
		return f.int(8)
	case 0xfb, 0xff:
		panic(fmt.Errorf("length 0x%x", b))
	default:
		return b
	}
}

func (f *fields) lenstr() string { return string(f.take(int(f.lenenc()))) }

func (f *fields) end() {
	if len(f.b) > 0 {
		panic(fmt.Errorf("%d bytes too many: %q", len(f.b), f.b))
	}
}

// ok reads an OK packet behind its header.
func (d *decoder) ok(f *fields, name string) string {
	affected, insert, status, warnings := f.lenenc(), f.lenenc(), f.int(2), f.int(2)
	var line strings.Builder
	fmt.Fprintf(&line, "%s affected=%d insert=%d status=0x%x warnings=%d", name, affected, insert, status, warnings)
	if d.caps&sessionTrack != 0 && status&0x4000 != 0 {
		f.lenstr()
		changes := fields{[]byte(f.lenstr())}
		for len(changes.b) > 0 {
			kind := changes.int(1)
			data := fields{[]byte(changes.lenstr())}
			fmt.Fprintf(&line, " changed=%d", kind)
			for len(data.b) > 0 {
				line.WriteString(":" + data.lenstr())
			}
		}
	}
	f.end()
	return line.String()
}

func (d *decoder) err(f *fields) string {
	number := f.int(2)
	state := ""
	if len(f.b) > 0 && f.b[0] == '#' {
		state = string(f.take(6)[1:])
	}
	return fmt.Sprintf("ERR %d %s %s", number, state, f.b)
}

// eof reads an EOF packet behind its header.
func (d *decoder) eof(f *fields) string {
	warnings, status := f.int(2), f.int(2)
	f.end()
	return fmt.Sprintf("EOF status=0x%x warnings=%d", status, warnings)
}

// isEnd reports whether a payload is an EOF packet or an OK packet in its
// place, and reads it.
func (d *decoder) isEnd(b []byte) (string, bool) {
	if len(b) == 0 || b[0] != 0xfe || len(b) >= 1<<24-1 {
		return "", false
	}
	f := &fields{b[1:]}
	if d.caps&deprecateEOF != 0 {
		return d.ok(f, "OK-EOF"), true
	}
	if len(b) >= 9 {
		return "", false
	}
	return d.eof(f), true
}

type column struct {
	name string
	typ  byte
	line string
}

func (d *decoder) column(b []byte) column {
	f := &fields{b}
	catalog, schema, table, ofTable, name, ofName := f.lenstr(), f.lenstr(), f.lenstr(), f.lenstr(), f.lenstr(), f.lenstr()
	if catalog != "def" {
		panic(fmt.Errorf("catalog %q", catalog))
	}
	if n := f.lenenc(); n != 12 {
		panic(fmt.Errorf("%d bytes of fixed fields", n))
	}
	charset, length, typ, flags, decimals := f.int(2), f.int(4), byte(f.int(1)), f.int(2), f.int(1)
	f.take(2)
	line := name
	if table+ofTable != "" { // the alias and the name
		line = fmt.Sprintf("%s.%s.%s(%s.%s)", schema, table, name, ofTable, ofName)
		if flags&1 != 0 {
			line += "!"
		}
	}
	if len(f.b) > 0 && f.b[0] != 0xfb { // a default value, in COM_FIELD_LIST only
		f.end()
	}
	return column{name, typ, fmt.Sprintf("%s:type=%d:charset=%d:len=%d:flags=0x%x:dec=%d", line, typ, charset, length, flags, decimals)}
}

func (d *decoder) columns(n int) (cs []column, err error) {
	for range n {
		b, err := d.next()
		if err != nil {
			return nil, err
		}
		cs = append(cs, d.column(b))
	}
	return cs, nil
}

// textRow prints a row of texts.
func (d *decoder) textRow(b []byte, n int) string {
	f := &fields{b}
	values := make([]string, n)
	for i := range values {
		if len(f.b) > 0 && f.b[0] == 0xfb {
			f.take(1)
			values[i] = "NULL"
		} else {
			values[i] = strconv.Quote(f.lenstr())
		}
	}
	f.end()
	return "Row " + strings.Join(values, " ")
}

// binaryRow prints a row of binary values.
func (d *decoder) binaryRow(b []byte, cs []column) string {
	f := &fields{b}
	if f.int(1) != 0 {
		panic(errors.New("a binary row does not begin with 0"))
	}
	nulls := f.take((len(cs) + 9) / 8)
	values := make([]string, len(cs))
	for i, c := range cs {
		if nulls[(i+2)/8]>>((i+2)%8)&1 == 1 {
			values[i] = "NULL"
			continue
		}
		values[i] = binaryValue(f, c.typ)
	}
	f.end()
	return "BinaryRow " + strings.Join(values, " ")
}

func binaryValue(f *fields, typ byte) string {
	switch typ {
	case 1:
		return strconv.Itoa(int(int8(f.int(1))))
	case 2:
		return strconv.Itoa(int(int16(f.int(2))))
	case 3:
		return strconv.Itoa(int(int32(f.int(4))))
	case 8:
		return strconv.FormatInt(int64(f.int(8)), 10)
	case 4:
		return fmt.Sprint(math.Float32frombits(uint32(f.int(4))))
	case 5:
		return fmt.Sprint(math.Float64frombits(f.int(8)))
	case 7, 10, 12:
		t := fields{f.take(int(f.int(1)))}
		var parts []uint64
		for i, n := range []int{2, 1, 1, 1, 1, 1, 4} {
			if len(t.b) == 0 && (i == 0 || i == 3 || i == 6) {
				break
			}
			parts = append(parts, t.int(n))
		}
		t.end()
		return fmt.Sprint("time", parts)
	case 11:
		t := fields{f.take(int(f.int(1)))}
		var parts []uint64
		for i, n := range []int{1, 4, 1, 1, 1, 4} {
			if len(t.b) == 0 && (i == 0 || i == 5) {
				break
			}
			parts = append(parts, t.int(n))
		}
		t.end()
		return fmt.Sprint("clock", parts)
	case 15, 245, 246, 249, 250, 251, 252, 253, 254:
		return strconv.Quote(f.lenstr())
	}
	panic(fmt.Errorf("type %d", typ))
}

// answer reads the answer to one command and returns a line for each packet. kind is
// the kind of command: "text" (COM_QUERY), "binary" (COM_STMT_EXECUTE), "known" (the
// same without definitions), "prepare", "fetch N" (of N bigint columns), "fields"
// (COM_FIELD_LIST), "string" (COM_STATISTICS) or "none".
func (d *decoder) answer(kind string, known ...column) (lines []string, err error) {
	defer func() {
		if p := recover(); p != nil {
			e, ok := p.(error)
			if !ok {
				panic(p)
			}
			err = e
		}
	}()
	if kind == "none" {
		return nil, nil
	}
	d.seq = 1
	for {
		b, err := d.next()
		if err != nil {
			return lines, err
		}
		if kind == "string" {
			return append(lines, string(b)), nil
		}
		var more bool
		lines, more, err = d.result(kind, b, lines, known)
		if err != nil || !more {
			return lines, err
		}
	}
}

// result reads one result. b is its first payload.
func (d *decoder) result(kind string, b []byte, lines []string, known []column) (_ []string, more bool, err error) {
	f := &fields{b}
	list := kind == "fields" || strings.HasPrefix(kind, "fetch")
	switch {
	case len(b) == 0:
		return lines, false, errors.New("an empty packet")
	case b[0] == 0xff:
		f.take(1)
		return append(lines, d.err(f)), false, nil
	case b[0] == 0 && kind == "prepare":
		f.take(1)
		return d.prepared(f, lines)
	case b[0] == 0 && !list:
		f.take(1)
		line := d.ok(f, "OK")
		return append(lines, line), d.moreResults(line), nil
	}
	var cs []column
	if list {
		for {
			if line, ok := d.isEnd(b); ok {
				return append(lines, line), false, nil
			}
			if kind == "fields" {
				lines = append(lines, "Column "+d.column(b).line)
			} else {
				lines = append(lines, d.binaryRow(b, known))
			}
			if b, err = d.next(); err != nil {
				return lines, false, err
			}
		}
	}
	n := int(f.lenenc())
	follow := true
	if d.caps&cacheMetadata != 0 {
		follow = f.int(1) == 1
	}
	f.end()
	if follow {
		if cs, err = d.columns(n); err != nil {
			return lines, false, err
		}
		for _, c := range cs {
			lines = append(lines, "Column "+c.line)
		}
	} else {
		cs = known
		lines = append(lines, fmt.Sprintf("%d known columns", n))
		if len(known) == 0 {
			for range n {
				cs = append(cs, column{typ: 8})
			}
		}
	}
	if d.caps&deprecateEOF == 0 {
		if b, err = d.next(); err != nil {
			return lines, false, err
		}
		line, ok := d.isEnd(b)
		if !ok {
			return lines, false, fmt.Errorf("no EOF behind the columns: %q", b)
		}
		lines = append(lines, line)
		if strings.Contains(line, "status=0x42") || strings.Contains(line, "status=0x43") { // SERVER_STATUS_CURSOR_EXISTS
			return lines, false, nil
		}
	}
	for {
		if b, err = d.next(); err != nil {
			return lines, false, err
		}
		if len(b) > 0 && b[0] == 0xff {
			return append(lines, d.err(&fields{b[1:]})), false, nil
		}
		if line, ok := d.isEnd(b); ok {
			return append(lines, line), d.moreResults(line), nil
		}
		if kind == "text" {
			lines = append(lines, d.textRow(b, n))
		} else {
			lines = append(lines, d.binaryRow(b, cs))
		}
	}
}

func (d *decoder) moreResults(line string) bool {
	_, after, _ := strings.Cut(line, "status=0x")
	hex, _, _ := strings.Cut(after, " ")
	status, err := strconv.ParseUint(hex, 16, 16)
	return err == nil && status&8 != 0
}

// prepared reads the rest of the answer to COM_STMT_PREPARE.
func (d *decoder) prepared(f *fields, lines []string) ([]string, bool, error) {
	id, columns, params := f.int(4), int(f.int(2)), int(f.int(2))
	f.take(1)
	warnings := f.int(2)
	f.end()
	lines = append(lines, fmt.Sprintf("Prepared %d columns=%d params=%d warnings=%d", id, columns, params, warnings))
	for i, n := range []int{params, columns} {
		if n == 0 {
			continue
		}
		cs, err := d.columns(n)
		if err != nil {
			return lines, false, err
		}
		for _, c := range cs {
			lines = append(lines, []string{"Param ", "Column "}[i]+c.line)
		}
		if d.caps&deprecateEOF != 0 {
			continue
		}
		b, err := d.next()
		if err != nil {
			return lines, false, err
		}
		line, ok := d.isEnd(b)
		if !ok {
			return lines, false, fmt.Errorf("no EOF behind definitions: %q", b)
		}
		lines = append(lines, line)
	}
	return lines, false, nil
}

// decodeAll reads the answers to several commands, and nothing more.
func decodeAll(t testing.TB, caps uint64, b []byte, kinds ...string) (lines []string) {
	t.Helper()
	r := bytes.NewReader(b)
	d := &decoder{r: r, caps: caps}
	for _, kind := range kinds {
		more, err := d.answer(kind)
		lines = append(lines, more...)
		if err != nil {
			t.Fatalf("%s: %v\n%s\n%q", kind, err, strings.Join(lines, "\n"), b)
		}
	}
	if r.Len() > 0 {
		t.Fatalf("%d bytes behind the answer: %q\n%s", r.Len(), b[len(b)-r.Len():], strings.Join(lines, "\n"))
	}
	return lines
}

// client is a raw connection.
type client struct {
	t    testing.TB
	conn net.Conn
	decoder
	greeting greeting
}

// greeting holds the fields of the server's greeting.
type greeting struct {
	version, method string
	id              uint64
	caps            uint64
	nonce           []byte
	status          uint64
}

func dial(t testing.TB, address string) *client {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // the server may have closed it
	if err := conn.SetDeadline(time.Now().Add(waitLimit)); err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, conn: conn, decoder: decoder{r: conn}}
	return c
}

// greet reads the greeting.
func (c *client) greet() *client {
	c.t.Helper()
	b, err := c.next()
	if err != nil {
		c.t.Fatal(err)
	}
	if b[0] == 0xff {
		c.t.Fatal(c.err(&fields{b[1:]}))
	}
	c.greeting = readGreeting(b)
	return c
}

func readGreeting(b []byte) (g greeting) {
	f := &fields{b}
	if v := f.int(1); v != 10 {
		panic(fmt.Errorf("protocol %d", v))
	}
	end := bytes.IndexByte(f.b, 0)
	g.version = string(f.take(end))
	f.take(1)
	g.id = f.int(4)
	g.nonce = bytes.Clone(f.take(8))
	f.take(1)
	g.caps = f.int(2)
	f.take(1)
	g.status = f.int(2)
	g.caps |= f.int(2) << 16
	if n := f.int(1); n != 21 {
		panic(fmt.Errorf("nonce of %d bytes", n))
	}
	f.take(6)
	g.caps |= f.int(4) << 32
	g.nonce = append(g.nonce, f.take(12)...)
	f.take(1)
	end = bytes.IndexByte(f.b, 0)
	g.method = string(f.take(end))
	f.take(1)
	f.end()
	return g
}

// login dials and logs in.
func login(t testing.TB, address string, caps uint64) *client {
	t.Helper()
	return loginTo(t, address, caps, "nextid")
}

func loginTo(t testing.TB, address string, caps uint64, database string) *client {
	t.Helper()
	c := dial(t, address).greet()
	c.caps = caps
	c.write(packet(1, response(caps, "root", "", database, "mysql_native_password")))
	c.seq = 2
	b, err := c.next()
	if err != nil || b[0] != 0 {
		t.Fatalf("login: %q, %v", b, err)
	}
	return c
}

func (c *client) write(b []byte) {
	c.t.Helper()
	if _, err := c.conn.Write(b); err != nil {
		c.t.Fatal(err)
	}
}

// ask sends a command and returns the answer.
func (c *client) ask(kind string, b []byte) []string {
	c.t.Helper()
	c.write(b)
	return c.read(kind)
}

// read returns the answer to a command that was sent, "closed" if the connection
// ends.
func (c *client) read(kind string) []string {
	c.t.Helper()
	lines, err := c.answer(kind)
	var timeout net.Error
	switch {
	case err == nil:
	case errors.As(err, &timeout) && timeout.Timeout():
		c.t.Fatalf("the server did not answer in time; %q", lines)
	default:
		lines = append(lines, "closed")
	}
	return lines
}
