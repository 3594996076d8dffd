package sqlite

import (
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"sync"

	"modernc.org/sqlite"
)

// checksumFunction is the SQL function that computes all checksum columns.
const checksumFunction = "nextid_crc32c"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// rowChecksum returns the CRC-32C of integers and texts in their order. Type and
// length precede each value, so that two different rows never have the same input.
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

// sqliteDriver is a driver of this package alone. So its SQL function cannot clash
// with other users of SQLite in the process.
var sqliteDriver = sync.OnceValue(func() *sqlite.Driver {
	d := new(sqlite.Driver)
	d.MustRegisterDeterministicScalarFunction(checksumFunction, -1,
		func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) { return rowChecksum(args) })
	return d
})
