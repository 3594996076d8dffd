package shared

import (
	"nextid/generator"
)

// The interfaces that others find by assertion.
var (
	_ generator.Prober      = (*Store)(nil)
	_ generator.Recoverer   = (*Store)(nil)
	_ generator.Store       = (*Store)(nil)
	_ generator.TimeGranter = (*Store)(nil)
	_ generator.Timekeeper  = (*Store)(nil)
)
