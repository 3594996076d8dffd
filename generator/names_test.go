package generator

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
)

// TestNamesAreFoundWhileOthersAreAdded adds names from several goroutines,
// each of which finds at once what it added, and gets the same entry again.
func TestNamesAreFoundWhileOthersAreAdded(t *testing.T) {
	const adders, each = 4, 3000 // the table doubles several times
	known := newNames()
	add := func(name string) *Entry {
		e, err := known.add(name, func(int) (*Entry, error) { return newEntry(name, 0, nil), nil })
		if err != nil {
			t.Error(err)
		}
		return e
	}
	var work sync.WaitGroup
	for a := range adders {
		work.Go(func() {
			for i := range each {
				name := fmt.Sprintf("n%0*d", 4+i%(2*shortName), (a%2)*each+i) // two add each name, some of which are long
				e := add(name)
				if e == nil || e.name != name || known.find([]byte(name)) != e || add(name) != e {
					t.Errorf("%s: another entry was found than was added", name)
					return
				}
			}
		})
	}
	work.Wait()
	seen := map[string]bool{}
	for e := range known.all() {
		seen[e.name] = true
	}
	if len(seen) != 2*each || known.n != 2*each {
		t.Errorf("%d names are listed and %d counted, of %d", len(seen), known.n, 2*each)
	}
	if e := known.find([]byte("n")); e != nil {
		t.Errorf("a name that was not added is found: %s", e.name)
	}
}

// BenchmarkLookup finds names that are asked for in no order.
func BenchmarkLookup(b *testing.B) {
	for _, n := range []int{1, 20_000, 1_000_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			known, texts := newNames(), make([][]byte, n)
			for i := range n {
				name := "tenant" + strconv.Itoa(i)
				texts[i] = []byte(name)
				if _, err := known.add(name, func(int) (*Entry, error) { return newEntry(name, 0, nil), nil }); err != nil {
					b.Fatal(err)
				}
			}
			i := 0
			for b.Loop() {
				i = (i + 7_919) % n // a prime: all of them, far apart
				if known.find(texts[i]) == nil {
					b.Fatal("missing")
				}
			}
		})
	}
}
