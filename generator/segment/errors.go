package segment

import (
	"errors"
	"fmt"

	"nextid/generator"
)

func (g *Generator) errExhausted() error {
	bound, option := "maximum", "max"
	if g.direction < 0 {
		bound, option = "minimum", "min"
	}
	return generator.Errorf(generator.ErrExhausted, g.name,
		fmt.Sprintf("Move the bound with alter_generator('%s', '{\"%s\": …}').", g.name, option),
		"generator %q has reached its %s value (%d)", g.name, bound, g.direction*(g.limit-1))
}

// storeError converts an error of the store to a client's error.
func (g *Generator) storeError(err error) error {
	kind := generator.ErrNotNow
	switch {
	case err == nil:
		return nil
	case errors.Is(err, generator.ErrExhausted):
		return g.errExhausted()
	case errors.Is(err, generator.ErrRegressed):
		return err
	case errors.Is(err, generator.ErrRetry):
		kind = generator.ErrRetry
	}
	return &generator.Error{
		Kind: kind, Reason: generator.ReasonStore, Name: g.name, Cause: err,
		Message: fmt.Sprintf("the store does not grant numbers to generator %q", g.name),
		Hint:    "Look at the store. Another nextid server may answer.",
	}
}
