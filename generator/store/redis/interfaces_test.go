package redis

import (
	"nextid/generator"
	"nextid/generator/store/shared"
)

// The interfaces that others find by assertion.
var (
	_ generator.Timekeeper = (*Engine)(nil)
	_ shared.Engine        = (*Engine)(nil)
)
