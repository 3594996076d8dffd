package syntax

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"nextid/sqlfuncs/sqlstate"
)

var dialects = map[string]Dialect{"PostgreSQL": PostgreSQL, "MySQL": MySQL}

// one parses a text of one statement.
func one(t testing.TB, sql string, d Dialect) Statement {
	t.Helper()
	parsed, err := Parse(sql, d)
	if err != nil {
		t.Fatalf("%q: %v", sql, err)
	}
	if len(parsed) != 1 {
		t.Fatalf("%q: %d statements", sql, len(parsed))
	}
	return parsed[0].Statement
}

// expression parses x as the only target of a query.
func expression(t testing.TB, x string, d Dialect) Expr {
	t.Helper()
	return one(t, "SELECT "+x, d).(*Select).Body.(*SelectCore).Targets[0].Expr
}

// checkFixedPoint checks that printing each statement and parsing the result
// gives the same tree.
func checkFixedPoint(t testing.TB, parsed []Parsed, d Dialect) {
	t.Helper()
	for _, p := range parsed {
		text := string(Append(nil, p.Statement, d))
		again, err := Parse(text, d)
		if e, ok := errors.AsType[*sqlstate.Error](err); ok && e.Code == sqlstate.TooComplex {
			continue // parentheses that the printer adds count as nesting
		}
		if err != nil {
			t.Errorf("printed as %q: %v", text, err)
			continue
		}
		if len(again) != 1 {
			t.Errorf("printed as %q: %d statements", text, len(again))
			continue
		}
		strip(p.Statement)
		strip(again[0].Statement)
		if !reflect.DeepEqual(p.Statement, again[0].Statement) {
			t.Errorf("printed as %q, which parses as %s", text, Append(nil, again[0].Statement, d))
		}
	}
}

// strip clears positions and source texts, which depend on how a text is written.
func strip(x any) { stripValue(reflect.ValueOf(x)) }

func stripValue(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			stripValue(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			stripValue(v.Index(i))
		}
	case reflect.Struct:
		stripStruct(v)
	}
}

func stripStruct(v reflect.Value) {
	for i := range v.NumField() {
		field := v.Field(i)
		switch {
		case field.Type() == reflect.TypeFor[Pos]():
			field.SetInt(0)
		case v.Type().Field(i).Name == "Text" && v.Type() != reflect.TypeFor[Literal]():
			field.SetString("")
		default:
			stripValue(field)
		}
	}
}

// parenthesise returns the expression with parentheses around each operation, which
// show the structure of the tree.
func parenthesise(x Expr, d Dialect) string {
	switch x := x.(type) {
	case *Binary:
		return "(" + parenthesise(x.L, d) + " " + x.Op + " " + parenthesise(x.R, d) + ")"
	case *Unary:
		return "(" + x.Op + " " + parenthesise(x.X, d) + ")"
	case *Between:
		return "(" + strings.Join([]string{parenthesise(x.X, d), not(x.Not) + "BETWEEN", parenthesise(x.Low, d), "AND", parenthesise(x.High, d)}, " ") + ")"
	case *Is:
		return "(" + parenthesise(x.X, d) + " IS " + not(x.Not) + x.What + ")"
	case *Like:
		return "(" + parenthesise(x.X, d) + " " + not(x.Not) + x.Op + " " + parenthesise(x.Pattern, d) + ")"
	case *IsDistinct:
		return "(" + parenthesise(x.L, d) + " IS " + not(x.Not) + "DISTINCT FROM " + parenthesise(x.R, d) + ")"
	case *Cast:
		return "(" + parenthesise(x.X, d) + "::" + strings.Join(x.Type.Name, ".") + ")"
	case *Collate:
		return "(" + parenthesise(x.X, d) + " COLLATE " + x.Collation.Last() + ")"
	case *In:
		return "(" + parenthesise(x.X, d) + " " + not(x.Not) + "IN …)"
	case *Quantified:
		return "(" + parenthesise(x.X, d) + " " + x.Op + " ANY …)"
	case *Assign:
		return "(@" + x.Name + " := " + parenthesise(x.Value, d) + ")"
	}
	return string(AppendExpr(nil, x, d))
}
