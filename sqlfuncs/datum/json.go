package datum

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"nextid/sqlfuncs/sqlstate"
)

// jsonWriter writes a value in jsonb's normal form, and refuses what a json may hold and a
// jsonb may not.
type jsonWriter struct {
	env      *Env
	from     *json.Decoder
	out      []byte
	grown    int  // bytes that numbers became longer by
	size     int  // of the text
	replaced bool // the text itself has U+FFFD, which also stands for half a surrogate pair
}

// maxGrowth bounds the digits that exponents in one jsonb may add.
const maxGrowth = 1 << 16

// parseJSON reads a json: the text stays as it is.
func parseJSON(s string, env *Env) (Value, error) {
	if err := sqlstate.BrokenText(s); err != nil {
		return Value{}, err
	}
	if err := env.work(len(s)); err != nil {
		return Value{}, err
	}
	var raw json.RawMessage
	decoder := json.NewDecoder(strings.NewReader(s))
	err := decoder.Decode(&raw)
	if err == nil {
		if _, err = decoder.Token(); errors.Is(err, io.EOF) {
			return MakeString(JSON, s), nil
		}
		return Value{}, badJSON("There is more behind the end of the value.")
	}
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		err = badJSON("The input string ended unexpectedly.")
	case strings.Contains(err.Error(), "max depth"):
		err = tooDeep()
	default:
		err = badJSON("There is an " + err.Error() + ".")
	}
	return Value{}, err
}

// parseJSONB reads a jsonb into its normal form, the text that PostgreSQL
// prints.
func parseJSONB(s string, env *Env) (Value, error) {
	if _, err := parseJSON(s, env); err != nil {
		return Value{}, err
	}
	w := jsonWriter{env: env, from: json.NewDecoder(strings.NewReader(s)), out: make([]byte, 0, len(s)+len(s)/4), size: len(s)}
	w.from.UseNumber()
	w.replaced = strings.ContainsRune(s, utf8.RuneError) || strings.Contains(strings.ToLower(s), `\ufffd`)
	err := w.value(0)
	return MakeString(JSONB, string(w.out)), err
}

func badJSON(detail string) error {
	return sqlstate.New(sqlstate.InvalidText, "invalid input syntax for type json").WithDetail("%s", detail)
}

// value writes the next value.
func (w *jsonWriter) value(depth int) error {
	if depth > maxNesting {
		return tooDeep()
	}
	if err := w.env.work(elementWork); err != nil {
		return err
	}
	token, err := w.from.Token()
	switch v := token.(type) {
	case json.Delim:
		if v == '{' {
			return w.object(depth)
		}
		w.out = append(w.out, '[')
		for i := 0; err == nil && w.from.More(); i++ {
			w.separate(i)
			err = w.value(depth + 1)
		}
		w.out = append(w.out, ']')
		_, _ = w.from.Token() // the end
	case string:
		err = w.text(v)
	case json.Number:
		err = w.number(v.String())
	case bool:
		w.out = strconv.AppendBool(w.out, v)
	default:
		w.out = append(w.out, "null"...)
	}
	return err
}

// object writes the rest of an object.
func (w *jsonWriter) object(depth int) error {
	members := map[string]string{}
	start := len(w.out)
	for w.from.More() {
		key, _ := w.from.Token()
		if err := cmp.Or(w.value(depth+1), w.env.work(len(w.out)-start)); err != nil {
			return err
		}
		members[key.(string)] = string(w.out[start:])
		w.out = w.out[:start]
	}
	_, _ = w.from.Token() // the end
	w.out = append(w.out, '{')
	for i, key := range slices.SortedFunc(maps.Keys(members), compareKeys) {
		w.separate(i)
		if err := w.text(key); err != nil {
			return err
		}
		w.out = append(append(w.out, ": "...), members[key]...)
	}
	w.out = append(w.out, '}')
	return nil
}

// separate writes a comma before all elements and members but the first.
func (w *jsonWriter) separate(i int) {
	if i > 0 {
		w.out = append(w.out, ", "...)
	}
}

func (w *jsonWriter) text(s string) error {
	if !w.replaced && strings.ContainsRune(s, utf8.RuneError) {
		return badJSON("Unicode surrogates must come in pairs.")
	}
	w.out = AppendJSONString(w.out, s)
	return checkJSONString(s)
}

func (w *jsonWriter) number(s string) error {
	v, err := parseNumeric(s)
	if w.grown += len(v.Str) - len(s); err == nil && w.grown > maxGrowth+w.size {
		err = sqlstate.New(sqlstate.LimitExceeded, "the numbers of a jsonb value have too many digits")
	}
	w.out = append(w.out, v.Str...)
	return err
}

// compareKeys orders the keys of a jsonb object: shorter first, then by bytes.
func compareKeys(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) }

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
	case NumberRank[v.Type] > 0:
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

// jsonEscapes holds the letters of the escapes that have one.
var jsonEscapes = [256]byte{'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'}

// AppendJSONString appends s as a JSON string, escaped as PostgreSQL does:
// quotes, backslashes and control characters only.
func AppendJSONString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case jsonEscapes[c] != 0:
			dst = append(dst, '\\', jsonEscapes[c])
		case c < ' ':
			dst = fmt.Appendf(dst, `\u%04x`, c)
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
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
