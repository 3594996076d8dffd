package sqlfuncs

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"nextid/sqlfuncs/datum"
)

// textFunctions are PostgreSQL's functions on text and bytea (9.4, 9.5, 9.7).
var textFunctions = slices.Concat(stringFunctions, byteFunctions, quoteFunctions, regexpFunctions, splitFunctions)

var stringFunctions = []function{
	{name: "length", args: args(datum.Text), result: datum.Int4, eval: measure(utf8.RuneCountInString), help: "number of characters"},
	{name: "char_length", args: args(datum.Text), result: datum.Int4, eval: measure(utf8.RuneCountInString), help: "number of characters"},
	{name: "octet_length", args: args(datum.Text), result: datum.Int4, eval: measure(byteCount), help: "number of bytes"},
	{name: "lower", args: args(datum.Text), result: datum.Text, eval: mapText(strings.ToLower), help: "lower case"},
	{name: "upper", args: args(datum.Text), result: datum.Text, eval: mapText(upperCase), help: "upper case"},
	{name: "substring", args: args(datum.Text, datum.Int4), result: datum.Text, eval: substringText, help: "part of a text from a position"},
	{name: "substring", args: args(datum.Text, datum.Int4, datum.Int4), result: datum.Text, eval: substringText, help: "part of a text from a position, of a length"},
	{name: "substr", args: args(datum.Text, datum.Int4), result: datum.Text, eval: substringText, help: "part of a text from a position"},
	{name: "substr", args: args(datum.Text, datum.Int4, datum.Int4), result: datum.Text, eval: substringText, help: "part of a text from a position, of a length"},
	{name: "position", args: args(datum.Text, datum.Text), result: datum.Int4, eval: positionText, help: "where the second text begins in the first, 0 if nowhere"},
	{name: "strpos", args: args(datum.Text, datum.Text), result: datum.Int4, eval: positionText, help: "where the second text begins in the first, 0 if nowhere"},
	{name: "replace", args: args(datum.Text, datum.Text, datum.Text), result: datum.Text, eval: replaceText, help: "replaces all occurrences of a text"},
	{name: "btrim", args: optional(1, datum.Text, datum.Text), result: datum.Text, eval: trimText(true, true), help: "removes characters (spaces) from both ends"},
	{name: "ltrim", args: optional(1, datum.Text, datum.Text), result: datum.Text, eval: trimText(true, false), help: "removes characters (spaces) from the start"},
	{name: "rtrim", args: optional(1, datum.Text, datum.Text), result: datum.Text, eval: trimText(false, true), help: "removes characters (spaces) from the end"},
	{name: "repeat", args: args(datum.Text, datum.Int4), result: datum.Text, eval: repeatText, help: "a text n times"},
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

// upperCase maps characters one to one, as towupper does; strings.ToUpper
// knows some that become two.
func upperCase(s string) string { return strings.Map(unicode.ToUpper, s) }

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

func positionText(_ *exec, a []datum.Value) (datum.Value, error) {
	at := strings.Index(a[0].Str, a[1].Str)
	if at < 0 {
		return datum.MakeInt4(0), nil
	}
	return datum.MakeInt4(int64(utf8.RuneCountInString(a[0].Str[:at])) + 1), nil
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
