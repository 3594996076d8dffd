package load

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// ID is an id of 64 or 128 bits.
type ID struct{ Hi, Lo uint64 }

// Compare orders ids as the databases do.
func (id ID) Compare(other ID) int {
	return cmp.Or(cmp.Compare(id.Hi, other.Hi), cmp.Compare(id.Lo, other.Lo))
}

// add parses a decimal number or a UUID of an answer. It ignores other texts.
func (l *Link) add(text []byte) {
	if n, err := strconv.ParseUint(string(text), 10, 64); err == nil {
		l.ids = append(l.ids, ID{Lo: n})
	} else if u, err := uuid.ParseBytes(text); err == nil {
		l.ids = append(l.ids, ID{binary.BigEndian.Uint64(u[:8]), binary.BigEndian.Uint64(u[8:])})
	}
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

// pgProtocol implements version 3 of PostgreSQL's protocol, see "Message Formats" in
// its manual. Results are in text format. ReadyForQuery ends an answer.
type pgProtocol struct{}

func (pgProtocol) query(dst []byte, sql string) []byte {
	return pgMessages(dst, &pgproto3.Query{String: sql})
}

func (pgProtocol) prepare(dst []byte, sql string) []byte {
	return pgMessages(dst, &pgproto3.Parse{Name: "s1", Query: sql}, &pgproto3.Sync{})
}

// execute appends the messages that drivers and pgbench send.
func (pgProtocol) execute(dst []byte, args ...string) []byte {
	bind := &pgproto3.Bind{PreparedStatement: "s1", ResultFormatCodes: []int16{pgproto3.TextFormat}}
	for _, value := range args {
		bind.Parameters = append(bind.Parameters, []byte(value))
	}
	return pgMessages(dst, bind, &pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{}, &pgproto3.Sync{})
}

func pgMessages(dst []byte, messages ...pgproto3.FrontendMessage) []byte {
	for _, m := range messages {
		dst, _ = m.Encode(dst) // fails above 1 GB only
	}
	return dst
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
		var e pgproto3.ErrorResponse
		_ = e.Decode(in[5:size]) // without some fields, it is an error all the same
		l.failed = pgconn.ErrorResponseToPgError(&e)
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
	case packet[0] == 0xff && len(packet) > 3: // ERR
		message := packet[3:]
		if message[0] == '#' && len(message) > 5 { // the SQLSTATE
			message = message[6:]
		}
		l.failed, p.part = &mysql.MySQLError{Number: binary.LittleEndian.Uint16(packet[1:]), Message: string(message)}, mysqlBegin
		return size, true
	case p.part == mysqlBegin && packet[0] == 0: // OK, with the number of rows and the id that an INSERT generated
		_, rest := lengthEncoded(packet[1:])
		if id, _ := lengthEncoded(rest); id != 0 {
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
		if len(packet) >= 10 {
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
		l.failed = errors.New(string(line[1:]))
	case ':':
		l.add(line[1:])
	}
	return end + 1, true
}
