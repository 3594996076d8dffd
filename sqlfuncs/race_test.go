//go:build race

package sqlfuncs_test

// raceEnabled reports whether the race detector is on. Tests that measure time or
// memory skip then.
const raceEnabled = true
