package generatortest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"nextid/generator"
)

// awkward is JSON that a store may not rewrite.
const awkward = `{"z": 1,  "a":"é % _ ' \" \\ 😀 \u0000", "n":9223372036854775807, "f":1.50, "z2":null}`

func definition(name, options string) generator.Definition {
	return generator.Definition{Name: name, Kind: "segment", Options: json.RawMessage(options)}
}

func mustDefine(ctx context.Context, t *testing.T, s generator.Store, d generator.Definition) generator.Definition {
	t.Helper()
	stored, created, err := s.Define(ctx, d)
	if err != nil || !created {
		t.Fatalf("Define(%s): created %v, %v", d.Name, created, err)
	}
	return stored
}

func wantDefinition(t *testing.T, got, want generator.Definition) {
	t.Helper()
	if got.Name != want.Name || got.Kind != want.Kind || string(got.Options) != string(want.Options) ||
		got.Version != want.Version || !got.Created.Equal(want.Created) {
		t.Fatalf("definition is %+v %s, want %+v %s", got, got.Options, want, want.Options)
	}
}

// define covers Define, Defined and ListDefined.
func (s suite) define(t *testing.T) {
	t.Run("a new name is created with version 1 and a time", func(t *testing.T) {
		ctx, store := s.start(t)
		d := definition("orders", awkward)
		d.Version = 77 // set by the store
		stored := mustDefine(ctx, t, store, d)
		if stored.Version != 1 || stored.Created.IsZero() {
			t.Errorf("version %d, created %v", stored.Version, stored.Created)
		}
		if stored.Kind != d.Kind || string(stored.Options) != awkward {
			t.Errorf("stored %s %s", stored.Kind, stored.Options)
		}
		got, err := store.Defined(ctx, "orders")
		if err != nil {
			t.Fatal(err)
		}
		wantDefinition(t, got, stored)
	})
	t.Run("a known name is left as it is and returned", func(t *testing.T) {
		ctx, store := s.start(t)
		first := mustDefine(ctx, t, store, definition("orders", `{"v":1}`))
		second := definition("orders", `{"v":2}`)
		second.Kind = "snowflake"
		stored, created, err := store.Define(ctx, second)
		if err != nil || created {
			t.Fatalf("created %v, %v", created, err)
		}
		wantDefinition(t, stored, first)
	})
	t.Run("of racing creators one wins and all learn the same", s.racingCreators)
	t.Run("an unknown name is ErrUnknown and bears its name", func(t *testing.T) {
		ctx, store := s.start(t)
		mustDefine(ctx, t, store, definition("orders", `{}`))
		for _, name := range []string{"Orders", "order", "orders2", "%", "order_"} {
			_, err := store.Defined(ctx, name)
			wantKind(t, err, generator.ErrUnknown)
			if !strings.Contains(err.Error(), name) {
				t.Errorf("%q does not name %q", err, name)
			}
		}
	})
	t.Run("the list is ordered by name", func(t *testing.T) {
		ctx, store := s.start(t)
		names := []string{"b", "a", "B", "_", "a.b", "a-b", "a:b", "a_b", "ab", "a1", strings.Repeat("n", generator.MaxNameBytes)}
		want := make(map[string]generator.Definition)
		for _, name := range names {
			want[name] = mustDefine(ctx, t, store, definition(name, fmt.Sprintf(`{"n":%q}`, name)))
		}
		all, err := store.ListDefined(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range all {
			got = append(got, d.Name)
			wantDefinition(t, d, want[d.Name])
		}
		if slices.Sort(names); !slices.Equal(got, names) {
			t.Errorf("got  %q\nwant %q", got, names)
		}
		if n, err := store.Count(ctx); err != nil || n != len(names) {
			t.Errorf("%d names are counted, %v, want %d", n, err, len(names))
		}
	})
	t.Run("defining reserves nothing", func(t *testing.T) {
		ctx, store := s.start(t)
		mustDefine(ctx, t, store, definition("orders", `{}`))
		if marks := mustReserved(ctx, t, store, ""); len(marks) != 0 {
			t.Errorf("marks are %+v", marks)
		}
	})
	t.Run("a caller may change the options that it got", func(t *testing.T) {
		ctx, store := s.start(t)
		d := definition("orders", `{"v":1}`)
		stored := mustDefine(ctx, t, store, d)
		clear(d.Options)
		clear(stored.Options)
		got, err := store.Defined(ctx, "orders")
		if err != nil || string(got.Options) != `{"v":1}` {
			t.Errorf("stored options became %q, %v", got.Options, err)
		}
	})
}

func (s suite) racingCreators(t *testing.T) {
	const creators = 16
	ctx, store := s.start(t)
	for round := range 5 {
		name := fmt.Sprint("race", round)
		var stored [creators]generator.Definition
		var created [creators]bool
		race(creators, func(i int) {
			var err error
			stored[i], created[i], err = store.Define(ctx, definition(name, fmt.Sprintf(`{"by":%d}`, i)))
			if err != nil {
				t.Errorf("Define: %v", err)
			}
		})
		winners := 0
		for i := range creators {
			if created[i] {
				winners++
				if want := fmt.Sprintf(`{"by":%d}`, i); string(stored[i].Options) != want {
					t.Errorf("creator %d was told %s", i, stored[i].Options)
				}
			}
			wantDefinition(t, stored[i], stored[0])
		}
		if winners != 1 {
			t.Fatalf("%d creators were told that they created %s", winners, name)
		}
	}
}

// race runs f(0) … f(n-1) at the same time and waits for all.
func race(n int, f func(i int)) {
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			f(i)
		})
	}
	close(start)
	wg.Wait()
}

// redefine covers Redefine.
func (s suite) redefine(t *testing.T) {
	t.Run("the options change and the version grows by one", func(t *testing.T) {
		ctx, store := s.start(t)
		want := mustDefine(ctx, t, store, definition("orders", `{"v":1}`))
		for range 3 {
			change := want
			change.Options = json.RawMessage(awkward)
			got, err := store.Redefine(ctx, change)
			if err != nil {
				t.Fatal(err)
			}
			want.Version++
			want.Options = change.Options
			wantDefinition(t, got, want)
			got, err = store.Defined(ctx, "orders")
			if err != nil {
				t.Fatal(err)
			}
			wantDefinition(t, got, want)
		}
	})
	t.Run("another version is ErrRetry and changes nothing", func(t *testing.T) {
		ctx, store := s.start(t)
		want := mustDefine(ctx, t, store, definition("orders", `{"v":1}`))
		for _, version := range []int64{0, 2, -1} {
			change := want
			change.Version, change.Options = version, json.RawMessage(`{"v":2}`)
			_, err := store.Redefine(ctx, change)
			wantKind(t, err, generator.ErrRetry)
		}
		got, err := store.Defined(ctx, "orders")
		if err != nil {
			t.Fatal(err)
		}
		wantDefinition(t, got, want)
	})
	t.Run("of racing changes of one version one wins", func(t *testing.T) {
		const writers = 16
		ctx, store := s.start(t)
		d := mustDefine(ctx, t, store, definition("orders", `{}`))
		var errs [writers]error
		race(writers, func(i int) {
			change := d
			change.Options = json.RawMessage(fmt.Sprintf(`{"by":%d}`, i))
			_, errs[i] = store.Redefine(ctx, change)
		})
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
				continue
			}
			wantKind(t, err, generator.ErrRetry)
		}
		if got, err := store.Defined(ctx, "orders"); err != nil || won != 1 || got.Version != 2 {
			t.Errorf("%d writers won, version %d, %v", won, got.Version, err)
		}
	})
	t.Run("an unknown name is ErrUnknown", func(t *testing.T) {
		ctx, store := s.start(t)
		d := definition("orders", `{}`)
		d.Version = 1
		_, err := store.Redefine(ctx, d)
		wantKind(t, err, generator.ErrUnknown)
	})
}

// undefine covers Undefine and the life of a name after it.
func (s suite) undefine(t *testing.T) {
	t.Run("a dropped name is unknown and not listed", func(t *testing.T) {
		ctx, store := s.start(t)
		d := mustDefine(ctx, t, store, definition("orders", `{}`))
		mustDefine(ctx, t, store, definition("other", `{}`))
		if err := store.Undefine(ctx, "orders"); err != nil {
			t.Fatal(err)
		}
		_, err := store.Defined(ctx, "orders")
		wantKind(t, err, generator.ErrUnknown)
		_, err = store.Redefine(ctx, d)
		wantKind(t, err, generator.ErrUnknown)
		wantKind(t, store.Undefine(ctx, "orders"), generator.ErrUnknown)
		all, err := store.ListDefined(ctx)
		if err != nil || len(all) != 1 || all[0].Name != "other" {
			t.Errorf("the list is %+v, %v", all, err)
		}
		if n, err := store.Count(ctx); err != nil || n < 1 || n > 2 {
			t.Errorf("%d names are counted, %v, want the one, or the dropped one, too", n, err)
		}
	})
	t.Run("a name that never was is ErrUnknown", func(t *testing.T) {
		ctx, store := s.start(t)
		wantKind(t, store.Undefine(ctx, "orders"), generator.ErrUnknown)
	})
	t.Run("the numbers of a dropped name stay reserved", func(t *testing.T) {
		ctx, store := s.start(t)
		key := generator.NameKey("orders")
		mustDefine(ctx, t, store, definition("orders", `{}`))
		wantReserve(ctx, t, store, request(key, 1, 100), 1, 101)
		if err := store.Undefine(ctx, "orders"); err != nil {
			t.Fatal(err)
		}
		if marks := mustReserved(ctx, t, store, key); len(marks) != 1 || marks[0].Hi != 101 {
			t.Fatalf("after the drop the marks are %+v", marks)
		}
		mustDefine(ctx, t, store, definition("orders", `{}`))
		wantReserve(ctx, t, store, request(key, 1, 100), 101, 201)
	})
	t.Run("a name that is defined again may be another kind", func(t *testing.T) {
		ctx, store := s.start(t)
		mustDefine(ctx, t, store, definition("orders", `{"old":true}`))
		if err := store.Undefine(ctx, "orders"); err != nil {
			t.Fatal(err)
		}
		d := definition("orders", `{"new":true}`)
		d.Kind = "snowflake"
		stored := mustDefine(ctx, t, store, d)
		if stored.Kind != "snowflake" || string(stored.Options) != `{"new":true}` {
			t.Errorf("stored %s %s", stored.Kind, stored.Options)
		}
		got, err := store.Defined(ctx, "orders")
		if err != nil {
			t.Fatal(err)
		}
		wantDefinition(t, got, stored)
	})
	t.Run("a change of the dropped definition misses the new one", func(t *testing.T) {
		ctx, store := s.start(t)
		old := mustDefine(ctx, t, store, definition("orders", `{"old":true}`))
		if err := store.Undefine(ctx, "orders"); err != nil {
			t.Fatal(err)
		}
		mustDefine(ctx, t, store, definition("orders", `{"new":true}`))
		_, err := store.Redefine(ctx, old)
		wantKind(t, err, generator.ErrRetry)
	})
}
