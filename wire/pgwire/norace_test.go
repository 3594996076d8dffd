//go:build !race

package pgwire_test

const raceEnabled = false
