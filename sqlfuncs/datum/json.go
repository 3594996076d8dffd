package datum

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"nextid/sqlfuncs/sqlstate"
)

// jsonReader reads JSON token by token. With normal it also writes the value in
// jsonb's normal form, and refuses what a json may hold and a jsonb may not.
type jsonReader struct {
	decoder  *json.Decoder
	env      *Env
	normal   bool
	out      []byte
	grown    int  // bytes that numbers became longer by
	size     int  // of the text
	replaced bool // the text itself has U+FFFD, which also stands for half a surrogate pair
	offset   int64
}

// maxGrowth bounds the digits that exponents in one jsonb may add.
const maxGrowth = 1 << 16

func newJSONReader(s string, env *Env) *jsonReader {
	r := &jsonReader{decoder: json.NewDecoder(strings.NewReader(s)), env: env, size: len(s)}
	r.decoder.UseNumber()
	return r
}

// parseJSON reads a json: the text stays as it is.
func parseJSON(s string, env *Env) (Value, error) {
	if err := sqlstate.BrokenText(s); err != nil {
		return Value{}, err
	}
	if err := newJSONReader(s, env).document(); err != nil {
		return Value{}, err
	}
	return MakeString(JSON, s), nil
}

// parseJSONB reads a jsonb into its normal form, the text that PostgreSQL
// prints.
func parseJSONB(s string, env *Env) (Value, error) {
	if err := sqlstate.BrokenText(s); err != nil {
		return Value{}, err
	}
	r := newJSONReader(s, env)
	r.normal, r.out = true, make([]byte, 0, len(s)+len(s)/4)
	r.replaced = strings.ContainsRune(s, utf8.RuneError) || strings.Contains(strings.ToLower(s), `\ufffd`)
	if err := r.document(); err != nil {
		return Value{}, err
	}
	return MakeString(JSONB, string(r.out)), nil
}

func badJSON(detail string) error {
	return sqlstate.New(sqlstate.InvalidText, "invalid input syntax for type json").WithDetail("%s", detail)
}

func (r *jsonReader) document() error {
	if err := r.value(0); err != nil {
		return err
	}
	if _, err := r.decoder.Token(); !errors.Is(err, io.EOF) {
		return badJSON("There is more behind the end of the value.")
	}
	return nil
}

// token returns the next token.
func (r *jsonReader) token() (json.Token, error) {
	token, err := r.decoder.Token()
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return nil, badJSON("The input string ended unexpectedly.")
	case err != nil:
		return nil, badJSON("There is an " + err.Error() + ".")
	}
	end := r.decoder.InputOffset()
	err = r.env.work(elementWork + int(end-r.offset))
	r.offset = end
	return token, err
}

func (r *jsonReader) value(depth int) error {
	if depth > maxNesting {
		return tooDeep()
	}
	token, err := r.token()
	if err != nil {
		return err
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '{' {
			return r.object(depth)
		}
		return r.array(depth)
	case string:
		err = r.text(token)
	case json.Number:
		err = r.number(token.String())
	case bool:
		r.write(map[bool]string{true: "true", false: "false"}[token])
	default:
		r.write("null")
	}
	return err
}

// write appends to the normal form.
func (r *jsonReader) write(s string) {
	if r.normal {
		r.out = append(r.out, s...)
	}
}

// text writes a string.
func (r *jsonReader) text(s string) error {
	if !r.normal {
		return nil
	}
	if err := checkJSONString(s); err != nil {
		return err
	}
	if !r.replaced && strings.ContainsRune(s, utf8.RuneError) {
		return badJSON("Unicode surrogates must come in pairs.")
	}
	r.out = AppendJSONString(r.out, s)
	return nil
}

func (r *jsonReader) number(s string) error {
	if !r.normal {
		return nil
	}
	v, err := parseNumeric(s)
	if err != nil {
		return err
	}
	if r.grown += len(v.Str) - len(s); r.grown > maxGrowth+r.size {
		return sqlstate.New(sqlstate.LimitExceeded, "the numbers of a jsonb value have too many digits")
	}
	r.write(v.Str)
	return nil
}

func (r *jsonReader) array(depth int) error {
	r.write("[")
	for first := true; r.decoder.More(); first = false {
		if !first {
			r.write(", ")
		}
		if err := r.value(depth + 1); err != nil {
			return err
		}
	}
	r.write("]")
	_, err := r.token()
	return err
}

// jsonMember is a member of an object whose text is being made.
type jsonMember struct {
	key      string // decoded
	from, to int    // key and value, in the reader's output
}

func (r *jsonReader) object(depth int) error {
	start := len(r.out)
	var members []jsonMember
	for r.decoder.More() {
		token, err := r.token()
		if err != nil {
			return err
		}
		key, from := token.(string), len(r.out) // the decoder lets nothing else be a key
		if err := r.text(key); err != nil {
			return err
		}
		r.write(": ")
		if err := r.value(depth + 1); err != nil {
			return err
		}
		if r.normal {
			members = append(members, jsonMember{key, from, len(r.out)})
		}
	}
	if r.normal {
		r.sortMembers(start, members)
	}
	_, err := r.token()
	return err
}

// sortMembers brings the members of an object, which were written from start
// on, into jsonb's order; of equal keys the last stays.
func (r *jsonReader) sortMembers(start int, members []jsonMember) {
	slices.SortStableFunc(members, func(a, b jsonMember) int { return compareKeys(a.key, b.key) })
	out := append(make([]byte, 0, len(r.out)-start+2*len(members)+2), '{')
	for i, m := range members {
		if i+1 < len(members) && members[i+1].key == m.key {
			continue
		}
		if len(out) > 1 {
			out = append(out, ", "...)
		}
		out = append(out, r.out[m.from:m.to]...)
	}
	r.out = append(append(r.out[:start], out...), '}')
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
