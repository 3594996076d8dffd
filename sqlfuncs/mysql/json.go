package mysql

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

// jsonFunctions work on JSON texts (manual, 12.18), as MariaDB's do: a
// part of a document keeps the form in which it was written.
var jsonFunctions = slices.Concat([]engine.Function{
	{Name: "json_extract", Args: engine.Args(datum.Text, datum.Text), Variadic: true, Result: datum.JSON, Eval: jsonExtract},
	{Name: "json_unquote", Args: engine.Args(datum.Text), Result: datum.Text, Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
		return datum.MakeText(jsonUnquoted(a[0].Str)), nil
	}},
	{Name: "json_value", Args: engine.Args(datum.Text, datum.Text), Result: datum.Text, Eval: func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
		v, err := jsonExtract(x, a)
		if err != nil || !v.Valid || strings.HasPrefix(v.Str, "{") || strings.HasPrefix(v.Str, "[") {
			return datum.Null(datum.Text), err
		}
		return datum.MakeText(jsonUnquoted(v.Str)), nil
	}},
},
)

// jsonStep is one step of a path: a key or an index; "" and -1 for * .
type jsonStep struct {
	key   string
	index int
	isKey bool
	all   bool
}

// maxJSONSteps bounds a path, as MySQL does.
const maxJSONSteps = 100

func badJSONPath(path string) error {
	return sqlstate.New(sqlstate.InvalidText, "Invalid JSON path expression '%s'", sqlstate.Cut(path, 64)).WithMySQL(3143, "42000")
}

// parseJSONPath reads $.key, $."key", $[0], .* and [*].
func parseJSONPath(path string) ([]jsonStep, error) {
	s, ok := strings.CutPrefix(strings.TrimSpace(path), "$")
	if !ok {
		return nil, badJSONPath(path)
	}
	var steps []jsonStep
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		if len(steps) >= maxJSONSteps {
			return nil, badJSONPath(path)
		}
		switch {
		case strings.HasPrefix(s, ".*"):
			steps, s = append(steps, jsonStep{isKey: true, all: true}), s[2:]
		case strings.HasPrefix(s, `."`):
			end := strings.IndexByte(s[2:], '"')
			if end < 0 {
				return nil, badJSONPath(path)
			}
			steps, s = append(steps, jsonStep{isKey: true, key: s[2 : 2+end]}), s[end+3:]
		case s[0] == '.':
			end := strings.IndexAny(s[1:], ".[ ")
			if end < 0 {
				end = len(s) - 1
			}
			if end == 0 {
				return nil, badJSONPath(path)
			}
			steps, s = append(steps, jsonStep{isKey: true, key: s[1 : 1+end]}), s[1+end:]
		case s[0] == '[':
			end := strings.IndexByte(s, ']')
			if end < 0 {
				return nil, badJSONPath(path)
			}
			step := jsonStep{}
			if text := strings.TrimSpace(s[1:end]); text == "*" {
				step.all = true
			} else if n, err := strconv.Atoi(text); err == nil && n >= 0 {
				step.index = n
			} else {
				return nil, badJSONPath(path)
			}
			steps, s = append(steps, step), s[end+1:]
		default:
			return nil, badJSONPath(path)
		}
	}
	return steps, nil
}

// jsonFinder collects what paths meet in a document.
type jsonFinder struct {
	x     *engine.Exec
	found []engine.JSONText
	size  int // of a text that holds all of it
}

// find follows a path.
func (f *jsonFinder) find(doc engine.JSONText, steps []jsonStep) error {
	if len(steps) == 0 {
		f.found = append(f.found, doc)
		if f.size += len(doc) + len(", "); f.size > engine.MaxTextBytes {
			return engine.ErrTextTooLong
		}
		return nil
	}
	step, rest := steps[0], steps[1:]
	kind := doc.Kind()
	switch {
	case step.isKey && kind != '{':
		return nil
	case !step.isKey && kind != '[' && !step.all && step.index == 0:
		return f.find(doc, rest) // $[0] of what is no array is itself
	case !step.isKey && kind != '[':
		return nil
	}
	i := 0
	for k, v := range doc.Items() {
		err := f.x.Work(len(k) + len(v))
		match := step.all || !step.isKey && i == step.index
		if step.isKey && !step.all && err == nil {
			key, _ := datum.UnquoteJSON(string(k)) // the document is valid
			match = key == step.key
		}
		if match && err == nil {
			err = f.find(v, rest)
		}
		if err != nil {
			return err
		}
		i++
	}
	return nil
}

// jsonDocument reads a document; what is none is NULL with a warning.
func jsonDocument(x *engine.Exec, text, function string) (engine.JSONText, bool) {
	doc := engine.JSONOf(text)
	if !json.Valid([]byte(doc)) {
		Warn(x, sqlstate.New(sqlstate.InvalidText, "Syntax error in JSON text in argument 1 to function '%s'", function).WithMySQL(4038, "HY000"))
		return "", false
	}
	return doc, true
}

func jsonExtract(x *engine.Exec, a []datum.Value) (datum.Value, error) {
	doc, ok := jsonDocument(x, a[0].Str, "json_extract")
	f := jsonFinder{x: x}
	many := len(a) > 2
	for _, path := range a[1:] {
		steps, err := parseJSONPath(path.Str)
		if err != nil {
			return datum.Value{}, err
		}
		if ok {
			if err := f.find(doc, steps); err != nil {
				return datum.Value{}, err
			}
		}
		many = many || slices.ContainsFunc(steps, func(s jsonStep) bool { return s.all })
	}
	switch {
	case len(f.found) == 0:
		return datum.Null(datum.JSON), nil
	case !many:
		return datum.MakeString(datum.JSON, string(f.found[0])), nil
	}
	out := append(make([]byte, 0, f.size+2), '[')
	for i, part := range f.found {
		if i > 0 {
			out = append(out, ", "...)
		}
		out = append(out, part...)
	}
	return datum.MakeString(datum.JSON, string(append(out, ']'))), nil
}

// jsonUnquoted is the value of a JSON string; other texts stay as they are.
func jsonUnquoted(text string) string {
	var s string
	if len(text) >= 2 && text[0] == '"' && json.Unmarshal([]byte(text), &s) == nil {
		return s
	}
	return text
}
