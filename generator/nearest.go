package generator

import (
	"context"
	"fmt"
	"reflect"
	"strings"
)

// DidYouMean returns the end of a message about an unknown word: a question with
// the nearest known word, or "".
func DidYouMean(word string, known []string) string {
	best := Nearest(word, known)
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// Nearest returns the known word with the least edit distance from word, if that is
// 1 or 2. Otherwise it returns "". It never returns word itself, which may be known
// in another context.
func Nearest(word string, known []string) string {
	best, least := "", 3
	for _, k := range known {
		if len(word) >= len(k)+least {
			continue // too different by length alone: a client's text may have a megabyte
		}
		if d := distance(word, k); d > 0 && d < least {
			best, least = k, d
		}
	}
	return best
}

// distance returns the Levenshtein distance of a and b in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// mostCompared is the greatest number of names for which Resembling reads the
// catalogue, as each new name does.
const mostCompared = 200

// Resembling returns a name of the store that differs from name in case only, or by
// one letter. It returns "" for none, and if the store has more than mostCompared
// names.
func (r *Registry) Resembling(ctx context.Context, name string) (string, error) {
	r.catalogue.mu.Lock()
	names := r.catalogue.names
	r.catalogue.mu.Unlock()
	if names > mostCompared {
		return "", nil
	}
	list, err := r.cfg.Store.ListDefined(ctx)
	for _, d := range list {
		if resembles(d.Name, name) {
			return d.Name, err
		}
	}
	return "", err
}

// leastAlike is the least length of names for which one different letter counts as
// a typing error.
const leastAlike = 4

// resembles reports whether two different names differ in case only, or by one
// letter. A different digit does not count: orders_1 and orders_2 are two names.
func resembles(a, b string) bool {
	if strings.EqualFold(a, b) {
		return a != b
	}
	return min(len(a), len(b)) >= leastAlike && distance(a, b) == 1 && strings.Map(notLetter, a) == strings.Map(notLetter, b)
}

// notLetter drops ASCII letters from a text.
func notLetter(c rune) rune {
	if 'a' <= c|0x20 && c|0x20 <= 'z' {
		return -1
	}
	return c
}

// optionNames returns the JSON names of the fields of a struct.
func optionNames(t reflect.Type) (names []string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			names = append(names, optionNames(f.Type)...)
		case name != "" && name != "-":
			names = append(names, name)
		}
	}
	return names
}
