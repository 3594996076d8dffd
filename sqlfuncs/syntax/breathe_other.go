//go:build !linux

package syntax

import "runtime"

// Breathe is for work that takes long: whatever else could run has the
// processor first.
func Breathe() { runtime.Gosched() }
