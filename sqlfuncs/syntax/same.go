package syntax

import "reflect"

// Same reports whether two expressions are written alike: where they stand
// in the text, the text itself and parentheses do not matter. Two
// NEXT n VALUES are never the same, each draws ids.
func Same(a, b Expr) bool { return same(reflect.ValueOf(a), reflect.ValueOf(b)) }

var (
	posType        = reflect.TypeFor[Pos]()
	parenType      = reflect.TypeFor[*Paren]()
	literalType    = reflect.TypeFor[Literal]()
	nextValuesType = reflect.TypeFor[NextValues]()
)

func same(a, b reflect.Value) bool {
	a, b = inside(a), inside(b)
	if !a.IsValid() || !b.IsValid() || a.Type() != b.Type() {
		return a.IsValid() == b.IsValid() && !a.IsValid()
	}
	switch a.Kind() {
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !same(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		return sameFields(a, b)
	}
	return a.Equal(b)
}

// inside is what an interface, a pointer or parentheses hold; the zero Value
// for nil.
func inside(v reflect.Value) reflect.Value {
	for v.IsValid() && (v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer) {
		if v.Type() == parenType && !v.IsNil() {
			v = v.Elem().FieldByName("X")
			continue
		}
		v = v.Elem()
	}
	return v
}

func sameFields(a, b reflect.Value) bool {
	t := a.Type()
	if t == nextValuesType {
		return false
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Type == posType || f.Name == "Text" && t != literalType {
			continue
		}
		if !same(a.Field(i), b.Field(i)) {
			return false
		}
	}
	return true
}
