package ring

import "nextid/generator"

// The interfaces that others find by assertion.
var (
	_ generator.Closer         = (*Generator)(nil)
	_ generator.Detailed       = (*Generator)(nil)
	_ generator.Explainer      = (*Generator)(nil)
	_ generator.Raiser         = (*Generator)(nil)
	_ generator.Reporter       = (*Generator)(nil)
	_ generator.TryGenerator   = (*Generator)(nil)
	_ generator.WorkerIDHolder = (*Generator)(nil)
)
