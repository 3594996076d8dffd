package zookeeper

import (
	"nextid/generator/store/shared"
)

// The interfaces that others find by assertion.
var (
	_ shared.Engine = (*engine)(nil)
)
