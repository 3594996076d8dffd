package mysqlwire_test

import (
	"bytes"
	"encoding/binary"
	"math"
)

// Flags as MySQL's documentation numbers them, apart from the code under
// test.
const (
	longPassword    = 1 << 0
	connectWithDB   = 1 << 3
	protocol41      = 1 << 9
	ssl             = 1 << 11
	transactions    = 1 << 13
	secureAuth      = 1 << 15
	multiStatements = 1 << 16
	multiResults    = 1 << 17
	pluginAuth      = 1 << 19
	connectAttrs    = 1 << 20
	lenencAuth      = 1 << 21
	sessionTrack    = 1 << 23
	deprecateEOF    = 1 << 24
	queryAttributes = 1 << 27 // mysql2 sets it unasked, and sends no attributes then
	mariadbBulk     = 1 << 34
	cacheMetadata   = 1 << 36

	// plain holds the capabilities of any client since MySQL 5.5.
	plain = longPassword | connectWithDB | protocol41 | transactions | secureAuth | multiStatements | multiResults | pluginAuth | connectAttrs | lenencAuth

	// modern adds capabilities of MySQL 8's clients.
	modern = plain | sessionTrack | deprecateEOF

	// maria holds the capabilities of MariaDB's newest connectors.
	maria = modern&^longPassword | mariadbBulk | cacheMetadata
)

// packet frames a payload, in several packets if it is long.
func packet(seq byte, payload []byte) []byte {
	var out []byte
	for {
		n := min(len(payload), 1<<24-1)
		out = append(out, byte(n), byte(n>>8), byte(n>>16), seq)
		out = append(out, payload[:n]...)
		payload = payload[n:]
		seq++
		if n < 1<<24-1 {
			return out
		}
	}
}

// command frames a command.
func command(typ byte, parts ...[]byte) []byte {
	return packet(0, append([]byte{typ}, join(parts...)...))
}

func query(sql string) []byte   { return command(3, []byte(sql)) }
func prepare(sql string) []byte { return command(0x16, []byte(sql)) }

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func u16(v int) []byte    { return binary.LittleEndian.AppendUint16(nil, uint16(v)) }
func u32(v int) []byte    { return binary.LittleEndian.AppendUint32(nil, uint32(v)) }
func u64(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

func cstr(s string) []byte { return append([]byte(s), 0) }

// lenenc is a length-encoded integer.
func lenenc(n int) []byte {
	switch {
	case n < 251:
		return []byte{byte(n)}
	case n < 1<<16:
		return append([]byte{0xfc}, u16(n)...)
	case n < 1<<24:
		return append([]byte{0xfd}, u32(n)[:3]...)
	}
	return append([]byte{0xfe}, u64(uint64(n))...)
}

func lenstr(s string) []byte { return append(lenenc(len(s)), s...) }

// response is the payload of a handshake response.
func response(caps uint64, user, answer, database, method string, attrs ...string) []byte {
	var a []byte
	for _, s := range attrs {
		a = append(a, lenstr(s)...)
	}
	filler := make([]byte, 23)
	if caps&longPassword == 0 {
		binary.LittleEndian.PutUint32(filler[19:], uint32(caps>>32))
	}
	out := join(u32(int(uint32(caps))), u32(1<<24), []byte{45}, filler, cstr(user))
	switch {
	case caps&lenencAuth != 0:
		out = append(out, lenstr(answer)...)
	case caps&secureAuth != 0:
		out = append(append(out, byte(len(answer))), answer...)
	default:
		out = append(out, cstr(answer)...)
	}
	if caps&connectWithDB != 0 {
		out = append(out, cstr(database)...)
	}
	if caps&pluginAuth != 0 {
		out = append(out, cstr(method)...)
	}
	if caps&connectAttrs != 0 {
		out = append(append(out, lenenc(len(a))...), a...)
	}
	return out
}

// param is a value of an execution.
type param struct {
	typ   int // 0x8000: unsigned
	value []byte
	null  bool
}

func text(s string) param  { return param{typ: 253, value: lenstr(s)} }
func bigint(v int64) param { return param{typ: 8, value: u64(uint64(v))} }
func double(v float64) param {
	return param{typ: 5, value: u64(math.Float64bits(v))}
}

// execute frames COM_STMT_EXECUTE.
func execute(id, flags int, params ...param) []byte {
	body := join(u32(id), []byte{byte(flags)}, u32(1))
	if len(params) > 0 {
		nulls := make([]byte, (len(params)+7)/8)
		var types, values []byte
		for i, p := range params {
			types = append(types, u16(p.typ)...)
			if p.null {
				nulls[i/8] |= 1 << (i % 8)
			} else {
				values = append(values, p.value...)
			}
		}
		body = join(body, nulls, []byte{1}, types, values)
	}
	return command(0x17, body)
}
