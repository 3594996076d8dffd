package segment

import (
	"fmt"
	"testing"

	"nextid/generator/generatortest"
	"nextid/generator/history"
	"nextid/generator/store/memory"
)

// Tinyid's scheme for several databases: each has the same biz type with
// delta and a remainder of its own, so that no two give the same number.
func TestSeveralStoresShareTheNumbersByDeltaAndRemainder(t *testing.T) {
	inWorld(t, func(w *world) {
		for remainder := range int64(3) {
			w.store = generatortest.NewFaulty(memory.New(memory.Config{Clock: w.clock}))
			w.kind = Kind(w.store, w.clock, "test")
			g := w.open(fmt.Sprintf(`{"increment":3,"offset":%d,"step":10,"description":"orders"}`, remainder))
			for range 50 {
				r, err := g.Next(w.t.Context(), 7)
				if err != nil {
					t.Fatal(err)
				}
				w.log.Add(history.Event{Name: "orders", Client: int(remainder), Range: r})
				if r.First%3 != remainder || r.Step != 3 {
					t.Errorf("%+v with the remainder %d", r, remainder)
				}
			}
		}
	})
}
