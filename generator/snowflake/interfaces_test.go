package snowflake

import (
	"nextid/generator"
)

// The interfaces that others find by assertion.
var (
	_ generator.Closer         = (*Generator)(nil)
	_ generator.Closer         = (*strictGenerator)(nil)
	_ generator.Explainer      = (*Generator)(nil)
	_ generator.Explainer      = (*strictGenerator)(nil)
	_ generator.Fielder        = (*Generator)(nil)
	_ generator.PastGenerator  = (*Generator)(nil)
	_ generator.Raiser         = (*Generator)(nil)
	_ generator.Raiser         = (*strictGenerator)(nil)
	_ generator.Reporter       = (*Generator)(nil)
	_ generator.Reporter       = (*strictGenerator)(nil)
	_ generator.TryGenerator   = (*Generator)(nil)
	_ generator.WorkerIDHolder = (*Generator)(nil)
)
