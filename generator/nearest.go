package generator

import (
	"context"
	"fmt"
	"reflect"
	"strings"
)

// DidYouMean is the end of a message about a word that is not known: the
// nearest one that is, "" if there is none.
func DidYouMean(word string, known []string) string {
	best := Nearest(word, known)
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// Nearest is the first of the known words that differ least from another, and
// in one or two letters; "" if there is none. A word that was refused may be known
// elsewhere, and is not its own correction.
func Nearest(word string, known []string) string {
	best, least := "", 3
	for _, k := range known {
		if len(word) >= len(k)+least {
			continue // by length alone, which of a client's text may be a megabyte
		}
		if d := distance(word, k); d > 0 && d < least {
			best, least = k, d
		}
	}
	return best
}

// distance is the number of letters to insert, delete or replace to make b
// of a (Levenshtein).
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

// mostCompared bounds the names that Resembling compares: every new name reads
// them all.
const mostCompared = 200

// Resembling returns a name of the store that differs from name in case, or by one
// letter. It returns "" for none, and for a store with more than mostCompared names.
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

// leastAlike sets how long names are of which one letter is a slip: a and b are two names.
const leastAlike = 4

// resembles reports whether two names differ, and only in case or by one letter.
// Digits tell names apart: orders_1, orders_2.
func resembles(a, b string) bool {
	if strings.EqualFold(a, b) {
		return a != b
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) < leastAlike || len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return isLetter(b[i]) && a[i:] == b[i+1:]
	}
	return isLetter(a[i]) && isLetter(b[i]) && a[i+1:] == b[i+1:]
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// optionNames are the options that a struct has in JSON.
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
