package datum

import (
	"encoding/binary"
	"math/big"
	"strconv"
	"strings"
)

// lsnBytes is the size of a pg_lsn, a position in the write-ahead log.
const lsnBytes = 8

// parseLSN reads two hexadecimal numbers of at most eight digits: 16/B374D848.
func parseLSN(s string) (Value, error) {
	high, low, _ := strings.Cut(s, "/")
	var b [lsnBytes]byte
	for i, half := range []string{high, low} {
		n, err := strconv.ParseUint(half, 16, 32)
		if err != nil || len(half) > lsnBytes || strings.ContainsAny(half, "+_") {
			return Value{}, badSyntax(PgLSN, s)
		}
		binary.BigEndian.PutUint32(b[4*i:], uint32(n))
	}
	return MakeString(PgLSN, string(b[:])), nil
}

func appendLSN(dst []byte, s string) []byte {
	n := lsnNumber(s)
	dst = strconv.AppendUint(dst, n>>32, 16)
	return []byte(strings.ToUpper(string(strconv.AppendUint(append(dst, '/'), n&(1<<32-1), 16))))
}

func lsnNumber(s string) uint64 {
	var b [lsnBytes]byte
	copy(b[:], s)
	return binary.BigEndian.Uint64(b[:])
}

// lsnDecimal counts the bytes before a position.
func lsnDecimal(s string) Decimal { return Decimal{new(big.Int).SetUint64(lsnNumber(s)), 0} }
