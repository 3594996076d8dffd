package mysql

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
)

// textFunctions are MySQL's string functions (manual, 12.8) that clients
// ask for.
var textFunctions = slices.Concat(
	alias(textFn("lower", strings.ToLower), "lcase"),
	alias(textFn("upper", strings.ToUpper), "ucase"),
	alias(intFn("length", func(s string) int64 { return int64(len(s)) }), "octet_length"),
	alias(intFn("char_length", func(s string) int64 { return int64(utf8.RuneCountInString(s)) }), "character_length"),
	[]engine.Function{
		{Name: "concat", Args: engine.Args(engine.AnyElement), Variadic: true, Result: datum.Text, Typed: concat},
		{Name: "concat_ws", Args: engine.Args(datum.Text, datum.Text), Variadic: true, Result: datum.Text, Nullable: true, Eval: concatWS},
		{Name: "repeat", Args: engine.Args(datum.Text, datum.Int8), Result: datum.Text, Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
			return repeated(a[0].Str, a[1].Int)
		}},
		{Name: "replace", Args: engine.Args(datum.Text, datum.Text, datum.Text), Result: datum.Text, Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
			if a[1].Str == "" {
				return a[0], nil
			}
			if len(a[0].Str)+strings.Count(a[0].Str, a[1].Str)*len(a[2].Str) > engine.MaxTextBytes {
				return a[0], engine.ErrTextTooLong
			}
			return datum.MakeText(strings.ReplaceAll(a[0].Str, a[1].Str, a[2].Str)), nil
		}},
		{Name: "left", Args: engine.Args(datum.Text, datum.Int8), Result: datum.Text, Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
			return datum.MakeText(sliceText(a[0].Str, 1, a[1].Int)), nil
		}},
		{Name: "right", Args: engine.Args(datum.Text, datum.Int8), Result: datum.Text, Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
			n := int64(utf8.RuneCountInString(a[0].Str))
			return datum.MakeText(sliceText(a[0].Str, max(n-max(a[1].Int, 0), 0)+1, n)), nil
		}},
		{Name: "ltrim", Args: []engine.Argument{{Type: datum.Text}, {Type: datum.Text, Optional: true}}, Result: datum.Text, Eval: trim(true, false)},
		{Name: "rtrim", Args: []engine.Argument{{Type: datum.Text}, {Type: datum.Text, Optional: true}}, Result: datum.Text, Eval: trim(false, true)},
		{Name: "btrim", Args: []engine.Argument{{Type: datum.Text}, {Type: datum.Text, Optional: true}}, Result: datum.Text, Eval: trim(true, true)},
		{Name: "instr", Args: engine.Args(datum.Text, datum.Text), Result: datum.Int4, Collated: func(exact bool) engine.Eval {
			return func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
				return datum.MakeInt4(locate(a[0].Str, a[1].Str, 1, exact)), nil
			}
		}},
		{
			Name: "locate", Args: []engine.Argument{{Type: datum.Text}, {Type: datum.Text}, {Type: datum.Int8, Optional: true}}, Result: datum.Int4,
			Collated: func(exact bool) engine.Eval {
				return func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
					from := int64(1)
					if len(a) > 2 {
						from = a[2].Int
					}
					return datum.MakeInt4(locate(a[1].Str, a[0].Str, from, exact)), nil
				}
			},
		},
		{Name: "hex", Args: engine.Args(engine.AnyElement), Result: datum.Text, Typed: hexOf},
		{Name: "unhex", Args: engine.Args(datum.Text), Result: datum.Bytea, Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
			s := a[0].Str
			if len(s)%2 == 1 {
				s = "0" + s
			}
			b, err := hex.DecodeString(s)
			if err != nil {
				return datum.Null(datum.Bytea), nil
			}
			return datum.MakeString(datum.Bytea, string(b)), nil
		}},
		{Name: "charset", Args: engine.Args(engine.AnyElement), Result: datum.Text, Typed: describeText(func(_ *engine.Planner, c engine.Collation) string { return charsetOf(c.Name) })},
		{Name: "collation", Args: engine.Args(engine.AnyElement), Result: datum.Text, Typed: describeText(func(_ *engine.Planner, c engine.Collation) string { return c.Name })},
	},
	alias(engine.Function{Name: "substring", Args: []engine.Argument{{Type: datum.Text}, {Type: datum.Int8}, {Type: datum.Int8, Optional: true}}, Result: datum.Text, Eval: substring}, "substr", "mid"),
)

// alias lists a function under other names, too.
func alias(f engine.Function, names ...string) []engine.Function {
	out := []engine.Function{f}
	for _, n := range names {
		f.Name = n
		out = append(out, f)
	}
	return out
}

func textFn(name string, f func(string) string) engine.Function {
	return engine.Function{
		Name: name, Args: engine.Args(datum.Text), Result: datum.Text,
		Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) { return datum.MakeText(f(a[0].Str)), nil },
	}
}

func intFn(name string, f func(string) int64) engine.Function {
	return engine.Function{
		Name: name, Args: engine.Args(datum.Text), Result: datum.Int8,
		Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) { return datum.MakeInt8(f(a[0].Str)), nil },
	}
}

// concat joins its arguments; bytes where one is binary.
func concat(p *engine.Planner, es []*engine.Expr) (*engine.Expr, error) {
	t := datum.Text
	for _, e := range es {
		if e.Type == datum.Bytea {
			t = datum.Bytea
		}
	}
	es = slices.Clone(es)
	if err := p.CoerceAll(es, t); err != nil {
		return nil, err
	}
	return engine.Derive(t, func(x *engine.Exec) (datum.Value, error) {
		var b strings.Builder
		for _, e := range es {
			v, err := e.Eval(x)
			if err != nil || !v.Valid {
				return datum.Null(t), err
			}
			if b.Len()+len(v.Str) > engine.MaxTextBytes {
				return v, engine.ErrTextTooLong
			}
			b.WriteString(v.Str)
		}
		return datum.MakeString(t, b.String()), nil
	}, es...), nil
}

func concatWS(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	if !a[0].Valid {
		return datum.Null(datum.Text), nil
	}
	var parts []string
	size := 0
	for _, v := range a[1:] {
		if v.Valid {
			parts = append(parts, v.Str)
			size += len(v.Str) + len(a[0].Str)
		}
	}
	if size > engine.MaxTextBytes {
		return datum.Value{}, engine.ErrTextTooLong
	}
	return datum.MakeText(strings.Join(parts, a[0].Str)), nil
}

func repeated(s string, n int64) (datum.Value, error) {
	if n <= 0 || s == "" {
		return datum.MakeText(""), nil
	}
	if n > engine.MaxTextBytes/int64(len(s)) {
		return datum.Null(datum.Text), engine.ErrTextTooLong
	}
	return datum.MakeText(strings.Repeat(s, int(n))), nil
}

// sliceText is n characters from the from-th on, which counts from 1.
func sliceText(s string, from, n int64) string {
	if n <= 0 || from < 1 {
		return ""
	}
	r := []rune(s)
	if from > int64(len(r)) {
		return ""
	}
	return string(r[from-1 : min(int64(len(r)), from-1+min(n, int64(len(r))))])
}

// substring: a negative position counts from the end, 0 is nowhere.
func substring(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	from, n := a[1].Int, int64(utf8.RuneCountInString(a[0].Str))
	if from < 0 {
		from += n + 1
	}
	count := n
	if len(a) > 2 {
		count = a[2].Int
	}
	return datum.MakeText(sliceText(a[0].Str, from, count)), nil
}

// trim takes off whole copies of the second argument, blanks by default.
func trim(left, right bool) engine.Eval {
	return func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
		s, what := a[0].Str, " "
		if len(a) > 1 {
			what = a[1].Str
		}
		for left && what != "" && strings.HasPrefix(s, what) {
			s = s[len(what):]
		}
		for right && what != "" && strings.HasSuffix(s, what) {
			s = s[:len(s)-len(what)]
		}
		return datum.MakeText(s), nil
	}
}

// locate is the place of a text in another, in characters from 1, without
// regard to case; 0 when it is not there.
func locate(s, what string, from int64, exact bool) int64 {
	if !exact {
		s, what = strings.ToUpper(s), strings.ToUpper(what)
	}
	r := []rune(s)
	if from < 1 || from > int64(len(r))+1 {
		return 0
	}
	rest := string(r[from-1:])
	i := strings.Index(rest, what)
	if i < 0 {
		return 0
	}
	return from + int64(utf8.RuneCountInString(rest[:i]))
}

// hexOf is HEX: numbers in base 16, texts byte by byte.
func hexOf(p *engine.Planner, es []*engine.Expr) (*engine.Expr, error) {
	e := es[0]
	t := datum.Bytea
	if isNumber(e.Type) {
		t = datum.Int8
	}
	e, err := p.Coerce(e, t, datum.ImplicitCast)
	if err != nil {
		return nil, err
	}
	return engine.Derive(datum.Text, func(x *engine.Exec) (datum.Value, error) {
		v, err := e.Eval(x)
		if err != nil || !v.Valid {
			return datum.Null(datum.Text), err
		}
		if t == datum.Int8 {
			return datum.MakeText(strings.ToUpper(strconv.FormatUint(uint64(v.Int), 16))), nil
		}
		return datum.MakeText(strings.ToUpper(hex.EncodeToString([]byte(v.Str)))), nil
	}, e), nil
}

// describeText is CHARSET, COLLATION and COERCIBILITY: they ask how a text
// compares, not for the text.
func describeText(answer func(*engine.Planner, engine.Collation) string) func(*engine.Planner, []*engine.Expr) (*engine.Expr, error) {
	return func(p *engine.Planner, es []*engine.Expr) (*engine.Expr, error) {
		c := engine.Collation{Name: "binary", Strength: engine.Coercible}
		if engine.IsString(es[0].Type) {
			if c = es[0].Collation; c.Name == "" {
				p.Private = true
				c.Name, _ = p.Host.Settings().Get("collation_connection")
			}
		}
		return engine.Constant(datum.MakeText(answer(p, c))), nil
	}
}
