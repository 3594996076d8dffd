package sqlfuncs

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// textFunctions are PostgreSQL's functions on text and bytea (9.4, 9.5, 9.7).
var textFunctions = slices.Concat(stringFunctions, byteFunctions, quoteFunctions, regexpFunctions,
	splitFunctions, toCharFunctions)

var stringFunctions = []function{
	{name: "length", args: args(datum.Text), result: datum.Int4, eval: measure(utf8.RuneCountInString), help: "number of characters"},
	{name: "char_length", args: args(datum.Text), result: datum.Int4, eval: measure(utf8.RuneCountInString), help: "number of characters"},
	{name: "character_length", args: args(datum.Text), result: datum.Int4, eval: measure(utf8.RuneCountInString), help: "number of characters"},
	{name: "octet_length", args: args(datum.Text), result: datum.Int4, eval: measure(byteCount), help: "number of bytes"},
	{name: "bit_length", args: args(datum.Text), result: datum.Int4, eval: measure(bitCount), help: "number of bits"},
	{name: "lower", args: args(datum.Text), result: datum.Text, eval: mapText(strings.ToLower), help: "lower case"},
	{name: "upper", args: args(datum.Text), result: datum.Text, eval: mapText(upperCase), help: "upper case"},
	{name: "initcap", args: args(datum.Text), result: datum.Text, eval: mapText(initCap), help: "first letter of each word in upper case"},
	{name: "reverse", args: args(datum.Text), result: datum.Text, eval: mapText(reverseText), help: "characters in reverse order"},
	{name: "substring", args: args(datum.Text, datum.Int4), result: datum.Text, eval: substringText, help: "part of a text from a position"},
	{name: "substring", args: args(datum.Text, datum.Int4, datum.Int4), result: datum.Text, eval: substringText, help: "part of a text from a position, of a length"},
	{name: "substr", args: args(datum.Text, datum.Int4), result: datum.Text, eval: substringText, help: "part of a text from a position"},
	{name: "substr", args: args(datum.Text, datum.Int4, datum.Int4), result: datum.Text, eval: substringText, help: "part of a text from a position, of a length"},
	{name: "left", args: args(datum.Text, datum.Int4), result: datum.Text, eval: leftText, help: "first n characters; all but the last -n if n is negative"},
	{name: "right", args: args(datum.Text, datum.Int4), result: datum.Text, eval: rightText, help: "last n characters; all but the first -n if n is negative"},
	{name: "position", args: args(datum.Text, datum.Text), result: datum.Int4, eval: positionText, help: "where the second text begins in the first, 0 if nowhere"},
	{name: "strpos", args: args(datum.Text, datum.Text), result: datum.Int4, eval: positionText, help: "where the second text begins in the first, 0 if nowhere"},
	{name: "starts_with", args: args(datum.Text, datum.Text), result: datum.Bool, eval: startsWith, help: "whether the first text begins with the second"},
	{name: "replace", args: args(datum.Text, datum.Text, datum.Text), result: datum.Text, eval: replaceText, help: "replaces all occurrences of a text"},
	{name: "translate", args: args(datum.Text, datum.Text, datum.Text), result: datum.Text, eval: translateText, help: "replaces characters one by one"},
	{name: "btrim", args: optional(1, datum.Text, datum.Text), result: datum.Text, eval: trimText(true, true), help: "removes characters (spaces) from both ends"},
	{name: "ltrim", args: optional(1, datum.Text, datum.Text), result: datum.Text, eval: trimText(true, false), help: "removes characters (spaces) from the start"},
	{name: "rtrim", args: optional(1, datum.Text, datum.Text), result: datum.Text, eval: trimText(false, true), help: "removes characters (spaces) from the end"},
	{name: "lpad", args: optional(2, datum.Text, datum.Int4, datum.Text), result: datum.Text, eval: padText(true), help: "fills a text up on the left"},
	{name: "rpad", args: optional(2, datum.Text, datum.Int4, datum.Text), result: datum.Text, eval: padText(false), help: "fills a text up on the right"},
	{name: "repeat", args: args(datum.Text, datum.Int4), result: datum.Text, eval: repeatText, help: "a text n times"},
	{name: "overlay", args: optional(3, datum.Text, datum.Text, datum.Int4, datum.Int4), result: datum.Text, eval: overlayText, help: "replaces a part of a text by position"},
	{name: "ascii", args: args(datum.Text), result: datum.Int4, eval: firstCodePoint, help: "code point of the first character"},
	{name: "chr", args: args(datum.Int4), result: datum.Text, eval: charOf, help: "character of a code point"},
	{name: "textcat", args: args(datum.Text, datum.Text), result: datum.Text, eval: catText, help: "two texts as one"},
	{name: "to_hex", args: args(datum.Int4), result: datum.Text, eval: toHex, help: "hexadecimal digits"},
	{name: "to_hex", args: args(datum.Int8), result: datum.Text, eval: toHex, help: "hexadecimal digits"},
}

// evalFunc computes a function's value.
type evalFunc = func(x *exec, a []datum.Value) (datum.Value, error)

// optional is args with arguments that may be left out from the n-th on.
func optional(n int, types ...datum.OID) []argument {
	out := args(types...)
	for i := n; i < len(out); i++ {
		out[i].optional = true
	}
	return out
}

// named is args with names.
func named(names string, types ...datum.OID) []argument {
	out := args(types...)
	for i, name := range strings.Fields(names) {
		out[i].name = name
	}
	return out
}

// boundedText makes a text, unless it is larger than we hold.
func boundedText(s string) (datum.Value, error) {
	if len(s) > maxTextBytes {
		return datum.Value{}, errTextTooLong
	}
	return datum.MakeText(s), nil
}

func mapText(f func(string) string) evalFunc {
	return func(_ *exec, a []datum.Value) (datum.Value, error) { return boundedText(f(a[0].Str)) }
}

func measure(f func(string) int) evalFunc {
	return func(_ *exec, a []datum.Value) (datum.Value, error) { return datum.MakeInt4(int64(f(a[0].Str))), nil }
}

func byteCount(s string) int { return len(s) }
func bitCount(s string) int  { return 8 * len(s) }

// upperCase maps characters one to one, as towupper does; strings.ToUpper
// knows some that become two.
func upperCase(s string) string { return strings.Map(unicode.ToUpper, s) }

func initCap(s string) string {
	inWord := false
	return strings.Map(func(r rune) rune {
		first := !inWord
		inWord = unicode.IsLetter(r) || unicode.IsDigit(r)
		if first {
			return unicode.ToUpper(r)
		}
		return unicode.ToLower(r)
	}, s)
}

func reverseText(s string) string {
	runes := []rune(s)
	slices.Reverse(runes)
	return string(runes)
}

// span1 turns SQL's 1-based start and optional length (a[0], a[1]) into a
// range within n characters or bytes.
func span1(n int, a []datum.Value) (from, to int, err error) {
	start, end := a[0].Int, int64(n)+1
	if len(a) > 1 {
		if a[1].Int < 0 {
			return 0, 0, errNegativeLength
		}
		end = min(end, start+a[1].Int)
	}
	start = min(max(start, 1), int64(n)+1)
	return int(start - 1), int(max(end, start) - 1), nil
}

func substringText(_ *exec, a []datum.Value) (datum.Value, error) {
	runes := []rune(a[0].Str)
	from, to, err := span1(len(runes), a[1:])
	if err != nil {
		return datum.Value{}, err
	}
	return datum.MakeText(string(runes[from:to])), nil
}

// leading is how many of n characters left(s, count) keeps.
func leading(n int, count int64) int {
	if count < 0 {
		count += int64(n)
	}
	return int(min(max(count, 0), int64(n)))
}

func leftText(_ *exec, a []datum.Value) (datum.Value, error) {
	runes := []rune(a[0].Str)
	return datum.MakeText(string(runes[:leading(len(runes), a[1].Int)])), nil
}

func rightText(_ *exec, a []datum.Value) (datum.Value, error) {
	runes := []rune(a[0].Str)
	return datum.MakeText(string(runes[len(runes)-leading(len(runes), a[1].Int):])), nil
}

func positionText(_ *exec, a []datum.Value) (datum.Value, error) {
	at := strings.Index(a[0].Str, a[1].Str)
	if at < 0 {
		return datum.MakeInt4(0), nil
	}
	return datum.MakeInt4(int64(utf8.RuneCountInString(a[0].Str[:at])) + 1), nil
}

func startsWith(_ *exec, a []datum.Value) (datum.Value, error) {
	return datum.MakeBool(strings.HasPrefix(a[0].Str, a[1].Str)), nil
}

func replaceText(_ *exec, a []datum.Value) (datum.Value, error) {
	s, old, with := a[0].Str, a[1].Str, a[2].Str
	if old == "" {
		return a[0], nil
	}
	if len(s)+strings.Count(s, old)*(len(with)-len(old)) > maxTextBytes {
		return a[0], errTextTooLong
	}
	return datum.MakeText(strings.ReplaceAll(s, old, with)), nil
}

func translateText(_ *exec, a []datum.Value) (datum.Value, error) {
	to := []rune(a[2].Str)
	table := map[rune]rune{}
	for i, r := range []rune(a[1].Str) {
		if _, ok := table[r]; ok {
			continue
		}
		table[r] = -1 // strings.Map drops it
		if i < len(to) {
			table[r] = to[i]
		}
	}
	return boundedText(strings.Map(func(r rune) rune {
		if with, ok := table[r]; ok {
			return with
		}
		return r
	}, a[0].Str))
}

func trimText(left, right bool) evalFunc {
	return func(_ *exec, a []datum.Value) (datum.Value, error) {
		s, set := a[0].Str, " "
		if len(a) > 1 {
			set = a[1].Str
		}
		if left {
			s = strings.TrimLeft(s, set)
		}
		if right {
			s = strings.TrimRight(s, set)
		}
		return datum.MakeText(s), nil
	}
}

func padText(left bool) evalFunc {
	return func(_ *exec, a []datum.Value) (datum.Value, error) {
		runes, fill := []rune(a[0].Str), []rune{' '}
		if len(a) > 2 {
			fill = []rune(a[2].Str)
		}
		if a[1].Int > maxTextBytes {
			return a[0], errTextTooLong
		}
		n := int(max(a[1].Int, 0))
		if n <= len(runes) || len(fill) == 0 {
			return datum.MakeText(string(runes[:min(n, len(runes))])), nil
		}
		pad := make([]rune, n-len(runes))
		for i := range pad {
			pad[i] = fill[i%len(fill)]
		}
		if left {
			return boundedText(string(pad) + string(runes))
		}
		return boundedText(string(runes) + string(pad))
	}
}

func repeatText(_ *exec, a []datum.Value) (datum.Value, error) {
	n := max(a[1].Int, 0)
	if int64(len(a[0].Str))*n > maxTextBytes {
		return a[0], errTextTooLong
	}
	if a[0].Str == "" {
		return a[0], nil
	}
	return datum.MakeText(strings.Repeat(a[0].Str, int(n))), nil
}

// overlaid is how much of n characters (bytes) stays before and after what
// overlay replaces. a is the position and, optionally, the length.
func overlaid(n, replacement int, a []datum.Value) (before, after int, err error) {
	length := int64(replacement)
	if len(a) > 1 {
		length = a[1].Int
	}
	if a[0].Int <= 0 {
		return 0, 0, errNegativeLength
	}
	if a[0].Int+length > 1<<31-1 {
		return 0, 0, errIntegerRange
	}
	clamp := func(v int64) int { return int(min(max(v, 0), int64(n))) }
	return clamp(a[0].Int - 1), clamp(a[0].Int - 1 + length), nil
}

func overlayText(_ *exec, a []datum.Value) (datum.Value, error) {
	runes := []rune(a[0].Str)
	before, after, err := overlaid(len(runes), utf8.RuneCountInString(a[1].Str), a[2:])
	if err != nil {
		return a[0], err
	}
	return boundedText(string(runes[:before]) + a[1].Str + string(runes[after:]))
}

func firstCodePoint(_ *exec, a []datum.Value) (datum.Value, error) {
	if a[0].Str == "" {
		return datum.MakeInt4(0), nil
	}
	r, _ := utf8.DecodeRuneInString(a[0].Str)
	return datum.MakeInt4(int64(r)), nil
}

func charOf(_ *exec, a []datum.Value) (datum.Value, error) {
	switch n := a[0].Int; {
	case n < 0:
		return a[0], sqlstate.New(sqlstate.InvalidParameterValue, "character number must be positive")
	case n == 0:
		return a[0], sqlstate.New(sqlstate.LimitExceeded, "null character not permitted")
	case n > unicode.MaxRune:
		return a[0], sqlstate.New(sqlstate.LimitExceeded, "requested character too large for encoding: %d", n)
	case !utf8.ValidRune(rune(n)):
		return a[0], sqlstate.New(sqlstate.LimitExceeded, "requested character not valid for encoding: %d", n)
	default:
		return datum.MakeText(string(rune(n))), nil
	}
}

func catText(_ *exec, a []datum.Value) (datum.Value, error) {
	if len(a[0].Str)+len(a[1].Str) > maxTextBytes {
		return a[0], errTextTooLong
	}
	return datum.MakeText(a[0].Str + a[1].Str), nil
}
