package datum

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// parseJSONB reads a jsonb into its normal form, the text that PostgreSQL
// prints.
func parseJSONB(s string, env *Env) (Value, error) {
	if err := checkUTF8(s); err != nil {
		return Value{}, err
	}
	p := jsonParser{text: s, rest: s, env: env, make: jsonText, out: make([]byte, 0, len(s)+len(s)/4)}
	if _, err := p.document(); err != nil {
		return Value{}, err
	}
	return MakeString(JSONB, string(p.out)), nil
}

// jsonMember is a member of an object whose text is being made.
type jsonMember struct {
	key      string // decoded
	from, to int    // the value, in the parser's output
}

// writeObject brings the members of an object, whose values were written from
// start on, into jsonb's order; of equal keys the last stays.
func (p *jsonParser) writeObject(start int, members []jsonMember) {
	slices.SortStableFunc(members, func(a, b jsonMember) int { return compareKeys(a.key, b.key) })
	out := make([]byte, 0, len(p.out)-start+len(members)*8)
	out = append(out, '{')
	for i, m := range members {
		if i+1 < len(members) && members[i+1].key == m.key {
			continue
		}
		if len(out) > 1 {
			out = append(out, ", "...)
		}
		out = append(append(AppendJSONString(out, m.key), ": "...), p.out[m.from:m.to]...)
	}
	p.out = append(append(p.out[:start], out...), '}')
}

// compareKeys orders the keys of a jsonb object: shorter first, then by bytes.
func compareKeys(a, b string) int {
	if c := cmp.Compare(len(a), len(b)); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}

// sortKeys brings an object into jsonb's order; of equal keys the last stays.
func (n *jsonNode) sortKeys() {
	sorted := true
	for i := 1; i < len(n.keys) && sorted; i++ {
		sorted = compareKeys(n.keys[i-1], n.keys[i]) < 0
	}
	if sorted {
		return
	}
	order := make([]int, len(n.keys))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return compareKeys(n.keys[i], n.keys[j]) })
	keys, elems := make([]string, 0, len(order)), make([]jsonNode, 0, len(order))
	for _, i := range order {
		if last := len(keys) - 1; last >= 0 && keys[last] == n.keys[i] {
			elems[last] = n.elems[i]
			continue
		}
		keys, elems = append(keys, n.keys[i]), append(elems, n.elems[i])
	}
	n.keys, n.elems = keys, elems
}

// append prints a value in jsonb's form: {"a": 1, "b": [1, 2]}.
func (n *jsonNode) append(dst []byte) []byte {
	switch n.kind {
	case jsonNull:
		return append(dst, "null"...)
	case jsonFalse:
		return append(dst, "false"...)
	case jsonTrue:
		return append(dst, "true"...)
	case jsonNumber:
		return append(dst, n.text...)
	case jsonString:
		return AppendJSONString(dst, n.text)
	case jsonArray, jsonObject:
	}
	open, end := byte('['), byte(']')
	if n.kind == jsonObject {
		open, end = '{', '}'
	}
	dst = append(dst, open)
	for i := range n.elems {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if n.kind == jsonObject {
			dst = append(AppendJSONString(dst, n.keys[i]), ": "...)
		}
		dst = n.elems[i].append(dst)
	}
	return append(dst, end)
}

// JSONPair is a member of an object that MakeJSONB builds.
type JSONPair struct {
	Key   string
	Value Value
}

// MakeJSONB builds a jsonb object from its members, in jsonb's order; of
// equal keys the last stays. Numbers and booleans become such, NULL null,
// json and jsonb are embedded, arrays become arrays, and all else a string of
// its text form.
func MakeJSONB(pairs []JSONPair) Value {
	inOrder := func(a, b JSONPair) int { return compareKeys(a.Key, b.Key) }
	if !slices.IsSortedFunc(pairs, inOrder) {
		pairs = slices.Clone(pairs)
		slices.SortStableFunc(pairs, inOrder)
	}
	var room [256]byte
	out := append(room[:0], '{')
	for i, p := range pairs {
		if i+1 < len(pairs) && pairs[i+1].Key == p.Key {
			continue
		}
		if len(out) > 1 {
			out = append(out, ", "...)
		}
		out = appendJSONB(append(AppendJSONString(out, p.Key), ": "...), p.Value)
	}
	return MakeString(JSONB, string(append(out, '}')))
}

// appendJSONB appends a value as jsonb.
func appendJSONB(dst []byte, v Value) []byte {
	if !v.Valid {
		return append(dst, "null"...)
	}
	switch v.Type {
	case Text:
		return AppendJSONString(dst, v.Str)
	case Int2, Int4, Int8:
		return strconv.AppendInt(dst, v.Int, 10)
	case Bool:
		return strconv.AppendBool(dst, v.Int != 0)
	case JSONB:
		return append(dst, v.Str...)
	}
	if category(v.Type) == 'A' {
		dst = append(dst, '[')
		for i, e := range v.Elems {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = appendJSONB(dst, e)
		}
		return append(dst, ']')
	}
	text := string(AppendText(nil, v, nil))
	switch v.Type {
	case Numeric, Float4, Float8:
		if number, err := parseNumeric(text); err == nil && !isSpecialNumeric(number.Str) {
			return append(dst, number.Str...)
		}
	case JSON:
		if b, err := parseJSONB(text, nil); err == nil {
			return append(dst, b.Str...)
		}
	}
	return AppendJSONString(dst, text)
}

// compareJSON orders jsonb values as PostgreSQL does: by kind, containers by
// their size first. Objects compare by key, value, key, value.
func compareJSON(a, b jsonNode) int {
	if a.kind != b.kind {
		return cmp.Compare(a.kind, b.kind)
	}
	if a.kind == jsonString {
		return strings.Compare(a.text, b.text)
	}
	if a.kind == jsonNumber {
		return compareNumeric(a.text, b.text)
	}
	if c := cmp.Compare(len(a.elems), len(b.elems)); c != 0 {
		return c
	}
	for i := range a.elems {
		if a.kind == jsonObject {
			if c := strings.Compare(a.keys[i], b.keys[i]); c != 0 {
				return c
			}
		}
		if c := compareJSON(a.elems[i], b.elems[i]); c != 0 {
			return c
		}
	}
	return 0
}
