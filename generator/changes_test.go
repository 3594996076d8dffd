package generator_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"nextid/generator"
	"nextid/generator/counter"
	"nextid/generator/generatortest"
	"nextid/generator/history"
	"nextid/generator/ring"
	"nextid/generator/segment"
	"nextid/generator/snowflake"
	"nextid/generator/store/memory"
	"nextid/generator/worker"
)

// cluster is servers on one store, each with pools, kinds and a registry of
// its own, as cmd/nextid wires them.
type cluster struct {
	t       *testing.T
	store   *generatortest.Faulty
	servers []*generator.Registry
	log     history.Log

	retired func() // called after Retire
}

func inCluster(t *testing.T, slice time.Duration, f func(t *testing.T, c *cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		c := &cluster{t: t, store: generatortest.NewFaulty(memory.New(memory.Config{})), retired: func() {}}
		var pools []*worker.Pools
		for i := range 2 {
			guard := generator.NewGuard(c.store)
			p := worker.New(worker.Config{
				Store: guard, Slice: slice, Owner: fmt.Sprint("server ", i), Logger: slog.New(slog.DiscardHandler),
			})
			pools = append(pools, p)
			kinds := []generator.Kind{counter.Kind(guard, generator.SystemClock{}, "test"), segment.Kind(guard, generator.SystemClock{}, "test"), snowflake.Kind(p, "twitter"), ring.Kind(p)}
			for i := range kinds {
				kinds[i] = testKind{Kind: kinds[i], Retired: func() { c.retired() }}
			}
			r, err := generator.NewRegistry(generator.Config{Store: c.store, Guard: guard, Kinds: kinds})
			if err != nil {
				t.Fatal(err)
			}
			c.servers = append(c.servers, r)
		}
		defer stop()
		f(t, c)
		c.store.Clear()
		for i, r := range c.servers {
			if err := errors.Join(r.Close(context.WithoutCancel(ctx)), pools[i].Close(context.WithoutCancel(ctx))); err != nil {
				t.Error(err)
			}
		}
		if err := c.log.Check(); err != nil {
			t.Error(err)
		}
	})
}

// draw draws on every server in turn. A name that is not there gives nothing.
func (c *cluster) draw(name string, n int64) {
	c.t.Helper()
	for i := range c.servers {
		c.drawOn(i, name, n)
	}
}

func (c *cluster) drawOn(server int, name string, n int64) {
	c.t.Helper()
	e, err := c.servers[server].Get(c.t.Context(), name)
	var run generator.Range
	if err == nil {
		run, err = e.Next(c.t.Context(), n)
	}
	if errors.Is(err, generator.ErrUnknown) || errors.Is(err, generator.ErrNotNow) {
		return // it is not there, or slices of time must end first
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.log.Add(history.Event{Name: name, Client: server, Range: run})
}

func (c *cluster) again(server int, name, kind, options string) {
	c.t.Helper()
	r := c.servers[server]
	if err := r.Drop(c.t.Context(), name); err != nil {
		c.t.Fatal(err)
	}
	if err := r.Create(c.t.Context(), name, kind, json.RawMessage(options)); err != nil {
		c.t.Fatal(err)
	}
}

// A server creates a name that another one has just dropped. It gives ids of the new
// generator at once, also if it had the old one open, or only knew its definition.
func TestANameThatAnotherServerDroppedIsCreatedAgain(t *testing.T) {
	inCluster(t, 0, func(t *testing.T, c *cluster) {
		first, second := c.servers[0], c.servers[1]
		for _, name := range []string{"open", "known"} {
			if err := first.Create(t.Context(), name, "snowflake", json.RawMessage(withEpoch(workerFirst, "snowflake"))); err != nil {
				t.Fatal(err)
			}
			e, err := second.Get(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			if name == "open" {
				c.draw(name, 1)
			}
			if err := errors.Join(first.Drop(t.Context(), name), second.Create(t.Context(), name, "counter", nil)); err != nil {
				t.Fatal(err)
			}
			c.drawOn(1, name, 1)
			if _, ok := e.Running().(*counter.Generator); !ok {
				t.Errorf("%s: a %T gives the ids", name, e.Running())
			}
		}
	})
}

// Layouts of the same bits in another order: every id of one can be one of
// the other.
const (
	workerFirst   = `{"bits":"time 41, worker 2, sequence 2"}`
	sequenceFirst = `{"bits":"time 41, sequence 2, worker 2"}`
)

// A name that one server drops and creates again with another layout or kind
// gets no id twice from servers that have the old generator open.
func TestANameThatIsCreatedAgainOnAnotherServer(t *testing.T) {
	for _, tc := range []struct{ kind, options, newKind, newOptions string }{
		{"snowflake", workerFirst, "snowflake", sequenceFirst},
		{"snowflake", workerFirst, "segment", `{"step":1000000,"max_step":1000000}`},
		{"snowflake", `{"bits":"time 41, worker 2, sequence 2","strict":true}`, "snowflake", sequenceFirst},
		{"snowflake", workerFirst, "snowflake", `{"bits":"time 41, sequence 2, worker 2","strict":true}`},
		{"segment", `{}`, "snowflake", workerFirst},
		{"segment", `{}`, "segment", `{"increment":-1}`},
		{"ring", `{"bits":"time 35, worker 2, sequence 2","unit":"100ms","epoch":"1999-12-31","max_borrow":"2s"}`, "snowflake", `{"bits":"time 35, sequence 2, worker 2","unit":"100ms","epoch":"1999-12-31"}`},
		{"snowflake", `{"bits":"time 35, sequence 2, worker 2","unit":"100ms","epoch":"1999-12-31"}`, "ring", `{"bits":"time 35, worker 2, sequence 2","unit":"100ms","epoch":"1999-12-31","max_borrow":"2s"}`},
	} {
		slice := 6 * time.Second
		if tc.kind == "ring" {
			slice = time.Minute // it does not help the ring to know what it must
		}
		inCluster(t, slice, func(t *testing.T, c *cluster) {
			if tc.kind == "snowflake" && tc.newKind != "ring" || tc.newKind == "snowflake" && tc.kind != "ring" {
				tc.options = withEpoch(tc.options, tc.kind)
				tc.newOptions = withEpoch(tc.newOptions, tc.newKind)
			}
			if err := c.servers[0].Create(t.Context(), "orders", tc.kind, json.RawMessage(tc.options)); err != nil {
				t.Fatal(err)
			}
			for range 20 {
				c.draw("orders", 4)
				time.Sleep(50 * time.Millisecond)
			}
			c.again(1, "orders", tc.newKind, tc.newOptions)
			for range 4000 { // into the next slices
				c.draw("orders", 4)
				time.Sleep(4 * time.Millisecond)
			}
			d, err := c.servers[0].Get(t.Context(), "orders")
			if err != nil {
				t.Fatal(err)
			}
			if now, err := d.Definition(t.Context()); err != nil || now.Kind != tc.newKind || now.Version != 2 {
				t.Errorf("%+v: the other server has %+v, %v", tc, now, err)
			}
		})
	}
}

// What other servers reserve while a name is being dropped counts, too.
func TestANameThatIsDroppedWhileOthersReserve(t *testing.T) {
	inCluster(t, 6*time.Second, func(t *testing.T, c *cluster) {
		if err := c.servers[0].Create(t.Context(), "orders", "snowflake", json.RawMessage(withEpoch(workerFirst, "snowflake"))); err != nil {
			t.Fatal(err)
		}
		c.draw("orders", 4)
		c.retired = func() {
			c.retired = func() {}
			time.Sleep(6 * time.Second)
			c.drawOn(0, "orders", 4)
			time.Sleep(500 * time.Millisecond)
		}
		c.again(1, "orders", "snowflake", withEpoch(sequenceFirst, "snowflake"))
		for range 4000 {
			c.draw("orders", 4)
			time.Sleep(4 * time.Millisecond)
		}
	})
}

// withEpoch lets snowflakes begin at the time of the bubble.
func withEpoch(options, kind string) string {
	if kind != "snowflake" {
		return options
	}
	return options[:len(options)-1] + `,"epoch":"1999-12-31"}`
}

// What one server alters holds on the others from their next reservation on,
// or after a few seconds.
func TestAlterReachesTheOtherServers(t *testing.T) {
	inCluster(t, 6*time.Second, func(t *testing.T, c *cluster) {
		if err := c.servers[0].Create(t.Context(), "orders", "segment", json.RawMessage(`{"step":10,"max_step":10,"prefetch_at":1}`)); err != nil {
			t.Fatal(err)
		}
		c.draw("orders", 3) // server 0 has 1 to 10, server 1 has 11 to 20
		if err := c.servers[0].Alter(t.Context(), "orders", json.RawMessage(`{"increment":100,"offset":7}`)); err != nil {
			t.Fatal(err)
		}
		e, err := c.servers[1].Get(t.Context(), "orders")
		if err != nil {
			t.Fatal(err)
		}
		draw := func() int64 {
			t.Helper()
			r, err := e.Next(t.Context(), 1)
			if err != nil {
				t.Fatal(err)
			}
			c.log.Add(history.Event{Name: "orders", Client: 1, Range: r})
			return r.First
		}
		for range 7 {
			if id := draw(); id > 20 {
				t.Errorf("%d, although there are numbers of the old block", id)
			}
		}
		if id := draw(); id%100 != 7 {
			t.Errorf("the next block gives %d, not a number of the new series", id)
		}
	})
	inCluster(t, 6*time.Second, func(t *testing.T, c *cluster) {
		if err := c.servers[0].Create(t.Context(), "orders", "segment", nil); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { c.servers[1].Watch(ctx); close(done) }()
		c.draw("orders", 1)
		if err := c.servers[0].Alter(t.Context(), "orders", json.RawMessage(`{"increment":100,"offset":7}`)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(6 * time.Second)
		e, err := c.servers[1].Get(t.Context(), "orders")
		if err != nil {
			t.Fatal(err)
		}
		if r, err := e.Next(t.Context(), 1); err != nil || r.First%100 != 7 {
			t.Errorf("after 6 s %v, %v", r, err)
		}
		stop()
		<-done
	})
}

// A maximum that is raised on one server lets the others go on at once.
func TestAlteringAnExhaustedName(t *testing.T) {
	for _, kind := range []string{"counter", "segment"} {
		inCluster(t, time.Minute, func(t *testing.T, c *cluster) {
			if err := c.servers[0].Create(t.Context(), "orders", kind, json.RawMessage(`{"max":10}`)); err != nil {
				t.Fatal(err)
			}
			c.drawOn(1, "orders", 10)
			e, err := c.servers[1].Get(t.Context(), "orders")
			if err != nil {
				t.Fatal(err)
			}
			if r, err := e.Next(t.Context(), 1); !errors.Is(err, generator.ErrExhausted) {
				t.Errorf("%s: %v, %v, want ErrExhausted", kind, r, err)
			}
			if err := c.servers[0].Alter(t.Context(), "orders", json.RawMessage(`{"max":20}`)); err != nil {
				t.Fatal(err)
			}
			c.drawOn(1, "orders", 1)
		})
	}
}

// A reservation that came too late for its definition is given back: no number of a
// counter is left out.
func TestAlterLeavesNoNumberOut(t *testing.T) {
	inCluster(t, 6*time.Second, func(t *testing.T, c *cluster) {
		if err := c.servers[0].Create(t.Context(), "bills", "counter", nil); err != nil {
			t.Fatal(err)
		}
		c.draw("bills", 1)
		if err := c.servers[0].Alter(t.Context(), "bills", json.RawMessage(`{"deadline":"7s"}`)); err != nil {
			t.Fatal(err)
		}
		e, err := c.servers[1].Get(t.Context(), "bills")
		if err != nil {
			t.Fatal(err)
		}
		if r, err := e.Next(t.Context(), 1); err != nil || r.First != 3 {
			t.Errorf("drew %+v, %v after 1 and 2", r, err)
		}
	})
}

// The hold of a reservation that came too late is not taken for one of the number
// before.
func TestAHoldThatCameTooLate(t *testing.T) {
	inCluster(t, 6*time.Second, func(t *testing.T, c *cluster) {
		if err := c.servers[0].Create(t.Context(), "bills", "counter", json.RawMessage(`{"holds":true}`)); err != nil {
			t.Fatal(err)
		}
		hold := func(server int) (int64, error) {
			t.Helper()
			e, err := c.servers[server].Get(t.Context(), "bills")
			if err != nil {
				t.Fatal(err)
			}
			g, err := e.Generator(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return g.(generator.Holder).Hold(t.Context(), time.Minute, generator.HeldBy{Name: "a"})
		}
		c.draw("bills", 1) // 1 and 2 are used
		if err := c.servers[0].Alter(t.Context(), "bills", json.RawMessage(`{"deadline":"7s"}`)); err != nil {
			t.Fatal(err)
		}
		if n, err := hold(1); !errors.Is(err, generator.ErrRetry) {
			t.Fatalf("held %d, %v by a definition that was changed", n, err)
		}
		time.Sleep(2 * time.Minute)
		for want := range int64(3) {
			if n, err := hold(0); n != want+3 || err != nil {
				t.Errorf("held %d, %v; want %d", n, err, want+3)
			}
		}
	})
}

// A server that cannot look at the definitions does not guess.
func TestAServerThatCannotLookKeepsToWhatItHas(t *testing.T) {
	inCluster(t, 6*time.Second, func(t *testing.T, c *cluster) {
		if err := c.servers[0].Create(t.Context(), "orders", "segment", json.RawMessage(`{"step":10,"max_step":10}`)); err != nil {
			t.Fatal(err)
		}
		c.draw("orders", 1)
		e, err := c.servers[0].Get(t.Context(), "orders")
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		refused, drawn := 0, int64(0)
		for range 100 {
			c.store.Clear()
			c.store.Inject(generatortest.Defined, generatortest.Always, generatortest.FailBefore(nil))
			r, err := e.Next(t.Context(), 1)
			if err != nil {
				wantErr(t, err, generator.ErrNotNow)
				refused++
			}
			drawn += r.Count
		}
		if refused == 0 || drawn > 20 {
			t.Errorf("%d draws of 100 were refused, %d ids were given", refused, drawn)
		}
	})
}

// A reservation of time may wait for another one that looks at the definitions. Its
// deadline is not the client's, which gets an error with a code.
func TestAReservationThatWaitsForALookEndsWithAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := generatortest.NewFaulty(memory.New(memory.Config{}))
		guard := generator.NewGuard(store)
		r, err := generator.NewRegistry(generator.Config{Store: store, Guard: guard, Kinds: []generator.Kind{segment.Kind(guard, generator.SystemClock{}, "test")}})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Create(t.Context(), "orders", "segment", nil); err != nil {
			t.Fatal(err)
		}
		e, err := r.Get(t.Context(), "orders")
		if err == nil {
			_, err = e.Next(t.Context(), 1)
		}
		if err != nil {
			t.Fatal(err)
		}
		store.Inject(generatortest.Defined, 1, generatortest.Hang())
		reserve := func(patience time.Duration) error {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			_, _, err := guard.Reserve(ctx, generator.Reservation{Key: generator.WorkerKeyPrefix + "10/1", N: 1, Limit: generator.NoLimit})
			return err
		}
		go func() { _ = reserve(2 * time.Second) }()
		synctest.Wait()
		wantErr(t, reserve(time.Second), generator.ErrRetry)
		time.Sleep(2 * time.Second)
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestRenewalDoesNotListTheCatalogue: after a change a server looks at the
// names that it has open, and at no others. When the store fails in between, it
// goes on where it was.
func TestRenewalDoesNotListTheCatalogue(t *testing.T) {
	const names = 150
	inCluster(t, 6*time.Second, func(t *testing.T, c *cluster) {
		name := func(i int) string { return fmt.Sprint("name", i) }
		for i := range names {
			if err := c.servers[0].Create(t.Context(), name(i), "snowflake", json.RawMessage(`{"epoch":"1999-01-01T00:00:00Z"}`)); err != nil {
				t.Fatal(err)
			}
			c.draw(name(i), 1)
		}
		e, err := c.servers[1].Get(t.Context(), name(0))
		if err != nil {
			t.Fatal(err)
		}
		renewed := func() bool {
			time.Sleep(20 * time.Second) // the slice has ended
			_, err := e.Next(t.Context(), 1)
			return err == nil
		}
		change := func() {
			t.Helper()
			time.Sleep(1300 * time.Millisecond) // no server looks at this moment: it could do so between the change and what is injected
			synctest.Wait()
			if err := c.servers[0].Alter(t.Context(), name(1), json.RawMessage("{}")); err != nil {
				t.Fatal(err)
			}
		}
		c.store.Inject(generatortest.ListDefined, generatortest.Always, generatortest.FailBefore(nil))
		change()
		if !renewed() {
			t.Error("no ids when the catalogue cannot be listed")
		}
		change()
		gate := make(chan struct{}, names/4) // the looks of both servers that are answered, each time
		c.store.Inject(generatortest.Defined, generatortest.Always, generatortest.Wait(gate))
		times := 1
		for ; times < 20; times++ {
			for len(gate) < cap(gate) {
				gate <- struct{}{}
			}
			if renewed() {
				break
			}
		}
		if times < 3 || times == 20 {
			t.Errorf("ids are given again after %d times", times)
		}
	})
}
