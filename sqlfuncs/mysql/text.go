package mysql

import (
	"slices"
	"strings"
	"unicode/utf8"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
)

// textFunctions lists MySQL's string functions (manual, 12.8) that clients use.
var textFunctions = slices.Concat(
	caseFunctions(strings.ToUpper, "upper", "ucase"),
	caseFunctions(strings.ToLower, "lower", "lcase"), // tdbc::mysql
	[]engine.Function{
		{Name: "concat", Length: sumOfLengths, Args: engine.Args(engine.AnyElement), Variadic: true, Result: datum.Text, Does: engine.Typed(concat)},
		{Name: "substring_index", Args: engine.Args(datum.Text, datum.Text, datum.Int8), Result: datum.Text, Does: engine.Eval(substringIndex)},
		{Name: "strcmp", Args: engine.Args(datum.Text, datum.Text), Result: datum.Int4, Does: engine.Typed(func(p *engine.Planner, args []*engine.Expr) (*engine.Expr, error) {
			as := comparedAs(args[0], args[1])
			if as.as != datum.Bytea {
				as.as, as.fold = datum.Text, true
			}
			l, err := as.convert(p, args[0])
			if err != nil {
				return nil, err
			}
			r, err := as.convert(p, args[1])
			return engine.Strict2(datum.Int4, l, r, func(_ *engine.Exec, a, b datum.Value) (datum.Value, error) {
				c, err := datum.Compare(a, b)
				return datum.MakeInt4(int64(c)), err
			}), err
		})},
		{Name: "locate", Args: engine.Args(datum.Text, datum.Text), Result: datum.Int4, Does: engine.Typed(func(p *engine.Planner, args []*engine.Expr) (*engine.Expr, error) {
			binary, exact := args[0].Type == datum.Bytea || args[1].Type == datum.Bytea, p.Exact(args...)
			if err := p.CoerceAll(args, datum.Text); err != nil {
				return nil, err
			}
			return engine.Strict2(datum.Int4, args[0], args[1], func(_ *engine.Exec, a, b datum.Value) (datum.Value, error) {
				return datum.MakeInt4(locate(b.Str, a.Str, exact, binary)), nil
			}), nil
		})},
	},
	alias(substring(datum.Text, func(s string, a []datum.Value) string { return string(part([]rune(s), a)) }), "substr"),
	alias(substring(datum.Bytea, func(s string, a []datum.Value) string { return string(part([]byte(s), a)) }), "substr"),
)

// alias returns a function under its name and under other names.
func alias(f engine.Function, names ...string) []engine.Function {
	out := []engine.Function{f}
	for _, n := range names {
		f.Name = n
		out = append(out, f)
	}
	return out
}

// caseFunctions makes a function, under several names, from a function of Go that keeps
// the number of characters. It leaves a binary string as it is.
func caseFunctions(f func(string) string, name string, names ...string) []engine.Function {
	return slices.Concat(alias(engine.Function{
		Name: name, Args: engine.Args(datum.Text), Result: datum.Text, Length: lengthOfFirst,
		Does: engine.Eval(func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
			text := f(a[0].Str)
			if len(text) > engine.MaxTextBytes { // capital letters may have more bytes
				return a[0], engine.ErrTextTooLong
			}
			return datum.MakeText(text), nil
		}),
	}, names...), alias(engine.Function{
		Name: name, Args: engine.Args(datum.Bytea), Result: datum.Bytea,
		Does: engine.Eval(func(_ *engine.Exec, a []datum.Value) (datum.Value, error) { return a[0], nil }),
	}, names...))
}

// concat implements CONCAT. The result is binary if an argument is.
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

// substring makes SUBSTRING for strings of a type.
func substring(t datum.OID, part func(s string, a []datum.Value) string) engine.Function {
	return engine.Function{
		Name: "substring", Args: []engine.Argument{{Type: t}, {Type: datum.Int8}, {Type: datum.Int8, Optional: true}}, Result: t, Length: lengthOfFirst,
		Does: engine.Eval(func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
			return datum.MakeString(t, part(a[0].Str, a[1:])), nil
		}),
	}
}

// part returns a part of a string: a holds the position and perhaps the length. A
// negative position counts from the end. Position 0 gives "".
func part[C rune | byte](s []C, a []datum.Value) []C {
	from, n := a[0].Int, int64(len(s))
	if from < 0 {
		from += n + 1
	}
	count := n
	if len(a) > 1 {
		count = a[1].Int
	}
	if from < 1 || from > n || count < 1 {
		return nil
	}
	return s[from-1 : from-1+min(count, n-from+1)]
}

// substringIndex returns the text before the nth delimiter. If n is negative, it
// returns the text after the nth delimiter from the end.
func substringIndex(x *engine.Exec, a []datum.Value) (datum.Value, error) {
	s, delimiter, n := a[0].Str, a[1].Str, a[2].Int
	if delimiter == "" {
		return datum.MakeText(""), nil
	}
	from, to := 0, len(s) // the text between the delimiters found so far
	for ; n != 0; n += min(max(-n, -1), 1) {
		if err := x.Work(len(delimiter)); err != nil {
			return a[0], err
		}
		if n > 0 {
			i := strings.Index(s[from:], delimiter)
			if i < 0 {
				return a[0], nil
			}
			from += i + len(delimiter)
		} else if to = strings.LastIndex(s[:to], delimiter); to < 0 {
			return a[0], nil
		}
	}
	if a[2].Int < 0 {
		return datum.MakeText(s[to+len(delimiter):]), nil
	}
	return datum.MakeText(s[:max(from-len(delimiter), 0)]), nil
}

// locate returns the position of a text in another, in characters from 1, of binary
// strings in bytes; 0 if it is not there.
func locate(s, what string, exact, binary bool) int64 {
	if !exact {
		s, what = strings.ToUpper(s), strings.ToUpper(what)
	}
	i := strings.Index(s, what)
	if i >= 0 && !binary {
		i = utf8.RuneCountInString(s[:i])
	}
	return 1 + int64(i)
}

// lengthOf returns the largest number of characters of a value's text form; 0: not
// known.
func lengthOf(e *engine.Expr) int32 {
	switch e.Type {
	case datum.Text, datum.Varchar:
		return engine.TextLength(e.TypeMod)
	case datum.Int4:
		return int32(len("-2147483648"))
	case datum.Int8:
		return int32(len("-9223372036854775808"))
	}
	return 0
}

// The functions below return the length of a result for engine.Function.Length.

func fixedLength(n int32) func([]*engine.Expr) int32 {
	return func([]*engine.Expr) int32 { return n }
}

func lengthOfFirst(es []*engine.Expr) int32 { return lengthOf(es[0]) }

// longest returns the largest length of the arguments, 0 if one is not known.
func longest(es []*engine.Expr) (n int32) {
	for _, e := range es {
		length := lengthOf(e)
		if length == 0 {
			return 0
		}
		n = max(n, length)
	}
	return n
}

// sumOfLengths returns the sum of the lengths, 0 if one is not known.
func sumOfLengths(es []*engine.Expr) (n int32) {
	for _, e := range es {
		length := lengthOf(e)
		if length == 0 {
			return 0
		}
		n += length
	}
	return n
}
