package datum

import (
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"nextid/sqlfuncs/sqlstate"
)

// parseBytea reads the hex form (\x…) and the escape form.
func parseBytea(s string) (Value, error) {
	if digits, ok := strings.CutPrefix(s, `\x`); ok {
		return parseByteaHex(digits)
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' {
			rest := s[i+1:]
			switch {
			case strings.HasPrefix(rest, `\`):
				i++
			case len(rest) >= 3 && rest[0] >= '0' && rest[0] <= '3' && isOctal(rest[1]) && isOctal(rest[2]):
				c = (rest[0]-'0')<<6 | (rest[1]-'0')<<3 | (rest[2] - '0')
				i += 3
			default:
				return Value{}, sqlstate.New(sqlstate.InvalidText, "invalid input syntax for type bytea")
			}
		}
		b = append(b, c)
	}
	return MakeString(Bytea, string(b)), nil
}

func isOctal(c byte) bool { return c-'0' < 8 }

// parseByteaHex reads pairs of digits with white space between pairs.
func parseByteaHex(s string) (Value, error) {
	b := make([]byte, 0, len(s)/2)
	for i := 0; i < len(s); {
		if c := s[i]; c == ' ' || c == '\n' || c == '\t' || c == '\r' {
			i++
			continue
		}
		high, err := hexDigit(s[i:])
		if err != nil {
			return Value{}, err
		}
		if i+1 == len(s) {
			return Value{}, sqlstate.New(sqlstate.InvalidParameterValue, "invalid hexadecimal data: odd number of digits")
		}
		low, err := hexDigit(s[i+1:])
		if err != nil {
			return Value{}, err
		}
		b = append(b, high<<4|low)
		i += 2
	}
	return MakeString(Bytea, string(b)), nil
}

// hexDigit returns the value of the first digit of s.
func hexDigit(s string) (byte, error) {
	switch c := s[0]; {
	case isDigit(c):
		return c - '0', nil
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, nil
	}
	_, size := utf8.DecodeRuneInString(s)
	return 0, sqlstate.New(sqlstate.InvalidParameterValue, `invalid hexadecimal digit: "%s"`, clip(s[:size]))
}

// appendBytea prints bytea_output hex or escape.
func appendBytea(dst []byte, s string, env *Env) []byte {
	if env == nil || !env.ByteaEscape {
		return hex.AppendEncode(append(dst, `\x`...), []byte(s))
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\\':
			dst = append(dst, `\\`...)
		case c < ' ' || c > '~':
			dst = append(dst, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// Values of bit and bit varying are their binary digits in Str.

func appendDigits(b *strings.Builder, v uint64, n int) {
	for n--; n >= 0; n-- {
		b.WriteByte('0' + byte(v>>n&1))
	}
}

// BitsOfInt is the cast of an integer of so many bits to bit(n): its lowest n
// bits, with its sign in front of them where n is larger.
func BitsOfInt(v int64, n int32) Value {
	var b strings.Builder
	for ; n > 64; n-- {
		b.WriteByte('0' + byte(uint64(v)>>63))
	}
	appendDigits(&b, uint64(v), int(n))
	return MakeString(Bit, b.String())
}

// intOfBits is the cast of bit(n) to an integer, whose lowest bits they are.
func intOfBits(v Value, to OID) (Value, error) {
	n, err := strconv.ParseUint("0"+v.Str, 2, 64)
	switch {
	case to == Int4 && len(v.Str) > 32:
		return Value{}, sqlstate.New(sqlstate.NumericOutOfRange, "integer out of range")
	case err != nil:
		return Value{}, sqlstate.New(sqlstate.NumericOutOfRange, "bigint out of range")
	case to == Int4:
		n = uint64(int32(n)) // the first of 32 bits is the sign
	}
	return Value{Type: to, Valid: true, Int: int64(n)}, nil
}

// uuidBytes is the size of a uuid.
const uuidBytes = 16

// MakeUUID returns a uuid of its bytes.
func MakeUUID(b [uuidBytes]byte) Value { return MakeString(UUID, string(b[:])) }

// parseUUID reads 32 hexadecimal digits, in braces or not, with a hyphen
// after any group of four.
func parseUUID(s string) (Value, error) {
	text := s
	if len(text) > 1 && text[0] == '{' {
		if text[len(text)-1] != '}' {
			return Value{}, badSyntax(UUID, s)
		}
		text = text[1 : len(text)-1]
	}
	if !uuidForm.MatchString(text) {
		return Value{}, badSyntax(UUID, s)
	}
	b, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	return MakeString(UUID, string(b)), err
}

// uuidForm is a hyphen or none after each group of four digits.
var uuidForm = regexp.MustCompile(`^([0-9a-fA-F]{4}-?){7}[0-9a-fA-F]{4}$`)

// appendUUID prints 8-4-4-4-12 digits.
func appendUUID(dst []byte, s string) []byte {
	var b [uuidBytes]byte
	copy(b[:], s)
	dst = append(hex.AppendEncode(dst, b[:4]), '-')
	dst = append(hex.AppendEncode(dst, b[4:6]), '-')
	dst = append(hex.AppendEncode(dst, b[6:8]), '-')
	dst = append(hex.AppendEncode(dst, b[8:10]), '-')
	return hex.AppendEncode(dst, b[10:])
}
