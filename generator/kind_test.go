package generator_test

import (
	"context"
	"encoding/json"

	"nextid/generator"
)

// testKind is a generator.Kind for tests. Nil fields are those of the Kind inside.
// Without a Kind inside there are no options.
type testKind struct {
	generator.Kind // may be nil

	KindName      string
	NormalizeFunc func(json.RawMessage) (json.RawMessage, error)
	OpenFunc      func(context.Context, generator.Definition) (generator.Generator, error)
	Retired       func() // called after Retire
}

// Unwrap returns the Kind inside.
func (k testKind) Unwrap() generator.Kind { return k.Kind }

// Name implements generator.Kind.
func (k testKind) Name() string {
	if k.KindName == "" {
		return k.Kind.Name()
	}
	return k.KindName
}

// Normalize implements generator.Kind.
func (k testKind) Normalize(options json.RawMessage) (json.RawMessage, error) {
	switch {
	case k.NormalizeFunc != nil:
		return k.NormalizeFunc(options)
	case k.Kind == nil:
		return json.RawMessage("{}"), nil
	}
	return k.Kind.Normalize(options)
}

// Open implements generator.Kind.
func (k testKind) Open(ctx context.Context, d generator.Definition) (generator.Generator, error) {
	if k.OpenFunc == nil {
		return k.Kind.Open(ctx, d)
	}
	return k.OpenFunc(ctx, d)
}

// Retire implements generator.Retirer.
func (k testKind) Retire(ctx context.Context, d generator.Definition) error {
	if k.Retired != nil {
		defer k.Retired()
	}
	if r, ok := generator.KindAs[generator.Retirer](k.Kind); ok {
		return r.Retire(ctx, d)
	}
	return nil
}
