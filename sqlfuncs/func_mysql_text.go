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
	"nextid/sqlfuncs/sqlstate"
)

// mysqlTextFunctions are MySQL's string functions (manual, 12.8), and its
// digests.
var mysqlTextFunctions = slices.Concat(
	alias(textFn("lower", strings.ToLower), "lcase"),
	alias(textFn("upper", strings.ToUpper), "ucase"),
	alias(intFn("length", func(s string) int64 { return int64(len(s)) }), "octet_length"),
	alias(intFn("char_length", func(s string) int64 { return int64(utf8.RuneCountInString(s)) }), "character_length"),
	[]function{
		intFn("bit_length", func(s string) int64 { return 8 * int64(len(s)) }),
		textFn("reverse", reversedText),
		textFn("md5", func(s string) string { b := md5.Sum([]byte(s)); return hex.EncodeToString(b[:]) }),
		textFn("quote", quoteMySQL),
		intFn("crc32", func(s string) int64 { return int64(crc32.ChecksumIEEE([]byte(s))) }),
		intFn("ascii", func(s string) int64 { return firstByte(s) }),
		intFn("ord", ordMySQL),
		textFn("to_base64", func(s string) string { return wrapBase64(base64.StdEncoding.EncodeToString([]byte(s))) }),
		{name: "concat", args: args(anyElement), variadic: true, result: datum.Text, typed: concatMySQL},
		{name: "concat_ws", args: args(datum.Text, datum.Text), variadic: true, result: datum.Text, nullable: true, eval: concatWS},
		{name: "repeat", args: args(datum.Text, datum.Int8), result: datum.Text, eval: func(_ *exec, a []datum.Value) (datum.Value, error) {
			return repeated(a[0].Str, a[1].Int)
		}},
		{name: "space", args: args(datum.Int8), result: datum.Text, eval: func(_ *exec, a []datum.Value) (datum.Value, error) {
			return repeated(" ", a[0].Int)
		}},
		{name: "replace", args: args(datum.Text, datum.Text, datum.Text), result: datum.Text, eval: func(_ *exec, a []datum.Value) (datum.Value, error) {
			if a[1].Str == "" {
				return a[0], nil
			}
			if len(a[0].Str)+strings.Count(a[0].Str, a[1].Str)*len(a[2].Str) > maxTextBytes {
				return a[0], errTextTooLong
			}
			return datum.MakeText(strings.ReplaceAll(a[0].Str, a[1].Str, a[2].Str)), nil
		}},
		{name: "left", args: args(datum.Text, datum.Int8), result: datum.Text, eval: func(_ *exec, a []datum.Value) (datum.Value, error) {
			return datum.MakeText(sliceText(a[0].Str, 1, a[1].Int)), nil
		}},
		{name: "right", args: args(datum.Text, datum.Int8), result: datum.Text, eval: func(_ *exec, a []datum.Value) (datum.Value, error) {
			n := int64(utf8.RuneCountInString(a[0].Str))
			return datum.MakeText(sliceText(a[0].Str, max(n-max(a[1].Int, 0), 0)+1, n)), nil
		}},
		{name: "lpad", args: args(datum.Text, datum.Int8, datum.Text), result: datum.Text, eval: pad(true)},
		{name: "rpad", args: args(datum.Text, datum.Int8, datum.Text), result: datum.Text, eval: pad(false)},
		{name: "ltrim", args: []argument{{typ: datum.Text}, {typ: datum.Text, optional: true}}, result: datum.Text, eval: trimMySQL(true, false)},
		{name: "rtrim", args: []argument{{typ: datum.Text}, {typ: datum.Text, optional: true}}, result: datum.Text, eval: trimMySQL(false, true)},
		{name: "btrim", args: []argument{{typ: datum.Text}, {typ: datum.Text, optional: true}}, result: datum.Text, eval: trimMySQL(true, true)},
		{name: "instr", args: args(datum.Text, datum.Text), result: datum.Int4, collated: func(exact bool) evalFunc {
			return func(_ *exec, a []datum.Value) (datum.Value, error) {
				return datum.MakeInt4(locate(a[0].Str, a[1].Str, 1, exact)), nil
			}
		}},
		{
			name: "locate", args: []argument{{typ: datum.Text}, {typ: datum.Text}, {typ: datum.Int8, optional: true}}, result: datum.Int4,
			collated: func(exact bool) evalFunc {
				return func(_ *exec, a []datum.Value) (datum.Value, error) {
					from := int64(1)
					if len(a) > 2 {
						from = a[2].Int
					}
					return datum.MakeInt4(locate(a[1].Str, a[0].Str, from, exact)), nil
				}
			},
		},
		{name: "substring_index", args: args(datum.Text, datum.Text, datum.Int8), result: datum.Text, eval: substringIndex},
		{name: "field", args: args(anyElement, anyElement), variadic: true, result: datum.Int4, typed: fieldMySQL},
		{
			name: "elt", args: args(datum.Int8, datum.Text), variadic: true, result: datum.Text, nullable: true,
			eval: func(_ *exec, a []datum.Value) (datum.Value, error) {
				if !a[0].Valid || a[0].Int < 1 || a[0].Int >= int64(len(a)) {
					return datum.Null(datum.Text), nil
				}
				return a[a[0].Int], nil
			},
		},
		{name: "find_in_set", args: args(datum.Text, datum.Text), result: datum.Int4, collated: findInSet},
		{name: "strcmp", args: args(datum.Text, datum.Text), result: datum.Int4, collated: func(exact bool) evalFunc {
			f := foldOf(exact)
			return func(_ *exec, a []datum.Value) (datum.Value, error) {
				return datum.MakeInt4(int64(strings.Compare(f(a[0].Str), f(a[1].Str)))), nil
			}
		}},
		{name: "insert", args: args(datum.Text, datum.Int8, datum.Int8, datum.Text), result: datum.Text, eval: insertMySQL},
		{name: "format", args: []argument{{typ: datum.Numeric}, {typ: datum.Int8}, {typ: datum.Text, optional: true}}, result: datum.Text, eval: formatMySQL},
		{name: "hex", args: args(anyElement), result: datum.Text, typed: hexMySQL},
		{name: "unhex", args: args(datum.Text), result: datum.Bytea, eval: func(_ *exec, a []datum.Value) (datum.Value, error) {
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
		{name: "from_base64", args: args(datum.Text), result: datum.Bytea, eval: func(_ *exec, a []datum.Value) (datum.Value, error) {
			b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(a[0].Str), ""))
			if err != nil {
				return datum.Null(datum.Bytea), nil
			}
			return datum.MakeString(datum.Bytea, string(b)), nil
		}},
		{name: "char", args: args(datum.Int8), variadic: true, result: datum.Bytea, nullable: true, eval: charMySQL},
		{name: "conv", args: args(datum.Text, datum.Int8, datum.Int8), result: datum.Text, eval: func(_ *exec, a []datum.Value) (datum.Value, error) {
			return conv(a[0].Str, a[1].Int, a[2].Int), nil
		}},
		{name: "bin", args: args(datum.Text), result: datum.Text, eval: func(_ *exec, a []datum.Value) (datum.Value, error) { return conv(a[0].Str, 10, 2), nil }},
		{name: "oct", args: args(datum.Text), result: datum.Text, eval: func(_ *exec, a []datum.Value) (datum.Value, error) { return conv(a[0].Str, 10, 8), nil }},
		{name: "sha2", args: args(datum.Text, datum.Int8), result: datum.Text, eval: sha2},
		{
			name: "regexp_like", args: []argument{{typ: datum.Text}, {typ: datum.Text}, {typ: datum.Text, optional: true}}, result: datum.Bool,
			collated: regexpMySQL(func(re *regexp.Regexp, a []datum.Value) datum.Value { return datum.MakeBool(re.MatchString(a[0].Str)) }),
		},
		{
			name: "regexp_instr", args: args(datum.Text, datum.Text), result: datum.Int4,
			collated: regexpMySQL(func(re *regexp.Regexp, a []datum.Value) datum.Value {
				at := re.FindStringIndex(a[0].Str)
				if at == nil {
					return datum.MakeInt4(0)
				}
				return datum.MakeInt4(int64(utf8.RuneCountInString(a[0].Str[:at[0]])) + 1)
			}),
		},
		{
			name: "regexp_substr", args: args(datum.Text, datum.Text), result: datum.Text,
			collated: regexpMySQL(func(re *regexp.Regexp, a []datum.Value) datum.Value { return datum.MakeText(re.FindString(a[0].Str)) }),
		},
		{
			name: "regexp_replace", args: args(datum.Text, datum.Text, datum.Text), result: datum.Text,
			collated: regexpMySQL(func(re *regexp.Regexp, a []datum.Value) datum.Value {
				to := regexp.MustCompile(`\\(\d)`).ReplaceAllString(strings.ReplaceAll(a[2].Str, "$", "$$"), "$${$1}")
				return datum.MakeText(re.ReplaceAllString(a[0].Str, to))
			}),
		},
		{name: "charset", args: args(anyElement), result: datum.Text, typed: describeText(func(_ *planner, c collation) string { return charsetOf(c.name) })},
		{name: "collation", args: args(anyElement), result: datum.Text, typed: describeText(func(_ *planner, c collation) string { return c.name })},
		{name: "load_file", args: args(datum.Text), result: datum.Text, eval: func(*exec, []datum.Value) (datum.Value, error) { return datum.Null(datum.Text), nil }},
		{name: "inet_aton", args: args(datum.Text), result: datum.Int8, eval: inetAton},
		{name: "inet_ntoa", args: args(datum.Int8), result: datum.Text, eval: inetNtoa},
	},
	alias(function{name: "substring", args: []argument{{typ: datum.Text}, {typ: datum.Int8}, {typ: datum.Int8, optional: true}}, result: datum.Text, eval: substringMySQL}, "substr", "mid"),
	alias(textFn("sha1", func(s string) string { b := sha1.Sum([]byte(s)); return hex.EncodeToString(b[:]) }), "sha"),
)

// alias lists a function under other names, too.
func alias(f function, names ...string) []function {
	out := []function{f}
	for _, n := range names {
		f.name = n
		out = append(out, f)
	}
	return out
}

func textFn(name string, f func(string) string) function {
	return function{
		name: name, args: args(datum.Text), result: datum.Text,
		eval: func(_ *exec, a []datum.Value) (datum.Value, error) { return datum.MakeText(f(a[0].Str)), nil },
	}
}

func intFn(name string, f func(string) int64) function {
	return function{
		name: name, args: args(datum.Text), result: datum.Int8,
		eval: func(_ *exec, a []datum.Value) (datum.Value, error) { return datum.MakeInt8(f(a[0].Str)), nil },
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
func concatMySQL(p *planner, es []*expr) (*expr, error) {
	t := datum.Text
	for _, e := range es {
		if e.typ == datum.Bytea {
			t = datum.Bytea
		}
	}
	es = slices.Clone(es)
	if err := p.coerceAll(es, t); err != nil {
		return nil, err
	}
	return derive(t, func(x *exec) (datum.Value, error) {
		var b strings.Builder
		for _, e := range es {
			v, err := e.eval(x)
			if err != nil || !v.Valid {
				return datum.Null(t), err
			}
			if b.Len()+len(v.Str) > maxTextBytes {
				return v, errTextTooLong
			}
			b.WriteString(v.Str)
		}
		return datum.MakeString(t, b.String()), nil
	}, es...), nil
}

func concatWS(_ *exec, a []datum.Value) (datum.Value, error) {
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
	if size > maxTextBytes {
		return datum.Value{}, errTextTooLong
	}
	return datum.MakeText(strings.Join(parts, a[0].Str)), nil
}

func repeated(s string, n int64) (datum.Value, error) {
	if n <= 0 || s == "" {
		return datum.MakeText(""), nil
	}
	if n > maxTextBytes/int64(len(s)) {
		return datum.Null(datum.Text), errTextTooLong
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
func substringMySQL(_ *exec, a []datum.Value) (datum.Value, error) {
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

func pad(left bool) evalFunc {
	return func(_ *exec, a []datum.Value) (datum.Value, error) {
		r, fill := []rune(a[0].Str), []rune(a[2].Str)
		n := a[1].Int
		switch {
		case n < 0 || len(fill) == 0 && n > int64(len(r)):
			return datum.Null(datum.Text), nil
		case n <= int64(len(r)):
			return datum.MakeText(string(r[:n])), nil
		case n > maxTextBytes:
			return datum.Null(datum.Text), errTextTooLong
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
func trimMySQL(left, right bool) evalFunc {
	return func(_ *exec, a []datum.Value) (datum.Value, error) {
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

func substringIndex(_ *exec, a []datum.Value) (datum.Value, error) {
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
func fieldMySQL(p *planner, es []*expr) (*expr, error) {
	x, finish := once(es[0])
	tests := make([]*expr, len(es)-1)
	for i, e := range es[1:] {
		var err error
		if tests[i], err = p.comparisonMySQL("field", comparisons["="], x, e); err != nil {
			return nil, err
		}
	}
	return finish(derive(datum.Int4, func(x *exec) (datum.Value, error) {
		for i, t := range tests {
			v, err := t.eval(x)
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

func findInSet(exact bool) evalFunc {
	f := foldOf(exact)
	return func(_ *exec, a []datum.Value) (datum.Value, error) {
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

func insertMySQL(_ *exec, a []datum.Value) (datum.Value, error) {
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

func formatMySQL(_ *exec, a []datum.Value) (datum.Value, error) {
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
func hexMySQL(p *planner, es []*expr) (*expr, error) {
	e := es[0]
	t := datum.Bytea
	if isMySQLNumber(e.typ) {
		t = datum.Int8
	}
	e, err := p.coerce(e, t, datum.ImplicitCast)
	if err != nil {
		return nil, err
	}
	return derive(datum.Text, func(x *exec) (datum.Value, error) {
		v, err := e.eval(x)
		if err != nil || !v.Valid {
			return datum.Null(datum.Text), err
		}
		if t == datum.Int8 {
			return datum.MakeText(strings.ToUpper(strconv.FormatUint(uint64(v.Int), 16))), nil
		}
		return datum.MakeText(strings.ToUpper(hex.EncodeToString([]byte(v.Str)))), nil
	}, e), nil
}

func charMySQL(_ *exec, a []datum.Value) (datum.Value, error) {
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

func sha2(_ *exec, a []datum.Value) (datum.Value, error) {
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
func regexpMySQL(f func(re *regexp.Regexp, a []datum.Value) datum.Value) func(exact bool) evalFunc {
	return func(exact bool) evalFunc {
		flags := "(?si)"
		if exact {
			flags = "(?s)"
		}
		var cache patternCache
		return func(_ *exec, a []datum.Value) (datum.Value, error) {
			re, err := cache.get(a[1].Str, func() (string, error) { return flags + a[1].Str, nil })
			if err != nil {
				return datum.Value{}, err
			}
			return f(re, a), nil
		}
	}
}

// describeText is CHARSET, COLLATION and COERCIBILITY: they ask how a text
// compares, not for the text.
func describeText(answer func(*planner, collation) string) func(*planner, []*expr) (*expr, error) {
	return func(p *planner, es []*expr) (*expr, error) {
		c := collation{"binary", coercible}
		if isString(es[0].typ) {
			if c = es[0].collation; c.name == "" {
				p.private = true
				c.name, _ = plannedFor(p).vars.get("collation_connection")
			}
		}
		return constant(datum.MakeText(answer(p, c))), nil
	}
}

func inetAton(_ *exec, a []datum.Value) (datum.Value, error) {
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

func inetNtoa(_ *exec, a []datum.Value) (datum.Value, error) {
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
