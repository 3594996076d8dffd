package pgfunc

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

var byteFunctions = []engine.Function{
	{Name: "length", Args: engine.Args(datum.Bytea), Result: datum.Int4, Eval: measure(byteCount), Help: "number of bytes"},
	{Name: "octet_length", Args: engine.Args(datum.Bytea), Result: datum.Int4, Eval: measure(byteCount), Help: "number of bytes"},
	{Name: "substring", Args: engine.Optional(2, datum.Bytea, datum.Int4, datum.Int4), Result: datum.Bytea, Eval: substringBytes, Help: "part of a byte string"},
	{Name: "substr", Args: engine.Optional(2, datum.Bytea, datum.Int4, datum.Int4), Result: datum.Bytea, Eval: substringBytes, Help: "part of a byte string"},
	{Name: "position", Args: engine.Args(datum.Bytea, datum.Bytea), Result: datum.Int4, Eval: positionBytes, Help: "where the second byte string begins in the first"},
	{Name: "btrim", Args: engine.Args(datum.Bytea, datum.Bytea), Result: datum.Bytea, Eval: trimBytes(true, true), Help: "removes bytes from both ends"},
	{Name: "ltrim", Args: engine.Args(datum.Bytea, datum.Bytea), Result: datum.Bytea, Eval: trimBytes(true, false), Help: "removes bytes from the start"},
	{Name: "rtrim", Args: engine.Args(datum.Bytea, datum.Bytea), Result: datum.Bytea, Eval: trimBytes(false, true), Help: "removes bytes from the end"},
	{Name: "encode", Args: engine.Args(datum.Bytea, datum.Text), Result: datum.Text, Eval: encodeBytes, Help: "bytes as hex, base64 or escape text"},
	{Name: "decode", Args: engine.Args(datum.Text, datum.Text), Result: datum.Bytea, Eval: decodeBytes, Help: "bytes from hex, base64 or escape text"},
	{Name: "convert_from", Args: engine.Args(datum.Bytea, datum.Name), Result: datum.Text, Volatile: engine.Stable, Eval: convertFrom, Help: "text from bytes in an encoding"},
}

func makeBytes(s string) (datum.Value, error) {
	if len(s) > engine.MaxTextBytes {
		return datum.Value{}, engine.ErrTextTooLong
	}
	return datum.MakeString(datum.Bytea, s), nil
}

func substringBytes(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	from, to, err := span1(len(a[0].Str), a[1:])
	if err != nil {
		return a[0], err
	}
	return makeBytes(a[0].Str[from:to])
}

func positionBytes(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	return datum.MakeInt4(int64(strings.Index(a[0].Str, a[1].Str)) + 1), nil
}

func trimBytes(left, right bool) engine.Eval {
	return func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
		s, set := a[0].Str, a[1].Str
		for left && s != "" && strings.IndexByte(set, s[0]) >= 0 {
			s = s[1:]
		}
		for right && s != "" && strings.IndexByte(set, s[len(s)-1]) >= 0 {
			s = s[:len(s)-1]
		}
		return makeBytes(s)
	}
}

// base64Line is the length after which PostgreSQL breaks base64 (RFC 2045, 6.8).
const base64Line = 76

func encodeBytes(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	var out strings.Builder
	switch s := a[0].Str; strings.ToLower(a[1].Str) {
	case "hex":
		return boundedText(hex.EncodeToString([]byte(s)))
	case "base64":
		text := base64.StdEncoding.EncodeToString([]byte(s))
		for ; len(text) > base64Line; text = text[base64Line:] {
			out.WriteString(text[:base64Line])
			out.WriteByte('\n')
		}
		out.WriteString(text)
	case "escape":
		for i := range len(s) {
			switch c := s[i]; {
			case c == 0 || c >= 0x80:
				fmt.Fprintf(&out, `\%03o`, c)
			case c == '\\':
				out.WriteString(`\\`)
			default:
				out.WriteByte(c)
			}
		}
	default:
		return a[0], unknownEncoding(a[1].Str)
	}
	return boundedText(out.String())
}

func unknownEncoding(name string) error {
	return sqlstate.New(sqlstate.InvalidParameterValue, "unrecognized encoding: %q", sqlstate.Cut(name, 64))
}

func decodeBytes(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	var out []byte
	var err error
	switch strings.ToLower(a[1].Str) {
	case "hex":
		out, err = decodeHex(a[0].Str)
	case "base64":
		out, err = decodeBase64(a[0].Str)
	case "escape":
		out, err = decodeEscape(a[0].Str)
	default:
		err = unknownEncoding(a[1].Str)
	}
	if err != nil {
		return a[0], err
	}
	return makeBytes(string(out))
}

// decodeHex allows white space between bytes.
func decodeHex(s string) ([]byte, error) {
	digit := func(i int) (byte, error) {
		v, err := strconv.ParseUint(s[i:i+1], 16, 8)
		if err != nil {
			return 0, sqlstate.New(sqlstate.InvalidParameterValue, "invalid hexadecimal digit: \"%s\"", engine.FirstRune(s, i))
		}
		return byte(v), nil
	}
	var out []byte
	for i := 0; i < len(s); {
		if engine.IsSpace(s[i]) {
			i++
			continue
		}
		high, err := digit(i)
		if err != nil {
			return nil, err
		}
		if i+1 >= len(s) {
			return nil, sqlstate.New(sqlstate.InvalidParameterValue, "invalid hexadecimal data: odd number of digits")
		}
		low, err := digit(i + 1)
		if err != nil {
			return nil, err
		}
		out = append(out, high<<4|low)
		i += 2
	}
	return out, nil
}

const base64Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// decodeBase64 skips white space, which encoding/base64 does not. As in
// PostgreSQL, what follows the padding counts as padding, too.
func decodeBase64(s string) ([]byte, error) {
	var out []byte
	var group uint32
	count, keep := 0, 3 // digits in this group; bytes that a group gives
	for i := range len(s) {
		c := s[i]
		if engine.IsSpace(c) {
			continue
		}
		v := strings.IndexByte(base64Alphabet, c)
		switch {
		case c == '=' && keep == 3 && count < 2:
			return nil, sqlstate.New(sqlstate.InvalidParameterValue, `unexpected "=" while decoding base64 sequence`)
		case c == '=':
			if v = 0; keep == 3 {
				keep = count - 1
			}
		case v < 0:
			return nil, sqlstate.New(sqlstate.InvalidParameterValue, "invalid symbol \"%s\" found while decoding base64 sequence", engine.FirstRune(s, i))
		}
		group = group<<6 | uint32(v)
		if count++; count == 4 {
			out = append(out, []byte{byte(group >> 16), byte(group >> 8), byte(group)}[:keep]...)
			group, count = 0, 0
		}
	}
	if count != 0 {
		return nil, sqlstate.New(sqlstate.InvalidParameterValue, "invalid base64 end sequence").
			WithHint("Input data is missing padding, is truncated, or is otherwise corrupted.")
	}
	return out, nil
}

func decodeEscape(s string) ([]byte, error) {
	var out []byte
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '\\':
			out = append(out, s[i])
		case i+1 < len(s) && s[i+1] == '\\':
			out = append(out, '\\')
			i++
		default:
			if i+4 > len(s) || s[i+1] > '3' {
				return nil, errByteaSyntax
			}
			v, err := strconv.ParseUint(s[i+1:i+4], 8, 8)
			if err != nil {
				return nil, errByteaSyntax
			}
			out = append(out, byte(v))
			i += 3
		}
	}
	return out, nil
}

var errByteaSyntax = sqlstate.New(sqlstate.InvalidText, "invalid input syntax for type bytea")

// charset returns PostgreSQL's name of an encoding that we convert.
func charset(name string) (string, bool) {
	key := strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
	switch key {
	case "utf8", "unicode":
		return "UTF8", true
	case "sqlascii":
		return "SQL_ASCII", true
	case "latin1", "iso88591":
		return "LATIN1", true
	}
	return "", false
}

func convertFrom(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	from, ok := charset(a[1].Str)
	if !ok {
		return a[0], sqlstate.New(sqlstate.InvalidParameterValue, "invalid source encoding name \"%s\"", sqlstate.Cut(a[1].Str, 64))
	}
	s := a[0].Str
	if from == "LATIN1" {
		runes := make([]rune, len(s))
		for i := range len(s) {
			runes[i] = rune(s[i])
		}
		s = string(runes)
	}
	for i, r := range s {
		if r == 0 {
			return a[0], sqlstate.New(sqlstate.CharacterNotInRepert, `invalid byte sequence for encoding "%s": 0x00`, from)
		}
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			return a[0], sqlstate.New(sqlstate.CharacterNotInRepert, `invalid byte sequence for encoding "UTF8": %s`, hexBytes(sequence(s[i:])))
		}
	}
	return boundedText(s)
}

// sequence is the bytes that the first one promises to be a UTF-8 sequence.
func sequence(s string) string {
	n := 1
	switch c := s[0]; {
	case c&0xe0 == 0xc0:
		n = 2
	case c&0xf0 == 0xe0:
		n = 3
	case c&0xf8 == 0xf0:
		n = 4
	}
	return s[:min(n, len(s))]
}

// hexBytes prints bytes as PostgreSQL's messages do: 0xe2 0x82 0xac.
func hexBytes(s string) string {
	parts := make([]string, len(s))
	for i := range len(s) {
		parts[i] = fmt.Sprintf("0x%02x", s[i])
	}
	return strings.Join(parts, " ")
}
