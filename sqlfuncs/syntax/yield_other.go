//go:build !linux

package syntax

import "runtime"

// Yield lets other goroutines and threads run before work that takes long has the
// processor first.
func Yield() { runtime.Gosched() }
