package layout

import (
	"nextid/generator"
)

// The interfaces that others find by assertion.
var (
	_ generator.Completer       = Timed{}
	_ generator.Shaped          = Timed{}
	_ generator.StoredExplainer = Timed{}
)
