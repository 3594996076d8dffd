package syntax

import "reflect"

// Walk calls look for e and, while look returns true, for its parts. It does not
// enter subqueries, which have scopes of their own.
func Walk(e Expr, look func(Expr) bool) { walk(reflect.ValueOf(e), look) }

func walk(v reflect.Value, look func(Expr) bool) {
	switch v.Kind() {
	case reflect.Interface:
		walk(v.Elem(), look)
	case reflect.Pointer:
		if e, ok := reflect.TypeAssert[Expr](v); !v.IsNil() && v.Elem().Type() != selectType && (!ok || look(e)) {
			walk(v.Elem(), look)
		}
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), look)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			walk(v.Field(i), look)
		}
	}
}

// Same reports whether two expressions are equal trees. Positions and source texts
// do not matter. Two NEXT n VALUES are never the same, since each draws ids.
func Same(a, b Expr) bool { return SameBy(a, b, nil) }

// SameBy is Same with a function that compares columns: a column may be written with
// its table or without. Columns in subqueries must be written alike, since a name
// may be that of another table there.
func SameBy(a, b Expr, columns func(a, b *Column) bool) bool {
	return sameness{columns}.values(reflect.ValueOf(a), reflect.ValueOf(b))
}

// sameness compares trees by reflection. columns is nil in subqueries.
type sameness struct{ columns func(a, b *Column) bool }

var (
	posType        = reflect.TypeFor[Pos]()
	columnType     = reflect.TypeFor[Column]()
	selectType     = reflect.TypeFor[Select]()
	literalType    = reflect.TypeFor[Literal]()
	nextValuesType = reflect.TypeFor[NextValues]()
)

func (s sameness) values(a, b reflect.Value) bool {
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
			if !s.values(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		return s.structs(a, b)
	}
	return a.Equal(b)
}

// inside returns the value that an interface or a pointer holds, the zero Value for
// nil.
func inside(v reflect.Value) reflect.Value {
	for v.IsValid() && (v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer) {
		v = v.Elem()
	}
	return v
}

// structs compares two structs. It skips positions and source texts; the Text of a
// Literal is its value.
func (s sameness) structs(a, b reflect.Value) bool {
	t := a.Type()
	switch {
	case t == nextValuesType:
		return false
	case t == selectType:
		s.columns = nil
	case t == columnType && s.columns != nil:
		return s.columns(a.Addr().Interface().(*Column), b.Addr().Interface().(*Column))
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Type == posType || f.Name == "Text" && t != literalType {
			continue
		}
		if !s.values(a.Field(i), b.Field(i)) {
			return false
		}
	}
	return true
}
