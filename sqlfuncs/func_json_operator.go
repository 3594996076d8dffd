package sqlfuncs

import (
	"nextid/sqlfuncs/datum"
)

// jsonbOperators are the operators of jsonb alone (9.16, table 9.48): the
// types of the right operand, and what they do. <@ is @> the other way.
var jsonbOperators = map[string][]struct {
	right  datum.OID
	result datum.OID
	eval   func(j jsonText, v datum.Value) (datum.Value, error)
}{
	"@>": {{datum.JSONB, datum.Bool, func(j jsonText, v datum.Value) (datum.Value, error) {
		return datum.MakeBool(jsonContains(j, jsonOf(v.Str), true)), nil
	}}},
	"?": {{datum.Text, datum.Bool, func(j jsonText, v datum.Value) (datum.Value, error) {
		return datum.MakeBool(j.has(v.Str)), nil
	}}},
	"?|": {{datum.TextArray, datum.Bool, hasKeys(false)}},
	"?&": {{datum.TextArray, datum.Bool, hasKeys(true)}},
	"||": {{datum.JSONB, datum.JSONB, jsonConcat}},
	"-":  {{datum.Text, datum.JSONB, jsonDelete}, {datum.TextArray, datum.JSONB, jsonDelete}, {datum.Int4, datum.JSONB, jsonDeleteIndex}},
	"#-": {{datum.TextArray, datum.JSONB, func(j jsonText, v datum.Value) (datum.Value, error) {
		if k := j.kind(); k != '{' && k != '[' {
			return datum.Value{}, jsonError("cannot delete path in scalar")
		}
		return jsonbOf(deletePath(nil, j, v.Elems))
	}}},
}

// jsonbOperator builds an operator of jsonb, nil when op or the types are
// not those of one.
func (p *planner) jsonbOperator(op string, l, r *expr) (*expr, error) {
	if op == "<@" && (l.typ == datum.JSONB || r.typ == datum.JSONB) {
		op, l, r = "@>", r, l
	}
	if l.typ == datum.Unknown && r.typ == datum.JSONB {
		var err error
		if l, err = p.coerce(l, datum.JSONB, datum.ImplicitCast); err != nil {
			return nil, err
		}
	}
	if l.typ != datum.JSONB {
		return nil, nil
	}
	for _, o := range jsonbOperators[op] {
		fits := r.typ == o.right || r.typ == datum.Unknown || o.right == datum.Int4 && r.typ == datum.Int2 ||
			o.right == datum.Text && isString(r.typ)
		if !fits {
			continue
		}
		right, err := p.coerce(r, o.right, datum.ImplicitCast)
		if err != nil {
			return nil, err
		}
		return strict2(o.result, l, right, func(_ *exec, a, b datum.Value) (datum.Value, error) {
			return o.eval(jsonOf(a.Str), b)
		}), nil
	}
	return nil, nil
}

func jsonbOf(text []byte) (datum.Value, error) { return jsonReader{typ: datum.JSONB}.parse(text) }

// jsonEqual compares values of jsonb. Numbers may be written in two ways.
func jsonEqual(a, b jsonText) bool {
	if a == b {
		return true
	}
	if a.kind() != 0 || b.kind() != 0 {
		return false
	}
	c, err := datum.Compare(datum.MakeString(datum.JSONB, string(a)), datum.MakeString(datum.JSONB, string(b)))
	return err == nil && c == 0
}

// jsonContains reports whether a contains b (8.14.3). At the top, an array
// contains a scalar that is one of its elements.
func jsonContains(a, b jsonText, top bool) bool {
	switch kind := b.kind(); kind {
	case '{':
		if a.kind() != '{' {
			return false
		}
		for key, want := range b.items() {
			found := false
			for k, v := range a.items() {
				found = found || k == key && jsonContains(v, want, false)
			}
			if !found {
				return false
			}
		}
		return true
	case '[':
		if a.kind() != '[' {
			return false
		}
		for _, want := range b.items() {
			found := false
			for _, v := range a.items() {
				found = found || jsonContains(v, want, false)
			}
			if !found {
				return false
			}
		}
		return true
	}
	if top && a.kind() == '[' {
		for _, v := range a.items() {
			if jsonEqual(v, b) {
				return true
			}
		}
		return false
	}
	return jsonEqual(a, b)
}

// has reports whether s is a key of the object, or a string in the array or
// the string itself.
func (j jsonText) has(s string) bool {
	switch j.kind() {
	case '{':
		_, ok := j.member(s)
		return ok
	case '[':
		for _, v := range j.items() {
			if v.isString(s) {
				return true
			}
		}
		return false
	}
	return j.isString(s)
}

func (j jsonText) isString(s string) bool {
	if j.kind() != '"' {
		return false
	}
	text, err := j.unquote()
	return err == nil && text == s
}

func hasKeys(all bool) func(j jsonText, v datum.Value) (datum.Value, error) {
	return func(j jsonText, v datum.Value) (datum.Value, error) {
		for _, key := range leaves(v) {
			if key.Valid && j.has(key.Str) != all {
				return datum.MakeBool(!all), nil
			}
		}
		return datum.MakeBool(all), nil
	}
}

// jsonConcat joins two objects, or two arrays; what is neither, or of two
// kinds, becomes an array first.
func jsonConcat(j jsonText, v datum.Value) (datum.Value, error) {
	other := jsonOf(v.Str)
	open, end := byte('['), byte(']')
	if j.kind() == '{' && other.kind() == '{' {
		open, end = '{', '}' // the last of equal keys stays
	}
	dst := []byte{open}
	for _, part := range []jsonText{j, other} {
		inner := part
		if part.kind() == open {
			inner = part[1 : len(part)-1]
		}
		if jsonOf(string(inner)) == "" {
			continue
		}
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = append(dst, inner...)
	}
	return jsonbOf(append(dst, end))
}

// jsonDelete drops keys of an object, or strings of an array.
func jsonDelete(j jsonText, v datum.Value) (datum.Value, error) {
	kind := j.kind()
	if kind != '{' && kind != '[' {
		return datum.Value{}, jsonError("cannot delete from scalar")
	}
	keys := []datum.Value{v}
	if v.Type == datum.TextArray {
		keys = leaves(v)
	}
	return jsonbOf(j.without(func(_ int, key, value jsonText) bool {
		if kind == '[' {
			key = value
		}
		for _, k := range keys {
			if k.Valid && key.isString(k.Str) {
				return true
			}
		}
		return false
	}))
}

func jsonDeleteIndex(j jsonText, v datum.Value) (datum.Value, error) {
	switch j.kind() {
	case '[':
	case '{':
		return datum.Value{}, jsonError("cannot delete from object using integer index")
	default:
		return datum.Value{}, jsonError("cannot delete from scalar")
	}
	at := j.index(v.Int)
	return jsonbOf(j.without(func(i int, _, _ jsonText) bool { return i == at }))
}

// index counts from the end where i is negative.
func (j jsonText) index(i int64) int {
	if i < 0 {
		for range j.items() {
			i++
		}
	}
	return int(max(min(i, 1<<30), -1))
}

// without writes an object or array without some of its members.
func (j jsonText) without(drop func(i int, key, value jsonText) bool) []byte {
	kind := j.kind()
	dst := []byte{kind}
	i := 0
	for key, value := range j.items() {
		if !drop(i, key, value) {
			dst = appendMember(dst, kind, key, value)
		}
		i++
	}
	return append(dst, kind+2) // ] and } come two behind [ and {
}

func appendMember(dst []byte, kind byte, key, value jsonText) []byte {
	if dst[len(dst)-1] != kind {
		dst = append(dst, ',')
	}
	if kind == '{' {
		dst = append(append(dst, key...), ':')
	}
	return append(dst, value...)
}

// deletePath writes j without what the path leads to.
func deletePath(dst []byte, j jsonText, path []datum.Value) []byte {
	kind := j.kind()
	if len(path) == 0 || !path[0].Valid || kind != '{' && kind != '[' {
		return append(dst, j...)
	}
	at := -1
	if kind == '[' {
		n, err := datum.ParseText(datum.Int4, path[0].Str, nil)
		if err != nil {
			return append(dst, j...)
		}
		at = j.index(n.Int)
	}
	out := []byte{kind}
	i := 0
	for key, value := range j.items() {
		switch hit := kind == '[' && i == at || kind == '{' && key.isString(path[0].Str); {
		case hit && len(path) == 1:
		case hit:
			out = appendMember(out, kind, key, jsonText(deletePath(nil, value, path[1:])))
		default:
			out = appendMember(out, kind, key, value)
		}
		i++
	}
	return append(append(dst, out...), kind+2)
}
