//go:build !linux

package syntax

import "runtime"

// Yield lets other goroutines run before long work goes on.
func Yield() { runtime.Gosched() }
