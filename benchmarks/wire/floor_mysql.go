package wire

// The answers, as nextid gives them: one column, a row with
// "7123456789012345678" in text or in binary, the end.
const (
	mysqlFloorHello = "J\x00\x00\x00\x0a8.0.11\x00\x01\x00\x00\x0012345678\x00\x0f\xa2-\x02\x00\x08\x00\x15\x00\x00\x00\x00\x00\x00\x00" +
		"\x00\x00\x00123456789012\x00mysql_native_password\x00"
	mysqlFloorWelcome = "\x07\x00\x00\x02\x00\x00\x00\x02\x00\x00\x00"

	mysqlFloorColumn = "'\x00\x00\x02\x03def\x00\x00\x00\x11next_id('orders')\x00\x0c?\x00\x14\x00\x00\x00\x08\x00\x00\x00\x00\x00"
	mysqlFloorEnd3   = "\x05\x00\x00\x03\xfe\x00\x00\x02\x00"
	mysqlFloorHead   = "\x01\x00\x00\x01\x01" + mysqlFloorColumn + mysqlFloorEnd3
	mysqlFloorEnd5   = "\x05\x00\x00\x05\xfe\x00\x00\x02\x00"

	mysqlFloorText     = mysqlFloorHead + "\x14\x00\x00\x04\x137123456789012345678" + mysqlFloorEnd5
	mysqlFloorBinary   = mysqlFloorHead + "\x0a\x00\x00\x04\x00\x00N\xf3\xec95\x9a\xdbb" + mysqlFloorEnd5
	mysqlFloorPrepared = "\x0c\x00\x00\x01\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00" + mysqlFloorColumn + mysqlFloorEnd3
)

// mysql answers one packet of MySQL's protocol.
func (c *floorConn) mysql(in, out []byte) (size int, answered []byte) {
	if len(in) < 5 {
		return 0, out
	}
	if size = 4 + int(in[0]) + int(in[1])<<8 + int(in[2])<<16; size > len(in) {
		return 0, out
	}
	if !c.started { // whoever it is
		c.started = true
		return size, append(out, mysqlFloorWelcome...)
	}
	switch in[4] {
	case 3: // COM_QUERY
		out = append(out, mysqlFloorText...)
	case 22: // COM_STMT_PREPARE
		out = append(out, mysqlFloorPrepared...)
	case 23: // COM_STMT_EXECUTE
		out = append(out, mysqlFloorBinary...)
	}
	return size, out
}
