package pgfunc

import (
	"strconv"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

var quoteFunctions = []engine.Function{
	{Name: "quote_ident", Args: engine.Args(datum.Text), Result: datum.Text, Does: mapText(syntax.QuoteIdent), Help: "a text as an SQL identifier"},
	{Name: "quote_literal", Args: engine.Args(datum.Text), Result: datum.Text, Does: mapText(syntax.QuoteLiteral), Help: "a text as an SQL string constant"},
	{Name: "quote_literal", Args: engine.Args(engine.AnyElement), Result: datum.Text, Volatile: engine.Stable, Does: engine.Eval(quoteAny), Help: "a value as an SQL string constant"},
	{Name: "format", Args: engine.Args(datum.Text), Result: datum.Text, Nullable: true, Volatile: engine.Stable, Does: engine.Eval(formatText), Help: "fills %s, %I and %L in a text"},
	{Name: "format", Args: engine.Args(datum.Text, engine.AnyType), Variadic: true, Result: datum.Text, Nullable: true, Volatile: engine.Stable, Does: engine.Eval(formatText), Help: "fills %s, %I and %L in a text"},
	{Name: "concat", Args: engine.Args(engine.AnyType), Variadic: true, Result: datum.Text, Nullable: true, Volatile: engine.Stable, Does: engine.Eval(concatAll), Help: "all arguments as one text, without NULLs"},
}

// outputText returns a value's text form as clients get it.
func outputText(x *engine.Exec, v datum.Value) string {
	return string(datum.AppendText(nil, v, x.Env()))
}

// quoteAny implements quote_literal for values of any type. It casts to text, so
// that a boolean is true and not t.
func quoteAny(x *engine.Exec, a []datum.Value) (datum.Value, error) {
	v, err := datum.Cast(a[0], datum.Text, x.Env())
	if err != nil {
		return v, err
	}
	return boundedText(syntax.QuoteLiteral(v.Str))
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
		kind := engine.FirstRune(field, 0)
		if rest = field[len(kind):]; kind == "%" {
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
