package segment

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"nextid/generator/generatortest"
)

// Free returns the first number that no server has issued or reserved.
func TestFree(t *testing.T) {
	for _, c := range []struct {
		options string
		do      func(w *world, g *Generator)
		want    int64
	}{
		{`{}`, func(*world, *Generator) {}, 1},
		{`{"start":-100}`, func(*world, *Generator) {}, -100},
		{`{"start":-100}`, func(w *world, g *Generator) { w.draw(g, 3) }, -97},
		{`{}`, func(w *world, g *Generator) { w.draw(g, 150) }, 151}, // the second buffer has come
		{`{}`, func(w *world, g *Generator) { w.draw(g, 1000) }, 1001},
		{`{"increment":50}`, func(w *world, g *Generator) { w.draw(g, 2) }, 52},
		{`{"increment":-50}`, func(w *world, g *Generator) { w.draw(g, 2) }, -52},
		{`{"restart":500}`, func(*world, *Generator) {}, 500},
		{`{"restart":500,"called":true}`, func(*world, *Generator) {}, 501},
		{`{"restart":500,"increment":50}`, func(w *world, g *Generator) { w.draw(g, 2) }, 551},
		{`{}`, func(w *world, g *Generator) { w.draw(g, 3); w.other(500) }, 1501},
		{`{}`, func(w *world, _ *Generator) { w.other(500) }, 500},
		{`{"step":10,"prefetch_at":1}`, func(w *world, g *Generator) { w.draw(g, 3); w.other(5); w.draw(g, 8) }, 17}, // [16, 26) is in hand
		{`{"strict":true}`, func(w *world, g *Generator) { w.draw(g, 3) }, 4},
		{`{"strict":true}`, func(w *world, g *Generator) { w.draw(g, 3); w.other(5) }, 9},
	} {
		inWorld(t, func(w *world) {
			g := w.open(c.options)
			c.do(w, g)
			synctest.Wait()
			if got, err := g.Free(w.t.Context()); err != nil || got != c.want {
				t.Errorf("%s: free from %d on, %v; want %d", c.options, got, err, c.want)
			}
			// A successor begins just there, with any increment.
			w.close(g)
			wantIDs(t, w.draw(w.open(fmt.Sprintf(`{"start":%d,"increment":%d,"restart":%d}`, -100*g.direction, g.direction*7, c.want)), 2), c.want, c.want+7*g.direction)
		})
	}
}

// A reservation that is on its way may be granted: Free waits for it.
func TestFreeWaitsForAFetch(t *testing.T) {
	inWorld(t, func(w *world) {
		g := w.open(`{"step":10,"prefetch_at":0.5}`)
		w.draw(g, 5)
		gate := make(chan struct{})
		w.store.Inject(generatortest.Reserve, 1, generatortest.Wait(gate))
		w.draw(g, 1)
		free := make(chan int64, 1)
		go func() {
			v, _ := g.Free(w.t.Context())
			free <- v
		}()
		synctest.Wait()
		time.Sleep(time.Second)
		close(gate)
		if v := <-free; v != 7 {
			t.Errorf("free from %d on, want 7", v)
		}
	})
}
