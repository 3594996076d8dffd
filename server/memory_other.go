//go:build !linux

package server

// availableMemory returns 0: the limit is not known on this system.
func availableMemory() int64 { return 0 }
