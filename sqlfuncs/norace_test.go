//go:build !race

package sqlfuncs_test

const raceEnabled = false
