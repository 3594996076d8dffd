//go:build unix && !linux

package attack

// yield does nothing: the benchmarks run on Linux only.
func yield() error { return nil }
