package counter

import (
	"nextid/generator"
)

// The interfaces that others find by assertion.
var (
	_ generator.AllGenerator = (*DatedGenerator)(nil)
	_ generator.AllGenerator = (*Generator)(nil)
	_ generator.AllGenerator = (*Queue)(nil)
	_ generator.Closer       = (*DatedGenerator)(nil)
	_ generator.Closer       = (*Queue)(nil)
	_ generator.Coder        = (*DatedGenerator)(nil)
	_ generator.Explainer    = (*DatedGenerator)(nil)
	_ generator.Holder       = (*Generator)(nil)
	_ generator.Peeker       = (*Generator)(nil)
	_ generator.Placer       = (*DatedGenerator)(nil)
	_ generator.Placer       = (*Generator)(nil)
	_ generator.Raiser       = (*DatedGenerator)(nil)
	_ generator.Raiser       = (*Generator)(nil)
	_ generator.Reporter     = (*DatedGenerator)(nil)
	_ generator.Reporter     = (*Generator)(nil)
)
