package segment

import (
	"errors"
	"fmt"

	"nextid/generator"
	"nextid/generator/kinds"
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
	if errors.Is(err, generator.ErrExhausted) {
		return g.errExhausted()
	}
	return kinds.StoreError(g.name, err)
}
