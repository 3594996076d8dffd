package ticket

import (
	"nextid/generator"
	"nextid/generator/counter"
)

// The interfaces that others find by assertion.
var (
	_ counter.Source      = (*source)(nil)
	_ generator.Closer    = (*Generator)(nil)
	_ generator.Detailed  = (*Generator)(nil)
	_ generator.Generator = (*Generator)(nil)
	_ generator.Placer    = (*Generator)(nil)
	_ generator.Raiser    = (*Generator)(nil)
	_ generator.Reporter  = (*Generator)(nil)
)
