package segment

import (
	"nextid/generator"
)

// The interfaces that others find by assertion.
var (
	_ generator.AllGenerator   = (*AutoRandomGenerator)(nil)
	_ generator.AllGenerator   = (*Generator)(nil)
	_ generator.BlockGenerator = (*Generator)(nil)
	_ generator.Closer         = (*AutoRandomGenerator)(nil)
	_ generator.Closer         = (*Generator)(nil)
	_ generator.Converter      = (*AutoRandomGenerator)(nil)
	_ generator.Explainer      = (*AutoRandomGenerator)(nil)
	_ generator.Peeker         = (*Generator)(nil)
	_ generator.Placer         = (*Generator)(nil)
	_ generator.Raiser         = (*AutoRandomGenerator)(nil)
	_ generator.Raiser         = (*Generator)(nil)
	_ generator.Reporter       = (*AutoRandomGenerator)(nil)
	_ generator.Reporter       = (*Generator)(nil)
	_ generator.Restarter      = (*Generator)(nil)
	_ generator.TryGenerator   = (*AutoRandomGenerator)(nil)
	_ generator.TryGenerator   = (*Generator)(nil)
)
