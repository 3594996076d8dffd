package generator_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"nextid/generator"
)

func TestTemplatesMakeNamesByFirstUse(t *testing.T) {
	r := newRegistry(t)
	ctx := t.Context()
	for pattern, options := range map[string]string{"inv:*": `{"start":100}`, "inv:acme*": `{"start":500}`} {
		if err := r.CreateTemplate(ctx, pattern, "segment", json.RawMessage(options)); err != nil {
			t.Fatal(err)
		}
	}
	r.wantIDs("inv:shop", 100, 101)
	other := onStore(t, r.store) // it never saw the templates made
	other.wantIDs("inv:acme:2026", 500, 501)
	other.wantIDs("inv:acme", 500)
	for i := range 10 { // the longest pattern, not any
		other.wantIDs(fmt.Sprint("inv:acme", i), 500)
	}
	_, err := r.Get(ctx, "invoice")
	wantErr(t, err, generator.ErrUnknown, `generator "invoice" does not exist`)
	wantErr(t, r.CreateTemplate(ctx, "inv:*", "segment", nil), generator.ErrExists, "drop_template('inv:*')")
	for _, bad := range []string{"inv", "in*v", "9*", "", "a b*", "**"} {
		wantErr(t, r.CreateTemplate(ctx, bad, "segment", nil), generator.ErrName, "invalid pattern")
	}
	wantErr(t, r.CreateTemplate(ctx, "x*", "nonesuch", nil), generator.ErrOption, "unknown generator kind")
	wantErr(t, r.CreateTemplate(ctx, "x*", "segment", json.RawMessage(`{"stepp":1}`)), generator.ErrOption, "stepp")
	if err := other.DropTemplate(ctx, "inv:acme*"); err != nil {
		t.Fatal(err)
	}
	wantErr(t, other.DropTemplate(ctx, "inv:acme*"), generator.ErrUnknown, "nextid.templates")
	r.wantIDs("inv:acme:new", 100)
	r.wantIDs("inv:acme:2026", 1500) // made before: above the other server's segment
	list, err := r.Templates(ctx)
	if err != nil || len(list) != 1 || list[0].Name != "inv:*" || list[0].Kind != "segment" {
		t.Errorf("templates %v, %v", list, err)
	}
	definitions, err := r.Definitions(ctx)
	for _, d := range definitions {
		if generator.CheckName(d.Name) != nil {
			t.Errorf("%q is listed as a generator", d.Name)
		}
	}
	if err != nil || len(definitions) != 14 {
		t.Errorf("%d definitions, %v", len(definitions), err)
	}
}

func TestTemplatesOfTheConfiguration(t *testing.T) {
	r := newRegistry(t, declared("inv:*", "segment", `{"start":100}`), autoCreate("segment", `{"start":7}`))
	if err := r.Declare(t.Context()); err != nil {
		t.Fatal(err)
	}
	onStore(t, r.store).wantIDs("inv:a", 100)
	r.wantIDs("orders", 7)
	contradicts := onStore(t, r.store, declared("inv:*", "segment", `{"start":200}`))
	if err := contradicts.Declare(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := contradicts.Get(t.Context(), "inv:b")
	wantErr(t, err, generator.ErrPinned, `template "inv:*" is configured here as`)
	contradicts.wantIDs("inv:a", 1100)
	if err := r.DropTemplate(t.Context(), "inv:*"); err != nil {
		t.Fatal(err)
	}
	r.wantIDs("inv:c", 100) // the configuration has it
}

// readOnly is a store that writes no definition.
type readOnly struct{ generator.Store }

func (readOnly) Define(context.Context, generator.Definition) (generator.Definition, bool, error) {
	return generator.Definition{}, false, generator.Errorf(generator.ErrNotNow, "", "", "the store is read-only")
}

func TestTemplatesOfAReadOnlyStore(t *testing.T) {
	r := newRegistry(t, func(c *generator.Config) { c.Store = readOnly{c.Store} })
	wantErr(t, r.CreateTemplate(t.Context(), "inv:*", "segment", nil), generator.ErrNotNow, "read-only")
}
