package sqlite

import (
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"sync"

	"modernc.org/sqlite"
)

// checksumFunction is the SQL function behind every checksum column.
const checksumFunction = "nextid_crc32c"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// rowChecksum is the CRC-32C of integers and texts in their order. Each is
// written with its type and length first, so that no two rows share a text.
func rowChecksum(values []driver.Value) (int64, error) {
	sum := crc32.New(castagnoli)
	var head [9]byte
	for i, v := range values {
		switch v := v.(type) {
		case int64:
			head[0] = 'i'
			binary.BigEndian.PutUint64(head[1:], uint64(v))
			sum.Write(head[:])
		case string:
			head[0] = 't'
			binary.BigEndian.PutUint64(head[1:], uint64(len(v)))
			sum.Write(head[:])
			sum.Write([]byte(v))
		default:
			return 0, fmt.Errorf("%s: argument %d is a %T", checksumFunction, i+1, v)
		}
	}
	return int64(sum.Sum32()), nil
}

// sqliteDriver is a driver of our own: its function is not seen by, and
// cannot clash with, other users of SQLite in the process.
var sqliteDriver = sync.OnceValue(func() *sqlite.Driver {
	d := new(sqlite.Driver)
	d.MustRegisterDeterministicScalarFunction(checksumFunction, -1,
		func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) { return rowChecksum(args) })
	return d
})
