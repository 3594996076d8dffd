package mysqlwire

import (
	"bytes"
	"math"
	"testing"

	"nextid/generator"
	"nextid/sqlfuncs/sqlstate"
)

// TestRunsAreRows compares rows from a template with rows made one by one.
func TestRunsAreRows(t *testing.T) {
	for _, r := range []generator.Range{
		{First: 1, Step: 1, Count: 30_000},
		{First: 9_990, Step: 1, Count: 20},
		{First: 99_999_999, Step: -1, Count: 25_000},
		{First: math.MaxInt64 - 20_000, Step: 1, Count: 20_000},
		{First: 7_123_456_789_012_345_678, Step: 7, Count: 5_000},
		{First: 7_123_456_789_012_345_678, Step: 10_000, Count: 500},
		{First: -5, Step: 1, Count: 20_000},
		{First: 123_456, Step: -4096, Count: 60},
	} {
		runs := conn{seq: 250}
		got := runs.appendRun([]byte("x"), r, false)
		binary := (&conn{seq: 3}).appendRun(nil, r, true)
		want, wantBinary := []byte("x"), []byte(nil)
		for i := range r.Count {
			want, _ = appendIDText(want, 250+byte(i), r.First+i*r.Step)
			wantBinary, _ = appendIDBinary(wantBinary, 3+byte(i), r.First+i*r.Step)
		}
		if !bytes.Equal(got, want) || runs.seq != 250+byte(r.Count) {
			t.Errorf("%+v: the rows differ", r)
		}
		if !bytes.Equal(binary, wantBinary) {
			t.Errorf("%+v: the binary rows differ", r)
		}
	}
}

func TestTextOfAnError(t *testing.T) {
	for want, what := range map[string]string{"broken. Mend it.": "broken", "ended. Mend it.": "ended.", "did you mean a? Mend it.": "did you mean a?"} {
		if _, got := describe(sqlstate.New(sqlstate.SyntaxError, "%s", what).WithHint("Mend it.")); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
