package checked_test

import (
	"encoding/json"
	"sync"
	"testing"

	"nextid/generator"
	"nextid/generator/history"
	"nextid/generator/store/memory"

	"example.com/ids/checked"
)

func open(t *testing.T, store generator.Store, options string) generator.Generator {
	t.Helper()
	kind := checked.Kind(store, "test")
	stored, err := kind.Normalize(json.RawMessage(options))
	if err != nil {
		t.Fatal(err)
	}
	g, err := kind.Open(t.Context(), generator.Definition{Name: "customers", Kind: kind.Name(), Options: stored})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func next(t *testing.T, g generator.Generator) generator.Range {
	t.Helper()
	r, err := g.Next(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCheckDigit(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]int64{1: 8, 2: 6, 7992739871: 3, 411111111111111: 1, 0: 0} {
		if got := checked.CheckDigit(n); got != want {
			t.Errorf("the check digit of %d is %d, not %d", n, got, want)
		}
	}
}

// TestNumbersNeverRepeat draws from several generators of one name at once,
// some of which are closed and opened again.
func TestNumbersNeverRepeat(t *testing.T) {
	t.Parallel()
	store := memory.New(memory.Config{})
	var log history.Log
	var wg sync.WaitGroup
	for client := range 4 {
		wg.Go(func() {
			for range 20 {
				g := open(t, store, `{"step": 7}`)
				for range 30 {
					log.Add(history.Event{Name: "customers", Client: client, Range: next(t, g)})
				}
				if err := g.(generator.Closer).Close(t.Context()); err != nil {
					t.Error(err)
				}
				if _, err := g.Next(t.Context(), 1); err == nil {
					t.Error("a closed generator gives a number")
				}
			}
		})
	}
	wg.Wait()
	if err := log.Check(); err != nil || log.Len() != 4*20*30 {
		t.Errorf("%d numbers, %v", log.Len(), err)
	}
}

func TestCloseGivesBack(t *testing.T) {
	t.Parallel()
	store := memory.New(memory.Config{})
	var ids []int64
	for range 3 {
		g := open(t, store, "")
		ids = append(ids, next(t, g).First)
		if err := g.(generator.Closer).Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if ids[0] != 18 || ids[1] != 26 || ids[2] != 34 {
		t.Errorf("the first numbers are %v", ids)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	kind := checked.Kind(nil, "test")
	for _, bad := range []string{`{"step": 0}`, `{"steps": 1}`, `{"step": "many"}`, `[]`} {
		if _, err := kind.Normalize(json.RawMessage(bad)); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
	stored, err := kind.Alter(json.RawMessage(`{"step":100}`), json.RawMessage(`{"step":5}`))
	if err != nil || string(stored) != `{"step":5}` {
		t.Errorf("alter: %s, %v", stored, err)
	}
}
