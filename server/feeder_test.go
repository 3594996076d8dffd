package server

import (
	"strings"
	"testing"

	"nextid/generator"
)

// Of several wrong columns a feeder always reports the same one. An error with another
// text is logged again, every feedEvery.
func TestFeederReportsTheSameColumn(t *testing.T) {
	t.Parallel()
	const url = "postgres://app@127.0.0.1:1/shop"
	columns := feedColumns{}
	for _, column := range []string{"a..", "b..", "c..", "d.."} {
		columns[feedKey{"orders", url, column}] = generator.FeedOption{}
	}
	for range 20 {
		if _, _, err := newFeeder(nil, nil, nil).open(t.Context(), url, columns); err == nil || !strings.Contains(err.Error(), "not a column: a..") {
			t.Fatal(err)
		}
	}
}
