package zookeeper

import (
	"nextid/generator"
	"nextid/generator/store/shared"
)

// The interfaces that others find by assertion.
var (
	_ generator.Timekeeper = (*engine)(nil)
	_ shared.Engine        = (*engine)(nil)
)
