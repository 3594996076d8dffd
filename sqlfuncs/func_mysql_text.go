package sqlfuncs

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash/crc32"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

// mysqlTextFunctions are MySQL's string functions (manual, 12.8), and its
// digests.
var mysqlTextFunctions = slices.Concat(
	alias(textFn("lower", strings.ToLower), "lcase"),
	alias(textFn("upper", strings.ToUpper), "ucase"),
	alias(intFn("length", func(s string) int64 { return int64(len(s)) }), "octet_length"),
	alias(intFn("char_length", func(s string) int64 { return int64(utf8.RuneCountInString(s)) }), "character_length"),
	[]engine.Function{
		intFn("bit_length", func(s string) int64 { return 8 * int64(len(s)) }),
		textFn("reverse", reversedText),
		textFn("md5", func(s string) string { b := md5.Sum([]byte(s)); return hex.EncodeToString(b[:]) }),
		textFn("quote", quoteMySQL),
		intFn("crc32", func(s string) int64 { return int64(crc32.ChecksumIEEE([]byte(s))) }),
		intFn("ascii", func(s string) int64 { return firstByte(s) }),
		intFn("ord", ordMySQL),
		textFn("to_base64", func(s string) string { return wrapBase64(base64.StdEncoding.EncodeToString([]byte(s))) }),
		{Name: "concat", Args: engine.Args(engine.AnyElement), Variadic: true, Result: datum.Text, Typed: concatMySQL},
		{Name: "concat_ws", Args: engine.Args(datum.Text, datum.Text), Variadic: true, Result: datum.Text, Nullable: true, Eval: concatWS},
		{Name: "repeat", Args: engine.Args(datum.Text, datum.Int8), Result: datum.Text, Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
			return repeated(a[0].Str, a[1].Int)
		}},
		{Name: "space", Args: engine.Args(datum.Int8), Result: datum.Text, Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
			return repeated(" ", a[0].Int)
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
		{Name: "lpad", Args: engine.Args(datum.Text, datum.Int8, datum.Text), Result: datum.Text, Eval: pad(true)},
		{Name: "rpad", Args: engine.Args(datum.Text, datum.Int8, datum.Text), Result: datum.Text, Eval: pad(false)},
		{Name: "ltrim", Args: []engine.Argument{{Type: datum.Text}, {Type: datum.Text, Optional: true}}, Result: datum.Text, Eval: trimMySQL(true, false)},
		{Name: "rtrim", Args: []engine.Argument{{Type: datum.Text}, {Type: datum.Text, Optional: true}}, Result: datum.Text, Eval: trimMySQL(false, true)},
		{Name: "btrim", Args: []engine.Argument{{Type: datum.Text}, {Type: datum.Text, Optional: true}}, Result: datum.Text, Eval: trimMySQL(true, true)},
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
		{Name: "substring_index", Args: engine.Args(datum.Text, datum.Text, datum.Int8), Result: datum.Text, Eval: substringIndex},
		{Name: "field", Args: engine.Args(engine.AnyElement, engine.AnyElement), Variadic: true, Result: datum.Int4, Typed: fieldMySQL},
		{
			Name: "elt", Args: engine.Args(datum.Int8, datum.Text), Variadic: true, Result: datum.Text, Nullable: true,
			Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
				if !a[0].Valid || a[0].Int < 1 || a[0].Int >= int64(len(a)) {
					return datum.Null(datum.Text), nil
				}
				return a[a[0].Int], nil
			},
		},
		{Name: "find_in_set", Args: engine.Args(datum.Text, datum.Text), Result: datum.Int4, Collated: findInSet},
		{Name: "strcmp", Args: engine.Args(datum.Text, datum.Text), Result: datum.Int4, Collated: func(exact bool) engine.Eval {
			f := engine.FoldOf(exact)
			return func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
				return datum.MakeInt4(int64(strings.Compare(f(a[0].Str), f(a[1].Str)))), nil
			}
		}},
		{Name: "insert", Args: engine.Args(datum.Text, datum.Int8, datum.Int8, datum.Text), Result: datum.Text, Eval: insertMySQL},
		{Name: "format", Args: []engine.Argument{{Type: datum.Numeric}, {Type: datum.Int8}, {Type: datum.Text, Optional: true}}, Result: datum.Text, Eval: formatMySQL},
		{Name: "hex", Args: engine.Args(engine.AnyElement), Result: datum.Text, Typed: hexMySQL},
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
		{Name: "from_base64", Args: engine.Args(datum.Text), Result: datum.Bytea, Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
			b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(a[0].Str), ""))
			if err != nil {
				return datum.Null(datum.Bytea), nil
			}
			return datum.MakeString(datum.Bytea, string(b)), nil
		}},
		{Name: "char", Args: engine.Args(datum.Int8), Variadic: true, Result: datum.Bytea, Nullable: true, Eval: charMySQL},
		{Name: "conv", Args: engine.Args(datum.Text, datum.Int8, datum.Int8), Result: datum.Text, Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
			return conv(a[0].Str, a[1].Int, a[2].Int), nil
		}},
		{Name: "bin", Args: engine.Args(datum.Text), Result: datum.Text, Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) { return conv(a[0].Str, 10, 2), nil }},
		{Name: "oct", Args: engine.Args(datum.Text), Result: datum.Text, Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) { return conv(a[0].Str, 10, 8), nil }},
		{Name: "sha2", Args: engine.Args(datum.Text, datum.Int8), Result: datum.Text, Eval: sha2},
		{
			Name: "regexp_like", Args: []engine.Argument{{Type: datum.Text}, {Type: datum.Text}, {Type: datum.Text, Optional: true}}, Result: datum.Bool,
			Collated: regexpMySQL(func(re *regexp.Regexp, a []datum.Value) datum.Value { return datum.MakeBool(re.MatchString(a[0].Str)) }),
		},
		{
			Name: "regexp_instr", Args: engine.Args(datum.Text, datum.Text), Result: datum.Int4,
			Collated: regexpMySQL(func(re *regexp.Regexp, a []datum.Value) datum.Value {
				at := re.FindStringIndex(a[0].Str)
				if at == nil {
					return datum.MakeInt4(0)
				}
				return datum.MakeInt4(int64(utf8.RuneCountInString(a[0].Str[:at[0]])) + 1)
			}),
		},
		{
			Name: "regexp_substr", Args: engine.Args(datum.Text, datum.Text), Result: datum.Text,
			Collated: regexpMySQL(func(re *regexp.Regexp, a []datum.Value) datum.Value { return datum.MakeText(re.FindString(a[0].Str)) }),
		},
		{
			Name: "regexp_replace", Args: engine.Args(datum.Text, datum.Text, datum.Text), Result: datum.Text,
			Collated: regexpMySQL(func(re *regexp.Regexp, a []datum.Value) datum.Value {
				to := regexp.MustCompile(`\\(\d)`).ReplaceAllString(strings.ReplaceAll(a[2].Str, "$", "$$"), "$${$1}")
				return datum.MakeText(re.ReplaceAllString(a[0].Str, to))
			}),
		},
		{Name: "charset", Args: engine.Args(engine.AnyElement), Result: datum.Text, Typed: describeText(func(_ *engine.Planner, c engine.Collation) string { return charsetOf(c.Name) })},
		{Name: "collation", Args: engine.Args(engine.AnyElement), Result: datum.Text, Typed: describeText(func(_ *engine.Planner, c engine.Collation) string { return c.Name })},
		{Name: "load_file", Args: engine.Args(datum.Text), Result: datum.Text, Eval: func(*engine.Exec, []datum.Value) (datum.Value, error) { return datum.Null(datum.Text), nil }},
		{Name: "inet_aton", Args: engine.Args(datum.Text), Result: datum.Int8, Eval: inetAton},
		{Name: "inet_ntoa", Args: engine.Args(datum.Int8), Result: datum.Text, Eval: inetNtoa},
	},
	alias(engine.Function{Name: "substring", Args: []engine.Argument{{Type: datum.Text}, {Type: datum.Int8}, {Type: datum.Int8, Optional: true}}, Result: datum.Text, Eval: substringMySQL}, "substr", "mid"),
	alias(textFn("sha1", func(s string) string { b := sha1.Sum([]byte(s)); return hex.EncodeToString(b[:]) }), "sha"),
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

func reversedText(s string) string {
	r := []rune(s)
	slices.Reverse(r)
	return string(r)
}

func quoteMySQL(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\x00", `\0`, "\x1a", `\Z`).Replace(s) + "'"
}

func firstByte(s string) int64 {
	if s == "" {
		return 0
	}
	return int64(s[0])
}

// ordMySQL is the code of the first character: its bytes as a number.
func ordMySQL(s string) int64 {
	_, n := utf8.DecodeRuneInString(s)
	return int64(bigEndian(s[:n]))
}

// concatMySQL joins its arguments; bytes where one is binary.
func concatMySQL(p *engine.Planner, es []*engine.Expr) (*engine.Expr, error) {
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

// substringMySQL: a negative position counts from the end, 0 is nowhere.
func substringMySQL(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
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

func pad(left bool) engine.Eval {
	return func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
		r, fill := []rune(a[0].Str), []rune(a[2].Str)
		n := a[1].Int
		switch {
		case n < 0 || len(fill) == 0 && n > int64(len(r)):
			return datum.Null(datum.Text), nil
		case n <= int64(len(r)):
			return datum.MakeText(string(r[:n])), nil
		case n > engine.MaxTextBytes:
			return datum.Null(datum.Text), engine.ErrTextTooLong
		}
		add := make([]rune, 0, n)
		for i := 0; int64(len(add)+len(r)) < n; i++ {
			add = append(add, fill[i%len(fill)])
		}
		if left {
			return datum.MakeText(string(append(add, r...))), nil
		}
		return datum.MakeText(string(append(r, add...))), nil
	}
}

// trimMySQL takes off whole copies of the second argument, blanks by default.
func trimMySQL(left, right bool) engine.Eval {
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

func substringIndex(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	s, d, n := a[0].Str, a[1].Str, a[2].Int
	if d == "" || n == 0 {
		return datum.MakeText(""), nil
	}
	parts := strings.Split(s, d)
	if n > 0 {
		parts = parts[:min(n, int64(len(parts)))]
	} else {
		parts = parts[max(int64(len(parts))+n, 0):]
	}
	return datum.MakeText(strings.Join(parts, d)), nil
}

// fieldMySQL is the place of the first argument among the others.
func fieldMySQL(p *engine.Planner, es []*engine.Expr) (*engine.Expr, error) {
	x, finish := engine.Once(es[0])
	tests := make([]*engine.Expr, len(es)-1)
	for i, e := range es[1:] {
		var err error
		if tests[i], err = comparisonMySQL(p, "field", engine.Comparisons["="], x, e); err != nil {
			return nil, err
		}
	}
	return finish(engine.Derive(datum.Int4, func(x *engine.Exec) (datum.Value, error) {
		for i, t := range tests {
			v, err := t.Eval(x)
			if err != nil {
				return v, err
			}
			if v.Valid && v.Int == 1 {
				return datum.MakeInt4(int64(i) + 1), nil
			}
		}
		return datum.MakeInt4(0), nil
	}, tests...)), nil
}

func findInSet(exact bool) engine.Eval {
	f := engine.FoldOf(exact)
	return func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
		if a[1].Str == "" {
			return datum.MakeInt4(0), nil
		}
		for i, part := range strings.Split(a[1].Str, ",") {
			if f(part) == f(a[0].Str) {
				return datum.MakeInt4(int64(i) + 1), nil
			}
		}
		return datum.MakeInt4(0), nil
	}
}

func insertMySQL(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	r, at, n := []rune(a[0].Str), a[1].Int, a[2].Int
	if at < 1 || at > int64(len(r)) {
		return a[0], nil
	}
	end := int64(len(r))
	if n >= 0 && n < end-at+1 {
		end = at - 1 + n
	}
	return datum.MakeText(string(r[:at-1]) + a[3].Str + string(r[end:])), nil
}

func formatMySQL(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	scale := int(min(max(a[1].Int, 0), maxScale))
	text := roundUp(roundDecimal(a[0].Str, scale, false).Str, scale)
	whole, fraction, point := strings.Cut(text, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if point {
		whole += "." + fraction
	}
	return datum.MakeText(sign + whole), nil
}

// hexMySQL: numbers in base 16, texts byte by byte.
func hexMySQL(p *engine.Planner, es []*engine.Expr) (*engine.Expr, error) {
	e := es[0]
	t := datum.Bytea
	if isMySQLNumber(e.Type) {
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

func charMySQL(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	var b []byte
	for _, v := range a {
		if !v.Valid {
			continue
		}
		n := uint32(v.Int)
		for shift := 24; shift >= 0; shift -= 8 {
			if c := byte(n >> shift); n>>shift != 0 || shift == 0 {
				b = append(b, c)
			}
		}
	}
	return datum.MakeString(datum.Bytea, string(b)), nil
}

// conv writes a number in another base. A negative base is for signed ones.
func conv(s string, from, to int64) datum.Value {
	abs := func(n int64) int64 { return max(n, -n) }
	if abs(from) < 2 || abs(from) > 36 || abs(to) < 2 || abs(to) > 36 {
		return datum.Null(datum.Text)
	}
	s = strings.TrimSpace(s)
	negative := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	end := 0
	for end < len(s) {
		d, err := strconv.ParseUint(s[end:end+1], 36, 8)
		if err != nil || int64(d) >= abs(from) {
			break
		}
		end++
	}
	n, ok := new(big.Int).SetString(s[:end], int(abs(from)))
	if !ok {
		return datum.MakeText("0")
	}
	u := ^uint64(0)
	if n.IsUint64() {
		u = n.Uint64()
	}
	if negative {
		u = -u
	}
	if to < 0 {
		return datum.MakeText(strings.ToUpper(strconv.FormatInt(int64(u), int(-to))))
	}
	return datum.MakeText(strings.ToUpper(strconv.FormatUint(u, int(to))))
}

func sha2(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	b := []byte(a[0].Str)
	var sum []byte
	switch a[1].Int {
	case 0, 256:
		s := sha256.Sum256(b)
		sum = s[:]
	case 224:
		s := sha256.Sum224(b)
		sum = s[:]
	case 384:
		s := sha512.Sum384(b)
		sum = s[:]
	case 512:
		s := sha512.Sum512(b)
		sum = s[:]
	default:
		return datum.Null(datum.Text), nil
	}
	return datum.MakeText(hex.EncodeToString(sum)), nil
}

// regexpMySQL runs a function of a text and a pattern.
func regexpMySQL(f func(re *regexp.Regexp, a []datum.Value) datum.Value) func(exact bool) engine.Eval {
	return func(exact bool) engine.Eval {
		flags := "(?si)"
		if exact {
			flags = "(?s)"
		}
		var cache engine.PatternCache
		return func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
			re, err := cache.Get(a[1].Str, func() (string, error) { return flags + a[1].Str, nil })
			if err != nil {
				return datum.Value{}, err
			}
			return f(re, a), nil
		}
	}
}

// describeText is CHARSET, COLLATION and COERCIBILITY: they ask how a text
// compares, not for the text.
func describeText(answer func(*engine.Planner, engine.Collation) string) func(*engine.Planner, []*engine.Expr) (*engine.Expr, error) {
	return func(p *engine.Planner, es []*engine.Expr) (*engine.Expr, error) {
		c := engine.Collation{Name: "binary", Strength: engine.Coercible}
		if engine.IsString(es[0].Type) {
			if c = es[0].Collation; c.Name == "" {
				p.Private = true
				c.Name, _ = plannedFor(p).vars.get("collation_connection")
			}
		}
		return engine.Constant(datum.MakeText(answer(p, c))), nil
	}
}

func inetAton(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	parts := strings.Split(a[0].Str, ".")
	if len(parts) != 4 {
		return datum.Null(datum.Int8), nil
	}
	n := int64(0)
	for _, p := range parts {
		b, err := strconv.ParseUint(p, 10, 8)
		if err != nil {
			return datum.Null(datum.Int8), nil
		}
		n = n<<8 | int64(b)
	}
	return datum.MakeInt8(n), nil
}

func inetNtoa(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	n := a[0].Int
	if n < 0 || n > 1<<32-1 {
		return datum.Null(datum.Text), nil
	}
	return datum.MakeText(itoa(int(n>>24)) + "." + itoa(int(n>>16&255)) + "." + itoa(int(n>>8&255)) + "." + itoa(int(n&255))), nil
}

// benchmarkRefused is the answer to BENCHMARK.
var benchmarkRefused = sqlstate.New(sqlstate.FeatureNotSupported, "BENCHMARK is not supported by nextid").
	WithHint("Measure from outside, with nextid-bench.")

// wrapBase64 breaks the lines after 76 characters, as TO_BASE64 does.
func wrapBase64(s string) string {
	var b strings.Builder
	for len(s) > 76 {
		b.WriteString(s[:76] + "\n")
		s = s[76:]
	}
	return b.String() + s
}
