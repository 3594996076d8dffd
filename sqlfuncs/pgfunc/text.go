package pgfunc

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// textFunctions lists PostgreSQL's functions on text (9.4).
var textFunctions = slices.Concat(stringFunctions, quoteFunctions)

var stringFunctions = []engine.Function{
	{Name: "length", Args: engine.Args(datum.Text), Result: datum.Int4, Does: measure(utf8.RuneCountInString), Help: "number of characters"},
	{Name: "lower", Args: engine.Args(datum.Text), Result: datum.Text, Does: mapText(strings.ToLower), Help: "lower case"},
	{Name: "upper", Args: engine.Args(datum.Text), Result: datum.Text, Does: mapText(strings.ToUpper), Help: "upper case"},
	{Name: "substring", Args: engine.Args(datum.Text, datum.Int4), Result: datum.Text, Does: engine.Eval(substringText), Help: "part of a text from a position"},
	{Name: "substring", Args: engine.Args(datum.Text, datum.Int4, datum.Int4), Result: datum.Text, Does: engine.Eval(substringText), Help: "part of a text from a position, of a length"},
	{Name: "substr", Args: engine.Args(datum.Text, datum.Int4), Result: datum.Text, Does: engine.Eval(substringText), Help: "part of a text from a position"},
	{Name: "substr", Args: engine.Args(datum.Text, datum.Int4, datum.Int4), Result: datum.Text, Does: engine.Eval(substringText), Help: "part of a text from a position, of a length"},
	{Name: "strpos", Args: engine.Args(datum.Text, datum.Text), Result: datum.Int4, Does: engine.Eval(positionText), Help: "position of the second text in the first, 0 if it is not there"},
	{Name: "split_part", Args: engine.Args(datum.Text, datum.Text, datum.Int4), Result: datum.Text, Does: engine.Eval(splitPart), Help: "the n-th field of a text, from the end if n is negative"},
	{Name: "replace", Args: engine.Args(datum.Text, datum.Text, datum.Text), Result: datum.Text, Does: engine.Eval(replaceText), Help: "replaces all occurrences of a text"},
	{Name: "btrim", Args: engine.Optional(1, datum.Text, datum.Text), Result: datum.Text, Does: trimText(true, true), Help: "removes characters (spaces) from both ends"},
	{Name: "ltrim", Args: engine.Optional(1, datum.Text, datum.Text), Result: datum.Text, Does: trimText(true, false), Help: "removes characters (spaces) from the start"},
	{Name: "rtrim", Args: engine.Optional(1, datum.Text, datum.Text), Result: datum.Text, Does: trimText(false, true), Help: "removes characters (spaces) from the end"},
	{Name: "repeat", Args: engine.Args(datum.Text, datum.Int4), Result: datum.Text, Does: engine.Eval(repeatText), Help: "a text n times"},
}

// boundedText makes a text value. It returns an error if the text is too long.
func boundedText(s string) (datum.Value, error) {
	if len(s) > engine.MaxTextBytes {
		return datum.Value{}, engine.ErrTextTooLong
	}
	return datum.MakeText(s), nil
}

// mapText makes a function from text to text.
func mapText(f func(string) string) engine.Eval {
	return func(_ *engine.Exec, a []datum.Value) (datum.Value, error) { return boundedText(f(a[0].Str)) }
}

// measure makes a function from text to integer.
func measure(f func(string) int) engine.Eval {
	return func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
		return datum.MakeInt4(int64(f(a[0].Str))), nil
	}
}

// span1 converts a start, from 1, and an optional length (a[0], a[1]) to a range
// within n characters. A negative length is an error (22011).
func span1(n int, a []datum.Value) (from, to int, err error) {
	start, end := a[0].Int, int64(n)+1
	if len(a) > 1 {
		if a[1].Int < 0 {
			return 0, 0, sqlstate.New("22011", "negative substring length not allowed")
		}
		end = min(end, start+a[1].Int)
	}
	start = min(max(start, 1), int64(n)+1)
	return int(start - 1), int(max(end, start) - 1), nil
}

// substringText implements substring and substr, which count characters.
func substringText(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	runes := []rune(a[0].Str)
	from, to, err := span1(len(runes), a[1:])
	if err != nil {
		return datum.Value{}, err
	}
	return datum.MakeText(string(runes[from:to])), nil
}

// positionText implements strpos.
func positionText(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	at := strings.Index(a[0].Str, a[1].Str)
	if at < 0 {
		return datum.MakeInt4(0), nil
	}
	return datum.MakeInt4(int64(utf8.RuneCountInString(a[0].Str[:at])) + 1), nil
}

// splitPart implements split_part.
func splitPart(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	s, separator, n := a[0].Str, a[1].Str, int(a[2].Int)
	if n == 0 {
		return a[0], sqlstate.New(sqlstate.InvalidParameterValue, "field position must not be zero")
	}
	fields := []string{s}
	if separator != "" {
		fields = strings.Split(s, separator)
	}
	if n < 0 {
		n += len(fields) + 1
	}
	if n < 1 || n > len(fields) {
		return datum.MakeText(""), nil
	}
	return datum.MakeText(fields[n-1]), nil
}

func replaceText(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	s, old, with := a[0].Str, a[1].Str, a[2].Str
	if old == "" {
		return a[0], nil
	}
	if len(s)+strings.Count(s, old)*(len(with)-len(old)) > engine.MaxTextBytes {
		return a[0], engine.ErrTextTooLong
	}
	return datum.MakeText(strings.ReplaceAll(s, old, with)), nil
}

// trimText makes btrim, ltrim and rtrim.
func trimText(left, right bool) engine.Eval {
	return func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
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

func repeatText(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	s, n := a[0].Str, max(a[1].Int, 0)
	if s != "" && n > engine.MaxTextBytes/int64(len(s)) {
		return a[0], engine.ErrTextTooLong
	}
	return datum.MakeText(strings.Repeat(s, int(n))), nil
}

var quoteFunctions = []engine.Function{
	{Name: "quote_ident", Args: engine.Args(datum.Text), Result: datum.Text, Does: mapText(syntax.QuoteIdent), Help: "a text as an SQL identifier"},
	{Name: "quote_literal", Args: engine.Args(datum.Text), Result: datum.Text, Does: mapText(syntax.QuoteLiteral), Help: "a text as an SQL string constant"},
	{Name: "format", Args: engine.Args(datum.Text), Result: datum.Text, Nullable: true, Volatile: engine.Stable, Does: engine.Eval(formatText), Help: "fills %s, %I and %L in a text"},
	{Name: "format", Args: engine.Args(datum.Text, engine.AnyType), Variadic: true, Result: datum.Text, Nullable: true, Volatile: engine.Stable, Does: engine.Eval(formatText), Help: "fills %s, %I and %L in a text"},
	{Name: "concat", Args: engine.Args(engine.AnyType), Variadic: true, Result: datum.Text, Nullable: true, Volatile: engine.Stable, Does: engine.Eval(concatAll), Help: "all arguments as one text, without NULLs"},
}

// outputText returns a value's text form as clients get it.
func outputText(x *engine.Exec, v datum.Value) string {
	return string(datum.AppendText(nil, v, x.Env()))
}

func concatAll(x *engine.Exec, a []datum.Value) (datum.Value, error) { return joinValues(x, "", a) }

// joinValues joins the text forms of the values that are not NULL.
func joinValues(x *engine.Exec, separator string, values []datum.Value) (datum.Value, error) {
	var out []byte
	first := true
	for _, v := range values {
		if !v.Valid {
			continue
		}
		if !first {
			out = append(out, separator...)
		}
		first = false
		if out = datum.AppendText(out, v, x.Env()); len(out) > engine.MaxTextBytes {
			return v, engine.ErrTextTooLong
		}
	}
	return datum.MakeText(string(out)), nil
}

var (
	errFormatEnd = sqlstate.New(sqlstate.InvalidParameterValue, "unterminated format() type specifier").
			WithHint("For a percent sign write two.")
	errFormatArguments = sqlstate.New(sqlstate.InvalidParameterValue, "too few arguments for format()")
)

// formatText implements format() with %s, %I and %L, also with the number of an
// argument (%2$s). Widths are not supported.
func formatText(x *engine.Exec, a []datum.Value) (datum.Value, error) {
	if !a[0].Valid {
		return datum.Null(datum.Text), nil
	}
	var out strings.Builder
	next := 1
	for rest := a[0].Str; rest != ""; {
		plain, field, found := strings.Cut(rest, "%")
		out.WriteString(plain)
		if !found {
			break
		}
		if number, after, ok := strings.Cut(field, "$"); ok {
			if n, err := strconv.ParseUint(number, 10, 16); err == nil {
				next, field = int(n), after
			}
		}
		if field == "" {
			return a[0], errFormatEnd
		}
		_, size := utf8.DecodeRuneInString(field)
		kind := field[:size]
		if rest = field[size:]; kind == "%" {
			out.WriteByte('%')
			continue
		}
		if next < 1 || next >= len(a) {
			return a[0], errFormatArguments
		}
		text, err := formatValue(x, kind, a[next])
		if err != nil {
			return a[0], err
		}
		next++
		if out.Len()+len(text) > engine.MaxTextBytes {
			return a[0], engine.ErrTextTooLong
		}
		out.WriteString(text)
	}
	return boundedText(out.String())
}

// formatValue formats an argument for %s, %I or %L.
func formatValue(x *engine.Exec, kind string, v datum.Value) (string, error) {
	switch {
	case kind == "s":
		return outputText(x, v), nil
	case kind == "I" && !v.Valid:
		return "", sqlstate.New(sqlstate.NullNotAllowed, "null values cannot be formatted as an SQL identifier")
	case kind == "I":
		return syntax.QuoteIdent(outputText(x, v)), nil
	case kind == "L" && !v.Valid:
		return "NULL", nil
	case kind == "L":
		return syntax.QuoteLiteral(outputText(x, v)), nil
	}
	return "", sqlstate.New(sqlstate.InvalidParameterValue, "unrecognized format() type specifier \"%s\"", kind).
		WithHint("format() knows %%s, %%I and %%L; for a percent sign write two.")
}
