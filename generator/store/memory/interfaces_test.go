package memory

import (
	"nextid/generator"
)

// The interfaces that others find by assertion.
var (
	_ generator.Store = (*Store)(nil)
)
