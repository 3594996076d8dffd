package uuid

import (
	"nextid/generator"
)

// The interfaces that others find by assertion.
var (
	_ generator.CodeGenerator = (*Generator)(nil)
)
