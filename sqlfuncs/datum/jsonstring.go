package datum

import (
	"strconv"
	"strings"
	"unicode/utf16"

	"nextid/sqlfuncs/sqlstate"
)

// AppendJSONString appends s as a JSON string, escaped as PostgreSQL does:
// quotes, backslashes and control characters only.
func AppendJSONString(dst []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, `\b`...)
		case '\f':
			dst = append(dst, `\f`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			if c < ' ' {
				dst = append(dst, `\u00`...)
				dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
			} else {
				dst = append(dst, c)
			}
		}
	}
	return append(dst, '"')
}

// UnquoteJSON decodes the token of a JSON string, with its quotes, whose
// syntax was checked. What a json may hold and a text may not is 22P05
// (\u0000) or 22P02 (half a surrogate pair).
func UnquoteJSON(token string) (string, error) {
	s := token[1 : len(token)-1]
	if strings.IndexByte(s, '\\') < 0 {
		return s, nil
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		if s[i] != 'u' {
			b.WriteByte(jsonEscapes[s[i]])
			continue
		}
		r, size, err := unicodeEscape(s[i-1:])
		if err != nil {
			return "", err
		}
		b.WriteRune(r)
		i += size - 2
	}
	return b.String(), nil
}

// jsonEscapes are the escapes of one letter (RFC 8259, section 7).
var jsonEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unicodeEscape reads \uXXXX, or two of them that are a surrogate pair.
func unicodeEscape(s string) (r rune, size int, err error) {
	r = codeUnit(s)
	switch {
	case r == 0:
		return 0, 0, sqlstate.New(codeUntranslatable, "unsupported Unicode escape sequence").
			WithDetail(`\u0000 cannot be converted to text.`)
	case !utf16.IsSurrogate(r):
		return r, 6, nil
	}
	low := codeUnit(s[6:])
	if pair := utf16.DecodeRune(r, low); pair != '\uFFFD' {
		return pair, 12, nil
	}
	detail := "Unicode low surrogate must follow a high surrogate."
	if r < 0xdc00 && low >= 0xd800 && low < 0xdc00 {
		detail = "Unicode high surrogate must not follow a high surrogate."
	}
	return 0, 0, sqlstate.New(sqlstate.InvalidText, "invalid input syntax for type json").WithDetail("%s", detail)
}

// codeUnit is the XXXX of the \uXXXX that s begins with, 0 where it does not.
func codeUnit(s string) rune {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	if err != nil {
		return 0
	}
	return rune(n)
}
