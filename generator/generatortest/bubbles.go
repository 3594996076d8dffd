package generatortest

import (
	"fmt"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"
)

// CheckInBubbles is rapid.Check with a bubble of virtual time for each run:
// rapid stops when a day has passed on the clock that it sees.
func CheckInBubbles(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	rapid.Check(t, func(r *rapid.T) {
		var failure any // rapid ends a run by a panic, which must not end the bubble
		synctest.Test(t, func(*testing.T) {
			defer func() { failure = recover() }()
			property(r)
		})
		if fmt.Sprintf("%T", failure) == "rapid.invalidData" {
			panic(failure) // on a line of its own: rapid tells failures apart by their line
		}
		if failure != nil {
			panic(failure)
		}
	})
}
