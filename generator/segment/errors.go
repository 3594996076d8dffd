package segment

import (
	"errors"
	"fmt"
	"time"

	"nextid/generator"
)

func (g *Generator) fail(kind error, hint, format string, args ...any) error {
	return &generator.Error{Kind: kind, Name: g.name, Message: fmt.Sprintf(format, args...), Hint: hint}
}

func (g *Generator) errSlow() error {
	return g.fail(generator.ErrRetry, "Try again. If it lasts, look at the store, or raise the generator's step so that it is asked less often.",
		"the store did not grant numbers to generator %q within %v", g.name, time.Duration(g.options.Deadline))
}

func (g *Generator) errExhausted() error {
	bound, option := "maximum", "max"
	if g.direction < 0 {
		bound, option = "minimum", "min"
	}
	return g.fail(generator.ErrExhausted, fmt.Sprintf("Move the bound with alter_generator('%s', '{\"%s\": …}').", g.name, option),
		"generator %q has reached its %s value (%d)", g.name, bound, g.direction*(g.limit-1))
}

func (g *Generator) errBounds(v int64) error {
	return g.fail(generator.ErrOption, "Move the bound with alter_generator first.",
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
