package code

import (
	"nextid/generator"
)

// The interfaces that others find by assertion.
var (
	_ generator.AllGenerator = (*scattered)(nil)
	_ generator.Closer       = (*scattered)(nil)
	_ generator.Coder        = (*Text)(nil)
	_ generator.Converter    = (*scattered)(nil)
	_ generator.Explainer    = (*scattered)(nil)
	_ generator.Placer       = (*scattered)(nil)
	_ generator.Reporter     = (*scattered)(nil)
	_ generator.TryGenerator = (*scattered)(nil)
)
