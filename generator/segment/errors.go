package segment

import (
	"errors"
	"fmt"
	"time"

	"nextid/generator"
)

func (g *Generator) errSlow() error {
	return generator.Errorf(generator.ErrRetry, g.name,
		"Try again. If it lasts, look at the store, or raise the generator's step so that it is asked less often.",
		"the store did not grant numbers to generator %q within %v", g.name, time.Duration(g.options.Deadline))
}

func (g *Generator) errExhausted() error {
	bound, option := "maximum", "max"
	if g.direction < 0 {
		bound, option = "minimum", "min"
	}
	return generator.Errorf(generator.ErrExhausted, g.name,
		fmt.Sprintf("Move the bound with alter_generator('%s', '{\"%s\": …}').", g.name, option),
		"generator %q has reached its %s value (%d)", g.name, bound, g.direction*(g.limit-1))
}

func (g *Generator) errBounds(v int64) error {
	return generator.Errorf(generator.ErrOption, g.name, "Move the bound with alter_generator first.",
		"%d is out of the bounds of generator %q", v, g.name)
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
