package generatortest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

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

func wantDefinition(t rapid.TB, got, want generator.Definition) {
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

// define covers the catalogue.
func (s suite) define(t *testing.T) {
	s.run(t, "any sequence of calls agrees with the rule", s.definitions)
	s.run(t, "of racing creators one wins and all learn the same", racingCreators)
	s.run(t, "the list is ordered by name", func(p place) {
		names := []string{"b", "a", "B", "_", "a.b", "a-b", "a:b", "a_b", "ab", "a1", strings.Repeat("n", generator.MaxNameBytes)}
		want := make(map[string]generator.Definition)
		for _, name := range names {
			want[name] = p.define(name, fmt.Sprintf(`{"n":%q}`, name))
		}
		p.define("dropped", `{}`)
		p.undefine("dropped")
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
		if n, err := p.Count(p.ctx); err != nil || n != len(names) && n != len(names)+1 {
			p.Errorf("%d names are counted, %v, want %d, or the dropped one, too", n, err, len(names))
		}
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

// definitions compares random calls with the definitions of Define, Redefine and
// Undefine.
func (suite) definitions(p place) {
	round := 0
	rapid.Check(p.T, func(t *rapid.T) {
		round++
		all := map[string]generator.Definition{}
		live := map[string]bool{}
		for range rapid.IntRange(1, 8).Draw(t, "calls") {
			name := fmt.Sprint(rapid.SampledFrom([]string{"orders", "Orders", "order_"}).Draw(t, "name"), round)
			d := definition(name, rapid.SampledFrom([]string{`{"v":1}`, awkward}).Draw(t, "options"))
			d.Version = all[name].Version + rapid.SampledFrom([]int64{0, 0, -1, 1, 77}).Draw(t, "version")
			var got generator.Definition
			var want, err error
			switch rapid.SampledFrom([]string{"define", "redefine", "undefine"}).Draw(t, "call") {
			case "define":
				d.Kind = rapid.SampledFrom([]string{"segment", "snowflake"}).Draw(t, "kind")
				var created bool
				if got, created, err = p.Define(p.ctx, d); created == live[name] || got.Created.IsZero() {
					t.Fatalf("Define(%s): created %v, %+v", name, created, got)
				}
				if created {
					d.Version, d.Created = all[name].Version+1, got.Created
					all[name], live[name] = d, true
				}
			case "redefine":
				got, err = p.Redefine(p.ctx, d)
				switch before := all[name]; {
				case !live[name]:
					want = generator.ErrUnknown
				case d.Version != before.Version:
					want = generator.ErrRetry
				default:
					before.Version, before.Options = d.Version+1, d.Options
					all[name] = before
				}
			case "undefine":
				if err = p.Undefine(p.ctx, name); !live[name] {
					want = generator.ErrUnknown
				}
				got, live[name] = all[name], false
			}
			if want != nil {
				wantKind(t, err, want)
			} else if err != nil {
				t.Fatal(err)
			} else {
				wantDefinition(t, got, all[name])
			}
			if got, err = p.Defined(p.ctx, name); live[name] && err == nil {
				wantDefinition(t, got, all[name])
			} else if wantKind(t, err, generator.ErrUnknown); live[name] || !strings.Contains(err.Error(), name) {
				t.Fatalf("Defined(%s): %v", name, err)
			}
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
