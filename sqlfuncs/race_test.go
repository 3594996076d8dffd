//go:build race

package sqlfuncs_test

// raceEnabled: the race detector makes everything slow.
const raceEnabled = true
