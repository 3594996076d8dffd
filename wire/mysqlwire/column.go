package mysqlwire

import (
	"cmp"
	"slices"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/datum"
)

// Types on the wire (enum_field_types).
const (
	typeDecimal    = 0
	typeTiny       = 1
	typeShort      = 2
	typeLong       = 3
	typeFloat      = 4
	typeDouble     = 5
	typeNull       = 6
	typeTimestamp  = 7
	typeLongLong   = 8
	typeInt24      = 9
	typeDate       = 10
	typeTime       = 11
	typeDatetime   = 12
	typeYear       = 13
	typeVarchar    = 15
	typeBit        = 16
	typeJSON       = 245
	typeNewDecimal = 246
	typeEnum       = 247
	typeSet        = 248
	typeTinyBlob   = 249
	typeMediumBlob = 250
	typeLongBlob   = 251
	typeBlob       = 252
	typeVarString  = 253
	typeString     = 254
	typeGeometry   = 255
)

// Flags of a column definition.
const (
	flagNotNull  = 1 << 0
	flagUnsigned = 1 << 5
	flagBinary   = 1 << 7
)

// shape is the encoding of a type, with the fields of its column definition.
type shape struct {
	typ      byte
	charset  uint16
	length   uint32 // in bytes
	flags    uint16
	decimals byte
}

// bytesPerRune is the maximum of utf8mb4, by which MySQL counts the length of a
// text.
const bytesPerRune = 4

// anyDecimals is the value of decimals for a number without a fixed number of them.
const anyDecimals = 31

// describedLength is the length, in characters, of texts in the server's tables.
// DESCRIBE shows it: varchar(255).
const describedLength = 255

// maxVarString is the greatest length of a typeVarString, in bytes.
const maxVarString = 65535

// textShape is the shape of every type that MySQL does not have.
var textShape = shape{typ: typeVarString, charset: charsetUTF8MB4, length: maxVarString / bytesPerRune * bytesPerRune}

// shapes holds the shapes of the types that MySQL has.
var shapes = map[datum.OID]shape{
	datum.Unknown:     {typeNull, charsetBinary, 0, flagBinary, 0}, // of NULL alone
	datum.Bool:        {typeTiny, charsetBinary, 1, 0, 0},
	datum.Int2:        {typeShort, charsetBinary, 6, 0, 0},
	datum.Int4:        {typeLong, charsetBinary, 11, 0, 0},
	datum.Int8:        {typeLongLong, charsetBinary, 20, 0, 0},
	datum.Oid:         {typeLong, charsetBinary, 10, flagUnsigned, 0},
	datum.Xid:         {typeLong, charsetBinary, 10, flagUnsigned, 0},
	datum.Float4:      {typeFloat, charsetBinary, 12, flagBinary, anyDecimals},
	datum.Float8:      {typeDouble, charsetBinary, 22, flagBinary, anyDecimals},
	datum.Numeric:     {typeNewDecimal, charsetBinary, 67, flagBinary, anyDecimals - 1},
	datum.Date:        {typeDate, charsetBinary, 10, flagBinary, 0},
	datum.Timestamp:   {typeDatetime, charsetBinary, 26, flagBinary, 6},
	datum.TimestampTZ: {typeTimestamp, charsetBinary, 26, flagBinary, 6},
	datum.UUID:        {typeString, charsetUTF8MB4, 36 * bytesPerRune, 0, 0},
	datum.Bytea:       {typeVarString, charsetBinary, 65535, flagBinary, 0},
	datum.JSON:        {typeJSON, charsetUTF8MB4, 1<<32 - 1, 0, 0},
	datum.JSONB:       {typeJSON, charsetUTF8MB4, 1<<32 - 1, 0, 0},
	datum.Name:        {typeVarString, charsetUTF8MB4, 63 * bytesPerRune, 0, 0},
}

// shapeOf returns the shape of a type.
func shapeOf(t datum.OID) shape {
	if s, ok := shapes[t]; ok {
		return s
	}
	return textShape
}

// appendDefinition appends a column definition ("Protocol::ColumnDefinition41")
// to the packet that has begun.
func (c *conn) appendDefinition(dst []byte, column *sqlfuncs.Column) []byte {
	s := shapeOf(column.Type)
	switch column.Type {
	case datum.Varchar, datum.Text:
		if column.TypeMod > varcharMod {
			s.length = uint32(column.TypeMod-varcharMod) * bytesPerRune
		} else if column.Origin != nil && column.Origin.Table != "" {
			s.length = describedLength * bytesPerRune
		}
		if s.length > maxVarString {
			s.typ = typeBlob
		}
	case datum.Timestamp:
		if d := column.TypeMod; d >= 0 && d < 6 {
			s.decimals = byte(d)
			s.length -= uint32(6 - d)
			if d == 0 {
				s.length--
			}
		}
	case datum.Numeric:
		if column.TypeMod >= varcharMod {
			s.decimals = byte((column.TypeMod - varcharMod) & 0x7ff)
			s.length = uint32(column.TypeMod-varcharMod)>>16 + 1 // the sign
			if s.decimals > 0 {
				s.length++ // the point
			}
		}
	}
	return c.appendShape(dst, column, s)
}

// appendShape appends a column definition with a shape. A column without an Origin
// is an expression: its schema and table are empty.
func (c *conn) appendShape(dst []byte, column *sqlfuncs.Column, s shape) []byte {
	var origin sqlfuncs.Origin
	if column.Origin != nil {
		origin = *column.Origin
		if origin.InDefault {
			origin.Schema = cmp.Or(c.SQL.MySQL().Database, sqlfuncs.OwnDatabase)
		}
		if origin.NotNull {
			s.flags |= flagNotNull
		}
	}
	dst = appendString(dst, "def") // the catalog of every column
	dst = appendString(dst, origin.Schema)
	dst = appendString(dst, origin.Alias)
	dst = appendString(dst, origin.Table)
	dst = appendString(dst, column.Name)
	dst = appendString(dst, origin.Column)
	dst = append(dst, 12) // bytes that follow
	dst = appendUint16(dst, s.charset)
	dst = appendUint32(dst, s.length)
	dst = append(dst, s.typ)
	dst = appendUint16(dst, s.flags)
	return append(dst, s.decimals, 0, 0)
}

// varcharMod is the difference between a type modifier and the length (VARHDRSZ of
// PostgreSQL).
const varcharMod = 4

// definitions appends the column definitions, one packet each.
func (c *conn) definitions(dst []byte, columns []sqlfuncs.Column) []byte {
	for i := range columns {
		var at int
		dst, at = begin(dst)
		dst = c.appendDefinition(dst, &columns[i])
		dst = c.end(dst, at)
	}
	return dst
}

// statementDefinitions appends the column definitions of a statement. They are
// encoded once, for all sessions, unless they depend on the default database.
func (c *conn) statementDefinitions(dst []byte, st *sqlfuncs.Statement) []byte {
	memo := st.Memo[0].Load()
	if memo == nil {
		if slices.ContainsFunc(st.Columns, func(c sqlfuncs.Column) bool { return c.Origin != nil && c.Origin.InDefault }) {
			return c.definitions(dst, st.Columns)
		}
		first := c.seq
		encoded := c.definitions(nil, st.Columns)
		c.seq, memo = first, &encoded
		st.Memo[0].Store(memo)
	}
	at := len(dst)
	dst = append(dst, *memo...)
	for at < len(dst) { // number the packets
		dst[at+3] = c.seq
		c.seq++
		at += headerSize + (int(dst[at]) | int(dst[at+1])<<8 | int(dst[at+2])<<16)
	}
	return dst
}

// head appends the beginning of a result: the number of columns, their definitions,
// and an EOF packet for clients without CLIENT_DEPRECATE_EOF. known: the client has
// the definitions from PREPARE. They are left out if it caches them.
func (c *conn) head(dst []byte, st *sqlfuncs.Statement, columns []sqlfuncs.Column, known bool) []byte {
	dst, at := begin(dst)
	dst = appendLenenc(dst, uint64(len(columns)))
	known = known && c.caps.has(mariadbCacheMetadata)
	switch {
	case known:
		dst = append(dst, 0) // no definitions follow
	case c.caps.has(mariadbCacheMetadata):
		dst = append(dst, 1)
	}
	dst = c.end(dst, at)
	switch {
	case known:
	case sameColumns(st.Columns, columns):
		dst = c.statementDefinitions(dst, st)
	default:
		dst = c.definitions(dst, columns)
	}
	return c.endDefinitions(dst)
}

// sameColumns reports whether two lists are the same one.
func sameColumns(a, b []sqlfuncs.Column) bool {
	return len(a) == len(b) && len(a) > 0 && &a[0] == &b[0]
}
