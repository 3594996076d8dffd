package load

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"
)

// ID is an id of 64 or 128 bits.
type ID struct{ Hi, Lo uint64 }

// Compare orders ids as the databases do.
func (id ID) Compare(other ID) int {
	return cmp.Or(cmp.Compare(id.Hi, other.Hi), cmp.Compare(id.Lo, other.Lo))
}

// add parses a decimal number or a UUID of an answer. It ignores other texts.
func (l *Link) add(text []byte) {
	if !l.Values {
		return
	}
	var id ID
	if len(text) == 36 && text[8] == '-' {
		var raw [16]byte
		if n, err := hex.Decode(raw[:], bytes.ReplaceAll(text, []byte("-"), nil)); err != nil || n != 16 {
			return
		}
		id = ID{binary.BigEndian.Uint64(raw[:8]), binary.BigEndian.Uint64(raw[8:])}
	} else {
		if len(text) == 0 || len(text) > 20 {
			return
		}
		for _, c := range text {
			if c < '0' || c > '9' {
				return
			}
			id.Lo = id.Lo*10 + uint64(c-'0')
		}
	}
	l.ids = append(l.ids, id)
}

// protocol encodes requests and decodes answers of a wire protocol.
type protocol interface {
	// query appends the request of a statement.
	query(dst []byte, sql string) []byte
	// prepare appends the request that prepares a statement, which has one answer.
	// execute appends the request that executes it with parameters in text format.
	prepare(dst []byte, sql string) []byte
	execute(dst []byte, args ...string) []byte
	// scan decodes the first message of in. It returns the length of the message, 0
	// if that is incomplete, and whether it ends an answer. Ids go to l.ids, an
	// error of the server to l.failed.
	scan(in []byte, l *Link) (size int, ends bool)
}

// serverError is an error that a server has returned. Its code is the SQLSTATE, or
// MySQL's number, or "".
type serverError struct{ message, code string }

func (e serverError) Error() string {
	if e.code == "" {
		return e.message
	}
	return e.message + " (" + e.code + ")"
}

// pgProtocol implements version 3 of PostgreSQL's protocol, see "Message Formats" in
// its manual. Results are in text format. ReadyForQuery ends an answer.
type pgProtocol struct{}

func (pgProtocol) query(dst []byte, sql string) []byte {
	dst = append(dst, 'Q')
	dst = binary.BigEndian.AppendUint32(dst, uint32(4+len(sql)+1))
	return append(append(dst, sql...), 0)
}

const pgSync = "S\x00\x00\x00\x04"

// prepare appends Parse of statement s1, and Sync.
func (pgProtocol) prepare(dst []byte, sql string) []byte {
	dst = append(dst, 'P')
	dst = binary.BigEndian.AppendUint32(dst, uint32(4+3+len(sql)+1+2))
	dst = append(append(dst, "s1\x00"...), sql...)
	return append(append(dst, 0, 0, 0), pgSync...)
}

// execute appends the messages that drivers and pgbench send: Bind of s1, Describe
// and Execute of the portal, and Sync.
func (pgProtocol) execute(dst []byte, args ...string) []byte {
	size := 4 + 1 + 3 + 2 + 2 + 2 + 2
	for _, value := range args {
		size += 4 + len(value)
	}
	dst = append(dst, 'B')
	dst = binary.BigEndian.AppendUint32(dst, uint32(size))
	dst = append(dst, "\x00s1\x00\x00\x00"...)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(args)))
	for _, value := range args {
		dst = append(binary.BigEndian.AppendUint32(dst, uint32(len(value))), value...)
	}
	return append(dst, "\x00\x01\x00\x00"+"D\x00\x00\x00\x06P\x00"+"E\x00\x00\x00\x09\x00\x00\x00\x00\x00"+pgSync...)
}

func (pgProtocol) scan(in []byte, l *Link) (size int, ends bool) {
	if len(in) < 5 {
		return 0, false
	}
	if size = 1 + int(binary.BigEndian.Uint32(in[1:])); size > len(in) {
		return 0, false
	}
	switch in[0] {
	case 'D':
		if size > 11 {
			if n := int(int32(binary.BigEndian.Uint32(in[7:]))); n > 0 && 11+n <= size {
				l.add(in[11 : 11+n])
			}
		}
	case 'E':
		var e serverError
		for field := range bytes.SplitSeq(in[5:size], []byte{0}) {
			switch {
			case len(field) > 0 && field[0] == 'C':
				e.code = string(field[1:])
			case len(field) > 0 && field[0] == 'M':
				e.message = string(field[1:])
			}
		}
		l.failed = e
	}
	return size, in[0] == 'Z'
}

// mysqlProtocol implements MySQL's protocol without CLIENT_DEPRECATE_EOF, so results
// end with EOF packets. See "Client/Server Protocol" in MySQL's source
// documentation.
type mysqlProtocol struct {
	part      mysqlPart // of an answer, to which the next packet belongs
	binary    bool      // rows are in the binary format, as of prepared statements
	statement uint32    // id of the prepared statement
}

type mysqlPart int

const (
	mysqlBegin mysqlPart = iota
	mysqlColumns
	mysqlRows
	mysqlGreeting
	mysqlPrepared    // of the answer to COM_STMT_PREPARE
	mysqlDescription // of its columns
)

// mysqlPacket appends a packet of a command. Its sequence id is 0.
func mysqlPacket(dst []byte, command byte, body string) []byte {
	size := 1 + len(body)
	return append(append(dst, byte(size), byte(size>>8), byte(size>>16), 0, command), body...)
}

func (p *mysqlProtocol) query(dst []byte, sql string) []byte {
	p.binary = false
	return mysqlPacket(dst, 3, sql) // COM_QUERY
}

func (p *mysqlProtocol) prepare(dst []byte, sql string) []byte {
	p.part = mysqlPrepared
	return mysqlPacket(dst, 22, sql) // COM_STMT_PREPARE
}

// execute ignores args: no benchmark has any over MySQL. Its statements have columns.
func (p *mysqlProtocol) execute(dst []byte, _ ...string) []byte {
	p.binary = true
	statement := string(binary.LittleEndian.AppendUint32(nil, p.statement))
	return mysqlPacket(dst, 23, statement+"\x00\x01\x00\x00\x00") // COM_STMT_EXECUTE: no cursor, one iteration
}

func (p *mysqlProtocol) scan(in []byte, l *Link) (size int, ends bool) {
	if len(in) < 4 {
		return 0, false
	}
	size = 4 + (int(in[0]) | int(in[1])<<8 | int(in[2])<<16)
	if size == 4 || size > len(in) {
		return 0, false
	}
	packet := in[4:size]
	end := packet[0] == 0xfe && len(packet) < 9
	switch {
	case packet[0] == 0xff: // ERR
		e := serverError{message: string(packet[min(3, len(packet)):])}
		if len(packet) > 9 && packet[3] == '#' { // the SQLSTATE is before the message
			e = serverError{string(packet[9:]), strconv.Itoa(int(binary.LittleEndian.Uint16(packet[1:])))}
		}
		l.failed, p.part = e, mysqlBegin
		return size, true
	case p.part == mysqlBegin && packet[0] == 0: // OK, with the number of rows and the id that an INSERT generated
		_, rest := lengthEncoded(packet[1:])
		if id, _ := lengthEncoded(rest); id != 0 && l.Values {
			l.ids = append(l.ids, ID{Lo: id})
		}
		return size, true
	case p.part == mysqlGreeting, end && (p.part == mysqlRows || p.part == mysqlDescription):
		p.part = mysqlBegin
		return size, true
	case p.part == mysqlBegin, p.part == mysqlColumns && end:
		p.part++
	case p.part == mysqlPrepared:
		p.part, p.statement = mysqlDescription, binary.LittleEndian.Uint32(packet[1:])
	case p.part == mysqlRows && p.binary: // a BIGINT after a zero byte and a NULL bitmap of one byte
		if l.Values && len(packet) >= 10 {
			l.ids = append(l.ids, ID{Lo: binary.LittleEndian.Uint64(packet[2:])})
		}
	case p.part == mysqlRows:
		if n := int(packet[0]); n < 0xfb && 1+n <= len(packet) {
			l.add(packet[1 : 1+n])
		}
	}
	return size, false
}

// lengthEncoded decodes a length-encoded integer. It returns 0 if b is too short.
func lengthEncoded(b []byte) (v uint64, rest []byte) {
	if len(b) > 0 && b[0] < 0xfb {
		return uint64(b[0]), b[1:]
	}
	if len(b) == 0 || b[0] < 0xfc {
		return 0, nil
	}
	size := [...]int{2, 3, 8, 0}[b[0]-0xfc]
	if len(b) <= size {
		return 0, nil
	}
	for i := range size {
		v |= uint64(b[1+i]) << (8 * i)
	}
	return v, b[1+size:]
}

// redisProtocol implements the part of RESP that INCR needs: answers of one line. It
// has no prepared statements.
type redisProtocol struct{ protocol }

// query appends a command of words without spaces: INCR orders.
func (redisProtocol) query(dst []byte, command string) []byte {
	words := strings.Fields(command)
	dst = append(strconv.AppendInt(append(dst, '*'), int64(len(words)), 10), "\r\n"...)
	for _, w := range words {
		dst = append(strconv.AppendInt(append(dst, '$'), int64(len(w)), 10), "\r\n"...)
		dst = append(append(dst, w...), "\r\n"...)
	}
	return dst
}

func (redisProtocol) scan(in []byte, l *Link) (size int, ends bool) {
	end := bytes.IndexByte(in, '\n')
	if end < 1 {
		return 0, false
	}
	switch line := in[:end-1]; line[0] {
	case '-':
		l.failed = serverError{message: string(line[1:])}
	case ':':
		l.add(line[1:])
	}
	return end + 1, true
}
