package server

import (
	"context"
	"errors"
	"fmt"

	"nextid/generator"
	"nextid/generator/layout"
)

// Explain takes an id or a code of a generator apart. It reads the definition of the
// generator from the store. A server may not run on an embedded store meanwhile.
func (c Config) Explain(ctx context.Context, name, id string) (parts generator.Parts, err error) {
	store, err := c.openOffline(ctx)
	if err != nil {
		return parts, &Error{
			What: err.Error(), Err: err,
			Hint: fmt.Sprintf("Name the store with --data or --store, or give the layout with --layout. While a server uses the store, ask it: SELECT parse_id(ID, '%s').", name),
		}
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	d, err := store.Defined(ctx, name)
	if err != nil {
		return parts, err
	}
	kind, err := kindNamed(c.build.Kinds(Parts{Layout: layout.Default}), d.Kind)
	if err != nil {
		return parts, err
	}
	if k, ok := generator.KindAs[generator.StoredExplainer](kind); ok {
		parts, err = k.ExplainStored(d.Options, id)
		parts.Kind = d.Kind // a layout knows no kinds beside its own
		return parts, err
	}
	if k, texts := generator.KindAs[generator.TextKind](kind); texts {
		gen, err := k.Open(ctx, d) // kinds of texts need no store
		if err != nil {
			return parts, err
		}
		return gen.(generator.CodeGenerator).ExplainCode(id)
	}
	n, err := generator.ParseNumber(id)
	return generator.Parts{Kind: d.Kind, Sequence: &n}, err
}
