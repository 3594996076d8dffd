package datum

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"nextid/sqlfuncs/sqlstate"
)

// compareKeys orders the keys of a jsonb object: shorter first, then by bytes.
func compareKeys(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) }

// JSONPair is a member of an object that MakeJSONB builds.
type JSONPair struct {
	Key   string
	Value Value
}

// MakeJSONB builds a jsonb object from its members, as AppendJSON writes them,
// in jsonb's order; of equal keys the last stays.
func MakeJSONB(pairs []JSONPair) Value {
	inOrder := func(a, b JSONPair) int { return compareKeys(a.Key, b.Key) }
	if !slices.IsSortedFunc(pairs, inOrder) {
		pairs = slices.Clone(pairs)
		slices.SortStableFunc(pairs, inOrder)
	}
	var buf [256]byte
	out := append(buf[:0], '{')
	for i, p := range pairs {
		if i+1 < len(pairs) && pairs[i+1].Key == p.Key {
			continue
		}
		if len(out) > 1 {
			out = append(out, ", "...)
		}
		out = append(AppendJSONString(out, p.Key), ": "...)
		start := len(out)
		out = AppendJSON(out, p.Value, nil)
		if t := p.Value.Type; t == Float4 || t == Float8 || t == JSON || p.Value.Elems != nil { // not in jsonb's form yet
			if normal, err := parseJSONB(string(out[start:]), nil); err == nil {
				out = append(out[:start], normal.Str...)
			} else {
				out = append(out[:start], "null"...)
			}
		}
	}
	return MakeString(JSONB, string(append(out, '}')))
}

// AppendJSON appends a value as JSON: numbers and booleans as such, NULL as
// null, json and jsonb as they are, arrays as arrays, records as objects of f1,
// f2 and so on, timestamps in ISO 8601's form, and all else as a string of its
// text form.
func AppendJSON(dst []byte, v Value, env *Env) []byte {
	if !v.Valid {
		return append(dst, "null"...)
	}
	switch v.Type {
	case Text:
		return AppendJSONString(dst, v.Str)
	case Bool:
		return strconv.AppendBool(dst, v.Int != 0)
	case Int2, Int4, Int8, JSON, JSONB:
		return AppendText(dst, v, env)
	case Record:
		dst = append(dst, '{')
		for i, e := range v.Elems {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(append(dst, `"f`...), strconv.Itoa(i+1)...)
			dst = AppendJSON(append(dst, `":`...), e, env)
		}
		return append(dst, '}')
	}
	if category(v.Type) == 'A' {
		dst = append(dst, '[')
		for i, e := range v.Elems {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendJSON(dst, e, env)
		}
		return append(dst, ']')
	}
	text := string(AppendText(nil, v, env))
	switch {
	case numberRank(v.Type) > 0:
		return append(dst, text...)
	case v.Type == Timestamp || v.Type == TimestampTZ:
		text = isoTimestamp(text)
	}
	return AppendJSONString(dst, text)
}

// isoTimestamp turns the text of a timestamp into ISO 8601's form, with T and
// the minutes of the offset.
func isoTimestamp(text string) string {
	if sign := strings.LastIndexAny(text, "+-"); len(text)-sign == len("+00") {
		text += ":00"
	}
	return strings.Replace(text, " ", "T", 1)
}

// AppendJSONString appends s as a JSON string, escaped as PostgreSQL does:
// quotes, backslashes and control characters only.
func AppendJSONString(dst []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	dst = append(dst, '"')
	begin := 0
	for i := range len(s) {
		if c := s[i]; c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[begin:i]...)
		begin = i + 1
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
			dst = append(append(dst, `\u00`...), hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(append(dst, s[begin:]...), '"')
}

// UnquoteJSON decodes a JSON string, with its quotes. Errors: 22P05 for \u0000,
// which a text cannot hold.
func UnquoteJSON(token string) (string, error) {
	var s string
	if err := json.Unmarshal([]byte(token), &s); err != nil {
		return "", badJSON(err.Error())
	}
	return s, checkJSONString(s)
}

// checkJSONString refuses a string that a text cannot hold.
func checkJSONString(s string) error {
	if strings.IndexByte(s, 0) >= 0 {
		return sqlstate.New(codeUntranslatable, "unsupported Unicode escape sequence").WithDetail(`\u0000 cannot be converted to text.`)
	}
	return nil
}
