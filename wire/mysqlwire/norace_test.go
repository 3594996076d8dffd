//go:build !race

package mysqlwire_test

const raceEnabled = false
