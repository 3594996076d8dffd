//go:build race

package mysqlwire_test

// raceEnabled: the race detector takes memory of its own.
const raceEnabled = true
