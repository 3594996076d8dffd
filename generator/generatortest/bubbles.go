package generatortest

import (
	"fmt"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"
)

// CheckInBubbles is rapid.Check with a bubble of virtual time for each run. In one
// bubble for all, rapid would stop after a day of virtual time.
func CheckInBubbles(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	rapid.Check(t, func(r *rapid.T) {
		var failure any // rapid ends a run by a panic, which must not end the bubble
		synctest.Test(t, func(*testing.T) {
			defer func() { failure = recover() }()
			property(r)
		})
		if fmt.Sprintf("%T", failure) == "rapid.invalidData" {
			panic(failure) // on a separate line: rapid distinguishes failures by their line
		}
		if failure != nil {
			panic(failure)
		}
	})
}
