package engine

import (
	"slices"

	"nextid/sqlfuncs/datum"
)

// KeyValues are the values that the conditions leave for a key column.
type KeyValues struct {
	Fixed  bool
	Values []datum.Value
}

func (k *KeyValues) Restrict(values []datum.Value) {
	if !k.Fixed {
		k.Fixed = true
		seen := ValueSet{}
		for _, v := range values {
			if seen.add(v) {
				k.Values = append(k.Values, v)
			}
		}
		return
	}
	set := SetOf(values)
	k.Values = slices.DeleteFunc(k.Values, func(v datum.Value) bool { return !set.Holds(v) })
}

// ValueSet is values of one type, without NULL.
type ValueSet map[string]struct{}

// SetOf is the set of some values.
func SetOf(values []datum.Value) ValueSet {
	s := make(ValueSet, len(values))
	for _, v := range values {
		s.add(v)
	}
	return s
}

// add adds a value, and reports whether it was not there.
func (s ValueSet) add(v datum.Value) bool {
	if !v.Valid {
		return false
	}
	n := len(s)
	s[string(datum.AppendKey(nil, v))] = struct{}{}
	return len(s) > n
}

// Holds reports whether a value is in the set.
func (s ValueSet) Holds(v datum.Value) bool {
	_, ok := s[string(datum.AppendKey(nil, v))]
	return ok
}
