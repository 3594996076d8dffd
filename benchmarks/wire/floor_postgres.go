package wire

import "encoding/binary"

// The answers: a row description, a row with "7123456789012345678", the end.
const (
	floorColumn = "T\x00\x00\x00\x20\x00\x01next_id\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x14\x00\x08\xff\xff\xff\xff\x00\x00"
	floorRow    = "D\x00\x00\x00\x1d\x00\x01\x00\x00\x00\x137123456789012345678C\x00\x00\x00\x0dSELECT 1\x00"
	floorReady  = "Z\x00\x00\x00\x05I"
	floorHello  = "R\x00\x00\x00\x08\x00\x00\x00\x00" +
		"S\x00\x00\x00\x18server_version\x0015.0\x00" + "S\x00\x00\x00\x19client_encoding\x00UTF8\x00" +
		"S\x00\x00\x00\x23standard_conforming_strings\x00on\x00" +
		"K\x00\x00\x00\x0c\x00\x00\x00\x01\x00\x00\x00\x02" + floorReady
)

// postgres answers one message of PostgreSQL's protocol.
func (c *floorConn) postgres(in, out []byte) (size int, answered []byte) {
	if len(in) < 5 {
		return 0, out
	}
	if !c.started {
		if size = int(binary.BigEndian.Uint32(in)); size > len(in) {
			return 0, out
		}
		if binary.BigEndian.Uint32(in[4:]) == 196608 { // version 3.0; everything else asks for encryption
			c.started = true
			return size, append(out, floorHello...)
		}
		return size, append(out, 'N')
	}
	if size = 1 + int(binary.BigEndian.Uint32(in[1:])); size > len(in) {
		return 0, out
	}
	switch in[0] {
	case 'Q':
		out = append(append(append(out, floorColumn...), floorRow...), floorReady...)
	case 'P':
		out = append(out, "1\x00\x00\x00\x04"...)
	case 'B':
		out = append(out, "2\x00\x00\x00\x04"...)
	case 'D':
		if in[5] == 'S' {
			out = append(out, "t\x00\x00\x00\x06\x00\x00"...)
		}
		out = append(out, floorColumn...)
	case 'E':
		out = append(out, floorRow...)
	case 'S':
		out = append(out, floorReady...)
	}
	return size, out
}
