package load

import (
	"context"
	"encoding/binary"

	"nextid/dsn"
)

// mysqlProtocol implements MySQL's protocol without CLIENT_DEPRECATE_EOF, so results
// end with EOF packets. See "Client/Server Protocol" in MySQL's source
// documentation.
type mysqlProtocol struct {
	greeting  bool // the next packet is the greeting
	state     mysqlState
	preparing bool   // the next packet answers COM_STMT_PREPARE
	binary    bool   // rows are in the binary format, as of prepared statements
	statement uint32 // id of the prepared statement
	skip      int    // packets left of a prepared statement's description
}

// mysqlState is the part of an answer to which the next packet belongs.
type mysqlState int

const (
	mysqlBegin mysqlState = iota
	mysqlColumns
	mysqlRows
)

const (
	comQuery       = 3
	comStmtPrepare = 22
	comStmtExecute = 23
)

func mysqlHeader(dst []byte, size int) []byte {
	return append(dst, byte(size), byte(size>>8), byte(size>>16), 0)
}

func (p *mysqlProtocol) query(dst []byte, sql string) []byte {
	p.binary = false
	return append(append(mysqlHeader(dst, 1+len(sql)), comQuery), sql...)
}

func (p *mysqlProtocol) prepare(dst []byte, sql string) ([]byte, int) {
	p.preparing = true
	return append(append(mysqlHeader(dst, 1+len(sql)), comStmtPrepare), sql...), 1
}

func (p *mysqlProtocol) execute(dst []byte) []byte {
	p.binary = true
	dst = append(mysqlHeader(dst, 10), comStmtExecute)
	dst = binary.LittleEndian.AppendUint32(dst, p.statement)
	return append(dst, 0, 1, 0, 0, 0) // no cursor, one iteration
}

// scan implements protocol. An ERR packet ends it with an error.
func (p *mysqlProtocol) scan(in []byte, values *[]ID) (used, answers int, err error) {
	for len(in)-used >= 4 {
		size := int(in[used]) | int(in[used+1])<<8 | int(in[used+2])<<16
		if size == 0 || used+4+size > len(in) {
			break
		}
		packet := in[used+4 : used+4+size]
		used += 4 + size
		if packet[0] == 0xff {
			return used, answers, mysqlError(packet)
		}
		if p.packet(packet, values) {
			answers++
		}
	}
	return used, answers, nil
}

// packet decodes one packet and reports whether it ends an answer.
func (p *mysqlProtocol) packet(packet []byte, values *[]ID) (ends bool) {
	switch {
	case p.greeting:
		p.greeting = false
		return true
	case p.skip > 0:
		p.skip--
		return p.skip == 0
	case p.preparing:
		p.preparing = false
		p.statement = binary.LittleEndian.Uint32(packet[1:])
		for _, n := range [...]uint16{binary.LittleEndian.Uint16(packet[5:]), binary.LittleEndian.Uint16(packet[7:])} {
			if n > 0 {
				p.skip += int(n) + 1
			}
		}
		return p.skip == 0
	}
	end := packet[0] == 0xfe && len(packet) < 9
	switch {
	case p.state == mysqlBegin && packet[0] == 0: // OK
		if values != nil {
			_, rest := lengthEncoded(packet[1:])
			if id, _ := lengthEncoded(rest); id != 0 {
				*values = append(*values, ID{Lo: id})
			}
		}
		return true
	case p.state == mysqlBegin:
		p.state = mysqlColumns
	case p.state == mysqlColumns && end:
		p.state = mysqlRows
	case p.state == mysqlRows && end:
		p.state = mysqlBegin
		return true
	case p.state == mysqlRows && values != nil:
		if id, ok := p.firstColumn(packet); ok {
			*values = append(*values, id)
		}
	}
	return false
}

// firstColumn returns the id in the first column of a row. In the binary format it
// is a BIGINT after a zero byte and a NULL bitmap of one byte.
func (p *mysqlProtocol) firstColumn(row []byte) (ID, bool) {
	if p.binary {
		if len(row) < 10 {
			return ID{}, false
		}
		return ID{Lo: binary.LittleEndian.Uint64(row[2:])}, true
	}
	if n := int(row[0]); n < 0xfb && 1+n <= len(row) {
		return parseID(row[1 : 1+n])
	}
	return ID{}, false
}

// lengthEncoded decodes a length-encoded integer.
func lengthEncoded(b []byte) (v uint64, rest []byte) {
	size := 0
	switch {
	case len(b) == 0:
		return 0, nil
	case b[0] < 0xfb:
		return uint64(b[0]), b[1:]
	case b[0] == 0xfc:
		size = 2
	case b[0] == 0xfd:
		size = 3
	case b[0] == 0xfe:
		size = 8
	}
	if len(b) <= size {
		return 0, nil
	}
	for i := range size {
		v |= uint64(b[1+i]) << (8 * i)
	}
	return v, b[1+size:]
}

func mysqlError(packet []byte) error {
	if len(packet) > 9 && packet[3] == '#' {
		return serverError(string(packet[9:]) + " (" + string(packet[4:9]) + ")")
	}
	return serverError(packet[min(3, len(packet)):])
}

// dialMySQL logs in as a user without a password. It does not set
// CLIENT_DEPRECATE_EOF.
func dialMySQL(ctx context.Context, url string) (*Link, error) {
	config, err := dsn.MySQL(url)
	if err != nil {
		return nil, err
	}
	l, err := connect(ctx, config.Net, config.Addr, &mysqlProtocol{greeting: true})
	if err != nil {
		return nil, err
	}
	if _, err = l.exchange(ctx, nil, 1); err == nil {
		const capabilities = 1 | 1<<3 | 1<<9 | 1<<13 | 1<<15 | 1<<19 // long passwords, a database, 4.1, transactions, a nonce, a plug-in
		body := binary.LittleEndian.AppendUint32(nil, capabilities)
		body = append(binary.LittleEndian.AppendUint32(body, 1<<24), 45) // the largest packet, utf8mb4
		body = append(append(body, make([]byte, 23)...), config.User+"\x00\x00"+config.DBName+"\x00mysql_native_password\x00"...)
		request := append(mysqlHeader(nil, len(body)), body...)
		request[3] = 1 // sequence id after the greeting's 0
		_, err = l.exchange(ctx, request, 1)
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}
