package counter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/store/memory"
)

// handClock is a clock that the test moves.
type handClock struct {
	generator.Goroutines
	now time.Duration
}

func (c *handClock) Wall() int64              { return int64(c.now) + 1e18 }
func (c *handClock) Monotonic() time.Duration { return c.now }

func openHolds(t *testing.T, store generator.Reserver, clock generator.Runtime, options string) *Generator {
	t.Helper()
	k := Kind(store, clock, "test")
	o, err := k.Normalize(json.RawMessage(options))
	if err != nil {
		t.Fatal(err)
	}
	g, err := k.Open(t.Context(), generator.Definition{Name: "bills", Kind: KindName, Options: o})
	if err != nil {
		t.Fatal(err)
	}
	return g.(*Generator)
}

// Numbers are held, confirmed, voided, or come back. None is used twice, and none
// except void ones is missing at the end. Servers are killed at any answer of the
// store, before or after it did its work.
func TestHoldsWithRandomEnds(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		servers, holds, faults int // one in this many calls of the store; 0: none
		options                string
	}{
		{1, manyHolds, 0, `{"holds":true}`},
		{3, 30_000, 0, `{"holds":true,"start":-20,"increment":5}`},
		{2, 30_000, 20, `{"holds":true}`},
	} {
		t.Run(fmt.Sprintf("%d servers, %d holds, faults %d", tc.servers, tc.holds, tc.faults), func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			random := rand.New(rand.NewPCG(seed, 1))
			kept := memory.New(memory.Config{})
			var store generator.Reserver = kept
			faulty := generatortest.NewFaulty(kept)
			if tc.faults > 0 {
				store = faulty
			}
			clock := &handClock{}
			w := holdWorld{t: t, random: random, clock: clock, store: kept, used: map[int64]string{}, options: tc.options}
			for range tc.servers {
				w.servers = append(w.servers, openHolds(t, store, clock, tc.options))
			}
			if tc.faults > 0 {
				w.inject = func() { w.fail(faulty, tc.faults) }
			}
			for range tc.holds {
				w.step()
			}
			faulty.Clear()
			w.finish()
		})
	}
}

// unknown marks a client whose answer was lost: its number is used, or comes back.
const unknown = "unknown"

// holdWorld holds what the clients know about their numbers.
type holdWorld struct {
	t       *testing.T
	random  *rand.Rand
	clock   *handClock
	store   *memory.Store
	servers []*Generator
	options string
	inject  func()

	held []heldNumber
	used map[int64]string // confirmed or void numbers, and their clients
	next int
}

type heldNumber struct {
	number int64
	until  time.Duration
	by     generator.HeldBy
}

// fail makes one call of the store fail, before or after it did its work. It
// replaces the server, as if it had been killed then.
func (w *holdWorld) fail(store *generatortest.Faulty, oneIn int) {
	store.Clear()
	if w.random.IntN(oneIn) > 0 {
		return
	}
	skip, done := w.random.IntN(4), w.random.IntN(2) == 0
	store.Inject(generatortest.Reserve, skip+1, func(ctx context.Context, call func(context.Context) error) error {
		if skip--; skip >= 0 {
			return call(ctx)
		}
		if done {
			if err := call(ctx); err != nil {
				return err
			}
		}
		return generatortest.ErrUnreachable
	})
	i := w.random.IntN(len(w.servers))
	w.servers[i] = openHolds(w.t, store, w.clock, w.options)
}

func (w *holdWorld) server() *Generator { return w.servers[w.random.IntN(len(w.servers))] }

func (w *holdWorld) step() {
	if w.inject != nil {
		w.inject()
	}
	w.clock.now += time.Duration(w.random.IntN(20)) * time.Millisecond
	w.next++
	by := generator.HeldBy{Session: uint64(w.next)}
	if w.next%2 == 0 {
		by.Name = fmt.Sprint("client", w.next)
	}
	d := time.Duration(w.random.IntN(400)+1) * time.Millisecond
	n, err := w.server().Hold(w.t.Context(), d, by)
	switch {
	case err == nil:
		for _, h := range w.held {
			if h.number == n && h.until > w.clock.now {
				w.t.Fatalf("%d is held by %v and given to %v", n, h.by, by)
			}
		}
		if who, ok := w.used[n]; ok && who != unknown {
			w.t.Fatalf("%d was used by %q and is given to %v", n, who, by)
		}
		delete(w.used, n)
		w.held = append(w.held, heldNumber{n, w.clock.now + d, by})
	case w.inject == nil:
		w.t.Fatal(err)
	}
	for len(w.held) > 0 && w.random.IntN(3) > 0 {
		i := w.random.IntN(len(w.held))
		h := w.held[i]
		w.held[i] = w.held[len(w.held)-1]
		w.held = w.held[:len(w.held)-1]
		w.end(h)
	}
}

// end confirms, voids or forgets a number.
func (w *holdWorld) end(h heldNumber) {
	late := h.until <= w.clock.now
	switch w.random.IntN(100) {
	case 0:
		if late {
			return // another client may have it now
		}
		if err := w.server().Void(w.t.Context(), h.number, "not sent", "", h.by); err == nil {
			w.used[h.number] = "void"
		} else if w.inject == nil {
			w.t.Fatal(err)
		} else {
			w.used[h.number] = unknown
		}
	case 1, 2, 3, 4, 5, 6, 7, 8, 9:
	default:
		err := w.server().Confirm(w.t.Context(), h.number, h.by)
		switch {
		case err == nil && late:
			w.t.Fatalf("%d was confirmed %v after its hold", h.number, w.clock.now-h.until)
		case err == nil:
			w.used[h.number] = fmt.Sprint(h.by)
		case late && errors.Is(err, generator.ErrNotHeld):
		case w.inject == nil:
			w.t.Fatalf("confirm %d of %v: %v", h.number, h.by, err)
		default:
			w.used[h.number] = unknown
		}
	}
}

// finish uses all numbers that came back, and looks for missing ones. A number
// whose confirmation has no known result may have come back.
func (w *holdWorld) finish() {
	w.clock.now += time.Hour
	g := w.server()
	line, _, err := w.store.Mark(w.t.Context(), generator.NameKey("bills"))
	if err != nil {
		w.t.Fatal(err)
	}
	for {
		n, err := g.Hold(w.t.Context(), time.Hour, generator.HeldBy{})
		if err != nil {
			w.t.Fatal(err)
		}
		if n >= line.Hi {
			break
		}
		if who, ok := w.used[n]; ok && who != unknown {
			w.t.Fatalf("%d was used by %q and came back", n, who)
		}
		w.used[n] = "late"
		if err := g.Confirm(w.t.Context(), n, generator.HeldBy{}); err != nil {
			w.t.Fatal(err)
		}
	}
	o := g.source.options
	for n := o.Start; n < line.Hi; n += o.Increment {
		if _, ok := w.used[n]; !ok {
			w.t.Fatalf("%d is missing of %d to %d", n, o.Start, line.Hi)
		}
	}
	voids, err := w.store.Reserved(w.t.Context(), "void/bills/")
	if err != nil {
		w.t.Fatal(err)
	}
	found := map[string]bool{}
	for _, m := range voids {
		found[m.Key] = strings.HasSuffix(m.Owner, "\nnot sent")
	}
	for n, who := range w.used {
		if who == "void" && !found[generator.VoidKey("bills", n)] {
			w.t.Fatalf("%d is void, and the ledger does not say so", n)
		}
	}
}

func heldBy(name string, session []uint64) generator.HeldBy {
	return generator.HeldBy{Name: name, Session: append(session, 0)[0]}
}

// A server that opened the counter before its first hold reserves the next number
// without a look at that hold.
func TestAServerThatKnowsNoHolds(t *testing.T) {
	t.Parallel()
	clock := &handClock{}
	store := memory.New(memory.Config{})
	old, g := openHolds(t, store, clock, `{}`), openHolds(t, store, clock, `{"holds":true}`)
	by := generator.HeldBy{Name: "a"}
	n, err := g.Hold(t.Context(), time.Minute, by)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := old.Next(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	for _, server := range []*Generator{openHolds(t, store, clock, `{"holds":true}`), g} {
		if err := server.Confirm(t.Context(), n, by); err != nil && server != g {
			t.Error(err)
		}
	}
}

func TestHoldsAndDraws(t *testing.T) {
	t.Parallel()
	clock := &handClock{}
	store := memory.New(memory.Config{})
	g := openHolds(t, store, clock, `{"holds":true}`)
	wants := func(want int64, by string, session ...uint64) {
		t.Helper()
		if n, err := g.Hold(t.Context(), time.Minute, heldBy(by, session)); err != nil || n != want {
			t.Fatalf("held %d, %v, want %d", n, err, want)
		}
	}
	notHeld := func(n int64, by string, session ...uint64) {
		t.Helper()
		if err := g.Confirm(t.Context(), n, heldBy(by, session)); !errors.Is(err, generator.ErrNotHeld) {
			t.Fatalf("confirm %d of %q: %v", n, by, err)
		}
	}
	wants(1, "a")
	if r, err := g.Next(t.Context(), 5); err != nil || r != one(2) {
		t.Fatalf("drew %+v, %v", r, err)
	}
	wants(3, "b")
	notHeld(3, "a")
	notHeld(2, "")
	notHeld(4, "")
	clock.now += time.Minute
	notHeld(3, "b")
	if r, err := g.Next(t.Context(), 5); err != nil || r != one(1) { // the least comes back
		t.Fatalf("drew %+v, %v", r, err)
	}
	wants(3, "c")
	notHeld(3, "b")
	if err := g.Confirm(t.Context(), 3, generator.HeldBy{Name: "c"}); err != nil {
		t.Fatal(err)
	}
	notHeld(3, "c")
	wants(4, "")
	for _, n := range []int64{4, 2} { // one held, one issued
		if err := g.Void(t.Context(), n, "a test", "me", generator.HeldBy{}); err != nil {
			t.Fatal(err)
		}
		if err := g.Void(t.Context(), n, "again", "me", generator.HeldBy{}); !errors.Is(err, generator.ErrNotHeld) {
			t.Errorf("void %d again: %v", n, err)
		}
	}
	if err := g.Void(t.Context(), 5, "not given", "me", generator.HeldBy{}); !errors.Is(err, generator.ErrNotHeld) {
		t.Errorf("void of a number that was not issued: %v", err)
	}
	// Numbers that no client received come back on the next server.
	if n, err := g.Peek(t.Context()); err != nil || n != 5 {
		t.Fatalf("the next is %d, %v", n, err)
	}
	if err := g.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	g = openHolds(t, store, clock, `{"holds":true}`)
	wants(5, "")
	wants(6, "", 1)
	// A number that came back is confirmed and voided by the session that holds it.
	clock.now += time.Minute
	wants(5, "d")
	wants(6, "", 2)
	notHeld(5, "", 1)
	notHeld(6, "", 1)
	notHeld(6, "d")
	for n, by := range map[int64]generator.HeldBy{5: {Session: 1}, 6: {Session: 1}} {
		if err := g.Void(t.Context(), n, "late", "me", by); !errors.Is(err, generator.ErrNotHeld) {
			t.Errorf("a late void of %d: %v", n, err)
		}
	}
	if err := errors.Join(g.Void(t.Context(), 5, "mine", "me", generator.HeldBy{Name: "d"}), g.Confirm(t.Context(), 6, generator.HeldBy{Session: 2})); err != nil {
		t.Error(err)
	}
	wants(7, "e")
	clock.now += time.Minute
	if err := g.Void(t.Context(), 7, "its hold is over", "me", generator.HeldBy{}); err != nil {
		t.Error(err)
	}
	for d, by := range map[time.Duration]string{0: "", maxHold + 1: "", time.Second: strings.Repeat("a", maxWho+1), 2 * time.Second: "a\nb"} {
		if _, err := g.Hold(t.Context(), d, generator.HeldBy{Name: by}); !errors.Is(err, generator.ErrOption) {
			t.Errorf("hold for %v by %q: %v", d, by, err)
		}
	}
	if _, err := Kind(nil, nil, "").Alter(json.RawMessage(`{"start":1,"increment":1,"deadline":"5s","holds":true}`), json.RawMessage(`{"holds":false}`)); !errors.Is(err, generator.ErrOption) {
		t.Errorf("holds taken back: %v", err)
	}
}
