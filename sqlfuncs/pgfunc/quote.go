package pgfunc

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

var quoteFunctions = []engine.Function{
	{Name: "quote_ident", Args: engine.Args(datum.Text), Result: datum.Text, Eval: mapText(syntax.QuoteIdent), Help: "a text as an SQL identifier"},
	{Name: "quote_literal", Args: engine.Args(datum.Text), Result: datum.Text, Eval: mapText(syntax.QuoteLiteral), Help: "a text as an SQL string constant"},
	{Name: "quote_literal", Args: engine.Args(engine.AnyElement), Result: datum.Text, Volatile: engine.Stable, Eval: quoteAny, Help: "a value as an SQL string constant"},
	{Name: "format", Args: engine.Args(datum.Text), Result: datum.Text, Nullable: true, Volatile: engine.Stable, Eval: formatText, Help: "fills %s, %I and %L in a text"},
	{Name: "format", Args: engine.Args(datum.Text, engine.AnyType), Variadic: true, Result: datum.Text, Nullable: true, Volatile: engine.Stable, Eval: formatText, Help: "fills %s, %I and %L in a text"},
	{Name: "concat", Args: engine.Args(engine.AnyType), Variadic: true, Result: datum.Text, Nullable: true, Volatile: engine.Stable, Eval: concatAll, Help: "all arguments as one text, without NULLs"},
	{Name: "concat_ws", Args: engine.Args(datum.Text, engine.AnyType), Variadic: true, Result: datum.Text, Nullable: true, Volatile: engine.Stable, Eval: concatWith, Help: "all arguments but the first, separated by it"},
}

// outputText is a value's text form, as the client would see it.
func outputText(x *engine.Exec, v datum.Value) string {
	return string(datum.AppendText(nil, v, x.Env()))
}

// quoteAny casts to text first: true, not t.
func quoteAny(x *engine.Exec, a []datum.Value) (datum.Value, error) {
	v, err := datum.Cast(a[0], datum.Text, x.Env())
	if err != nil {
		return v, err
	}
	return boundedText(syntax.QuoteLiteral(v.Str))
}

func concatAll(x *engine.Exec, a []datum.Value) (datum.Value, error) { return joinValues(x, "", a) }

func concatWith(x *engine.Exec, a []datum.Value) (datum.Value, error) {
	if !a[0].Valid {
		return datum.Null(datum.Text), nil
	}
	return joinValues(x, a[0].Str, a[1:])
}

// joinValues puts the text forms of what is not NULL behind one another.
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

// formatter fills format()'s template.
type formatter struct {
	x      *engine.Exec
	text   string
	i      int
	values []datum.Value
	next   int
	out    strings.Builder
}

func formatText(x *engine.Exec, a []datum.Value) (datum.Value, error) {
	if !a[0].Valid {
		return datum.Null(datum.Text), nil
	}
	f := formatter{x: x, text: a[0].Str, values: a[1:]}
	for f.i < len(f.text) {
		c := f.text[f.i]
		f.i++
		if c != '%' {
			f.out.WriteByte(c)
			continue
		}
		if err := f.field(); err != nil {
			return a[0], err
		}
		if f.out.Len() > engine.MaxTextBytes {
			return a[0], engine.ErrTextTooLong
		}
	}
	return boundedText(f.out.String())
}

var errFormatEnd = sqlstate.New(sqlstate.InvalidParameterValue, "unterminated format() type specifier").
	WithHint(`For a single "%%" use "%%%%".`)

// field writes one field: %[position$][-][width]type (9.4.1).
func (f *formatter) field() error {
	if strings.HasPrefix(f.text[f.i:], "%") {
		f.i++
		f.out.WriteByte('%')
		return nil
	}
	position, width, left, err := f.layout()
	if err != nil {
		return err
	}
	if f.i >= len(f.text) {
		return errFormatEnd
	}
	kind := engine.FirstRune(f.text, f.i)
	f.i += len(kind)
	if !strings.Contains("sIL", kind) {
		return sqlstate.New(sqlstate.InvalidParameterValue, "unrecognized format() type specifier \"%s\"", kind).
			WithHint(`For a single "%%" use "%%%%".`)
	}
	v, err := f.argument(position)
	if err != nil {
		return err
	}
	text, err := f.convert(kind, v)
	if err != nil {
		return err
	}
	if f.out.Len()+max(width, len(text)) > engine.MaxTextBytes {
		return engine.ErrTextTooLong
	}
	pad := strings.Repeat(" ", max(width-utf8.RuneCountInString(text), 0))
	if left {
		f.out.WriteString(text + pad)
	} else {
		f.out.WriteString(pad + text)
	}
	return nil
}

// layout reads what is between % and the type. position 0 means the next
// argument.
func (f *formatter) layout() (position, width int, left bool, err error) {
	n, ok, err := f.number()
	if err != nil {
		return 0, 0, false, err
	}
	if ok && f.accept('$') {
		if n == 0 {
			return 0, 0, false, errFormatZero
		}
		position, ok = n, false
	}
	if ok {
		return 0, n, false, nil
	}
	for f.accept('-') {
		left = true
	}
	if f.accept('*') {
		width, err = f.widthArgument()
		if width < 0 {
			left, width = true, -width
		}
	} else {
		width, _, err = f.number()
	}
	return position, width, left, err
}

var errFormatZero = sqlstate.New(sqlstate.InvalidParameterValue, "format specifies argument 0, but arguments are numbered from 1")

// widthArgument reads *, *n$: the width is an argument.
func (f *formatter) widthArgument() (int, error) {
	position, ok, err := f.number()
	switch {
	case err != nil:
		return 0, err
	case ok && !f.accept('$'):
		return 0, sqlstate.New(sqlstate.InvalidParameterValue, `width argument position must be ended by "$"`)
	case ok && position == 0:
		return 0, errFormatZero
	}
	v, err := f.argument(position)
	if err != nil || !v.Valid {
		return 0, err
	}
	if v, err = datum.ParseText(datum.Int4, outputText(f.x, v), nil); err != nil {
		return 0, err
	}
	return int(v.Int), nil
}

func (f *formatter) accept(c byte) bool {
	if f.i < len(f.text) && f.text[f.i] == c {
		f.i++
		return true
	}
	return false
}

func (f *formatter) number() (n int, ok bool, err error) {
	start := f.i
	for f.i < len(f.text) && f.text[f.i] >= '0' && f.text[f.i] <= '9' {
		f.i++
	}
	if start == f.i {
		return 0, false, nil
	}
	v, err := strconv.ParseInt(f.text[start:f.i], 10, 32)
	if err != nil {
		return 0, false, sqlstate.New(sqlstate.NumericOutOfRange, "number is out of range")
	}
	return int(v), true, nil
}

func (f *formatter) argument(position int) (datum.Value, error) {
	if position > 0 {
		f.next = position - 1
	}
	if f.next >= len(f.values) {
		return datum.Value{}, sqlstate.New(sqlstate.InvalidParameterValue, "too few arguments for format()")
	}
	f.next++
	return f.values[f.next-1], nil
}

func (f *formatter) convert(kind string, v datum.Value) (string, error) {
	switch {
	case !v.Valid && kind == "I":
		return "", sqlstate.New(sqlstate.NullNotAllowed, "null values cannot be formatted as an SQL identifier")
	case !v.Valid && kind == "L":
		return "NULL", nil
	case !v.Valid:
		return "", nil
	}
	text := outputText(f.x, v)
	switch kind {
	case "I":
		text = syntax.QuoteIdent(text)
	case "L":
		text = syntax.QuoteLiteral(text)
	}
	return text, nil
}
