package load

import (
	"context"
	"encoding/binary"
	"io"
	"net"

	"github.com/go-sql-driver/mysql"

	"nextid/dsn"
)

// mysqlProtocol speaks MySQL's protocol in its classic form, see "Client/Server
// Protocol" of MySQL's source documentation: results end in EOF packets.
type mysqlProtocol struct {
	state     mysqlState
	preparing bool
	binary    bool // the running statements are prepared ones
	statement uint32
	skip      int // packets of a prepared statement's description
}

// mysqlState is where in an answer the next packet stands.
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
	return append(dst, 0, 1, 0, 0, 0) // no cursor, once
}

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

// packet takes one packet and reports whether it ends an answer.
func (p *mysqlProtocol) packet(packet []byte, values *[]ID) (ends bool) {
	switch {
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

// firstColumn reads the first column of a row: of a prepared statement, a
// BIGINT, which follows a zero and the bitmap of nulls.
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

// lengthEncoded reads a length-encoded integer.
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

func dialMySQL(ctx context.Context, url string) (*Link, error) {
	config, err := dsn.MySQL(url)
	if err != nil {
		return nil, err
	}
	var raw net.Conn
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		raw = conn
		return &classicGreeting{Conn: conn}, nil
	}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	conn, err := connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	link, err := takeOver(raw, &mysqlProtocol{})
	if link != nil {
		link.keep = conn
	}
	return link, err
}

// classicGreeting is a connection on which the server's greeting offers only
// the classic form of results, so that driver and server agree on it.
type classicGreeting struct {
	net.Conn
	greeting []byte
	greeted  bool
}

// Read implements net.Conn.
func (c *classicGreeting) Read(b []byte) (int, error) {
	if !c.greeted {
		c.greeted = true
		var header [4]byte
		if _, err := io.ReadFull(c.Conn, header[:]); err != nil {
			return 0, err
		}
		packet := make([]byte, int(header[0])|int(header[1])<<8|int(header[2])<<16)
		if _, err := io.ReadFull(c.Conn, packet); err != nil {
			return 0, err
		}
		dropNewResults(packet)
		c.greeting = append(header[:], packet...)
	}
	if len(c.greeting) > 0 {
		n := copy(b, c.greeting)
		c.greeting = c.greeting[n:]
		return n, nil
	}
	return c.Conn.Read(b)
}

// dropNewResults clears, in a greeting, CLIENT_DEPRECATE_EOF and what MariaDB
// offers beyond MySQL. After the version stand the connection's number (4),
// half a nonce (9), capabilities (2), charset (1), status (2), capabilities
// (2), a length (1), and ten bytes of which MariaDB uses the last four.
func dropNewResults(packet []byte) {
	version := 1
	for version < len(packet) && packet[version] != 0 {
		version++
	}
	upper := version + 1 + 4 + 9 + 2 + 1 + 2
	if packet[0] != 10 || upper+2+1+10 > len(packet) {
		return // an error, or a version without any of this
	}
	packet[upper+1] &^= 1 // bit 24
	clear(packet[upper+3+6 : upper+3+10])
}
