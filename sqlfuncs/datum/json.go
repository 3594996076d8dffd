package datum

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
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
