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

// shapeOf returns the shape of a type, textShape for types that MySQL does not have.
func shapeOf(t datum.OID) shape {
	switch t {
	case datum.Unknown: // of NULL alone
		return shape{typeNull, charsetBinary, 0, flagBinary, 0}
	case datum.Bool:
		return shape{typeTiny, charsetBinary, 1, 0, 0}
	case datum.Int2:
		return shape{typeShort, charsetBinary, 6, 0, 0}
	case datum.Int4:
		return shape{typeLong, charsetBinary, 11, 0, 0}
	case datum.Int8:
		return shape{typeLongLong, charsetBinary, 20, 0, 0}
	case datum.Oid, datum.Xid:
		return shape{typeLong, charsetBinary, 10, flagUnsigned, 0}
	case datum.Float4:
		return shape{typeFloat, charsetBinary, 12, flagBinary, anyDecimals}
	case datum.Float8:
		return shape{typeDouble, charsetBinary, 22, flagBinary, anyDecimals}
	case datum.Numeric:
		return shape{typeNewDecimal, charsetBinary, 67, flagBinary, anyDecimals - 1}
	case datum.Date:
		return shape{typeDate, charsetBinary, 10, flagBinary, 0}
	case datum.Time:
		return shape{typeTime, charsetBinary, 15, flagBinary, 6}
	case datum.Timestamp:
		return shape{typeDatetime, charsetBinary, 26, flagBinary, 6}
	case datum.TimestampTZ:
		return shape{typeTimestamp, charsetBinary, 26, flagBinary, 6}
	case datum.UUID:
		return shape{typeString, charsetUTF8MB4, 36 * bytesPerRune, 0, 0}
	case datum.Bytea:
		return shape{typeVarString, charsetBinary, 65535, flagBinary, 0}
	case datum.JSON, datum.JSONB:
		return shape{typeJSON, charsetUTF8MB4, 1<<32 - 1, 0, 0}
	case datum.Name:
		return shape{typeVarString, charsetUTF8MB4, 63 * bytesPerRune, 0, 0}
	}
	return textShape
}

// catalog is the catalog of every column.
const catalog = "def"

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
	case datum.Timestamp, datum.Time:
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
			origin.Schema = cmp.Or(c.SQL.Database(), sqlfuncs.OwnDatabase)
		}
		if origin.NotNull {
			s.flags |= flagNotNull
		}
	}
	dst = appendString(dst, catalog)
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

// inDatabase reports whether definitions depend on the default database.
func inDatabase(columns []sqlfuncs.Column) bool {
	return slices.ContainsFunc(columns, func(c sqlfuncs.Column) bool { return c.Origin != nil && c.Origin.InDefault })
}

// encodeDefinitions encodes the column definitions of a statement and stores them in
// its Memo, with sequence numbers from 0 on. See encodedDefinitions.
func (c *conn) encodeDefinitions(st *sqlfuncs.Statement) []byte {
	b := []byte{everyDatabase}
	if inDatabase(st.Columns) {
		database := c.SQL.Database()
		b = append([]byte{byte(len(database))}, database...)
	}
	from, first := len(b), c.seq
	c.seq = 0
	b = c.definitions(b, st.Columns)
	c.seq = first
	st.Memo[0].Store(&b)
	return b[from:]
}

// head appends the beginning of a result: the number of columns, their definitions,
// and an EOF packet for clients without CLIENT_DEPRECATE_EOF. known: the client has
// the definitions from PREPARE. They are left out if it caches them.
func (c *conn) head(dst []byte, st *sqlfuncs.Statement, columns []sqlfuncs.Column, known bool) []byte {
	dst, at := begin(dst)
	dst = appendLenenc(dst, uint64(len(columns)))
	skip := false
	if c.caps.has(mariadbCacheMetadata) {
		skip = known
		follows := byte(1)
		if skip {
			follows = 0
		}
		dst = append(dst, follows)
	}
	dst = c.end(dst, at)
	if !skip {
		if len(st.Columns) == len(columns) && len(columns) > 0 && &st.Columns[0] == &columns[0] {
			dst = c.statementDefinitions(dst, st)
		} else {
			dst = c.definitions(dst, columns)
		}
	}
	return c.endDefinitions(dst)
}
