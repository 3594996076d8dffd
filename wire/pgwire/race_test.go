//go:build race

package pgwire_test

// raceEnabled: the race detector takes memory of its own.
const raceEnabled = true
