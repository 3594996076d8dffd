package generatortest

import (
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

// define creates a name.
func (p place) define(name, options string) generator.Definition {
	p.Helper()
	stored, created, err := p.Define(p.ctx, definition(name, options))
	if err != nil || !created {
		p.Fatalf("Define(%s): created %v, %v", name, created, err)
	}
	return stored
}

func (p place) undefine(name string) {
	p.Helper()
	if err := p.Undefine(p.ctx, name); err != nil {
		p.Fatalf("Undefine(%s): %v", name, err)
	}
}

// wantDefined checks the stored definition of a name.
func (p place) wantDefined(want generator.Definition) {
	p.Helper()
	got, err := p.Defined(p.ctx, want.Name)
	if err != nil {
		p.Fatal(err)
	}
	wantDefinition(p.T, got, want)
}

func wantDefinition(t *testing.T, got, want generator.Definition) {
	t.Helper()
	if got.Name != want.Name || got.Kind != want.Kind || string(got.Options) != string(want.Options) ||
		got.Version != want.Version || !got.Created.Equal(want.Created) {
		t.Fatalf("definition is %+v %s, want %+v %s", got, got.Options, want, want.Options)
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

// define covers Define, Defined and ListDefined.
func (s suite) define(t *testing.T) {
	s.run(t, "a new name is created with version 1 and a time", func(p place) {
		d := definition("orders", awkward)
		d.Version = 77 // set by the store
		stored, created, err := p.Define(p.ctx, d)
		if err != nil || !created || stored.Version != 1 || stored.Created.IsZero() || stored.Kind != d.Kind || string(stored.Options) != awkward {
			p.Errorf("stored %+v %s, created %v, %v", stored, stored.Options, created, err)
		}
		p.wantDefined(stored)
		p.wantMarks("", nil) // nothing is reserved
	})
	s.run(t, "a known name is left as it is and returned", func(p place) {
		first := p.define("orders", `{"v":1}`)
		second := definition("orders", `{"v":2}`)
		second.Kind = "snowflake"
		stored, created, err := p.Define(p.ctx, second)
		if err != nil || created {
			p.Fatalf("created %v, %v", created, err)
		}
		wantDefinition(p.T, stored, first)
	})
	s.run(t, "of racing creators one wins and all learn the same", racingCreators)
	s.run(t, "an unknown name is ErrUnknown and bears its name", func(p place) {
		p.define("orders", `{}`)
		for _, name := range []string{"Orders", "order", "orders2", "%", "order_"} {
			_, err := p.Defined(p.ctx, name)
			wantKind(p, err, generator.ErrUnknown)
			if !strings.Contains(err.Error(), name) {
				p.Errorf("%q does not name %q", err, name)
			}
		}
	})
	s.run(t, "the list is ordered by name", func(p place) {
		names := []string{"b", "a", "B", "_", "a.b", "a-b", "a:b", "a_b", "ab", "a1", strings.Repeat("n", generator.MaxNameBytes)}
		want := make(map[string]generator.Definition)
		for _, name := range names {
			want[name] = p.define(name, fmt.Sprintf(`{"n":%q}`, name))
		}
		all, err := p.ListDefined(p.ctx)
		if err != nil {
			p.Fatal(err)
		}
		var got []string
		for _, d := range all {
			got = append(got, d.Name)
			wantDefinition(p.T, d, want[d.Name])
		}
		if slices.Sort(names); !slices.Equal(got, names) {
			p.Errorf("got  %q\nwant %q", got, names)
		}
		if n, err := p.Count(p.ctx); err != nil || n != len(names) {
			p.Errorf("%d names are counted, %v, want %d", n, err, len(names))
		}
	})
	s.run(t, "a caller may change the options that it got", func(p place) {
		d := definition("orders", `{"v":1}`)
		stored, _, err := p.Define(p.ctx, d)
		if err != nil {
			p.Fatal(err)
		}
		clear(d.Options)
		clear(stored.Options)
		got, err := p.Defined(p.ctx, "orders")
		if err != nil || string(got.Options) != `{"v":1}` {
			p.Errorf("stored options became %q, %v", got.Options, err)
		}
	})
}

func racingCreators(p place) {
	const creators = 16
	for round := range 5 {
		name := fmt.Sprint("race", round)
		var stored [creators]generator.Definition
		var created [creators]bool
		race(creators, func(i int) {
			var err error
			stored[i], created[i], err = p.Define(p.ctx, definition(name, fmt.Sprintf(`{"by":%d}`, i)))
			if err != nil {
				p.Errorf("Define: %v", err)
			}
		})
		winners := 0
		for i := range creators {
			if created[i] {
				winners++
				if want := fmt.Sprintf(`{"by":%d}`, i); string(stored[i].Options) != want {
					p.Errorf("creator %d was told %s", i, stored[i].Options)
				}
			}
			wantDefinition(p.T, stored[i], stored[0])
		}
		if winners != 1 {
			p.Fatalf("%d creators were told that they created %s", winners, name)
		}
	}
}

// redefine covers Redefine.
func (s suite) redefine(t *testing.T) {
	s.run(t, "the options change and the version grows by one", func(p place) {
		want := p.define("orders", `{"v":1}`)
		for range 3 {
			change := want
			change.Options = json.RawMessage(awkward)
			got, err := p.Redefine(p.ctx, change)
			if err != nil {
				p.Fatal(err)
			}
			want.Version++
			want.Options = change.Options
			wantDefinition(p.T, got, want)
			p.wantDefined(want)
		}
	})
	s.run(t, "another version is ErrRetry and changes nothing", func(p place) {
		want := p.define("orders", `{"v":1}`)
		for _, version := range []int64{0, 2, -1} {
			change := want
			change.Version, change.Options = version, json.RawMessage(`{"v":2}`)
			_, err := p.Redefine(p.ctx, change)
			wantKind(p, err, generator.ErrRetry)
		}
		p.wantDefined(want)
	})
	s.run(t, "of racing changes of one version one wins", func(p place) {
		const writers = 16
		d := p.define("orders", `{}`)
		var errs [writers]error
		race(writers, func(i int) {
			change := d
			change.Options = json.RawMessage(fmt.Sprintf(`{"by":%d}`, i))
			_, errs[i] = p.Redefine(p.ctx, change)
		})
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
				continue
			}
			wantKind(p, err, generator.ErrRetry)
		}
		if got, err := p.Defined(p.ctx, "orders"); err != nil || won != 1 || got.Version != 2 {
			p.Errorf("%d writers won, version %d, %v", won, got.Version, err)
		}
	})
	s.run(t, "an unknown name is ErrUnknown", func(p place) {
		d := definition("orders", `{}`)
		d.Version = 1
		_, err := p.Redefine(p.ctx, d)
		wantKind(p, err, generator.ErrUnknown)
		wantKind(p, p.Undefine(p.ctx, "orders"), generator.ErrUnknown)
	})
}

// undefine covers Undefine and the life of a name after it.
func (s suite) undefine(t *testing.T) {
	s.run(t, "a dropped name is unknown and not listed", func(p place) {
		d := p.define("orders", `{}`)
		p.define("other", `{}`)
		p.undefine("orders")
		_, err := p.Defined(p.ctx, "orders")
		wantKind(p, err, generator.ErrUnknown)
		_, err = p.Redefine(p.ctx, d)
		wantKind(p, err, generator.ErrUnknown)
		wantKind(p, p.Undefine(p.ctx, "orders"), generator.ErrUnknown)
		all, err := p.ListDefined(p.ctx)
		if err != nil || len(all) != 1 || all[0].Name != "other" {
			p.Errorf("the list is %+v, %v", all, err)
		}
		if n, err := p.Count(p.ctx); err != nil || n < 1 || n > 2 {
			p.Errorf("%d names are counted, %v, want the one, or the dropped one, too", n, err)
		}
	})
	s.run(t, "the numbers of a dropped name stay reserved", func(p place) {
		key := generator.NameKey("orders")
		p.define("orders", `{}`)
		p.wantReserve(key, 1, 100, 1, 101)
		before := p.marks(key)
		p.undefine("orders")
		p.wantMarks(key, before)
		p.define("orders", `{}`)
		p.wantReserve(key, 1, 100, 101, 201)
	})
	s.run(t, "a name that is defined again may be another kind", func(p place) {
		old := p.define("orders", `{"old":true}`)
		p.undefine("orders")
		d := definition("orders", `{"new":true}`)
		d.Kind = "snowflake"
		stored, _, err := p.Define(p.ctx, d)
		if err != nil || stored.Kind != "snowflake" || string(stored.Options) != `{"new":true}` {
			p.Errorf("stored %s %s, %v", stored.Kind, stored.Options, err)
		}
		p.wantDefined(stored)
		_, err = p.Redefine(p.ctx, old) // a change of the dropped definition
		wantKind(p, err, generator.ErrRetry)
	})
}
