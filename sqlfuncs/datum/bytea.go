package datum

import (
	"encoding/hex"
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
