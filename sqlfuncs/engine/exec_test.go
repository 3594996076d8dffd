package engine

import (
	"reflect"
	"testing"

	"nextid/sqlfuncs/datum"
)

// TestARecycledExecHoldsNothing fills an execution and recycles it. The next
// statement may be another user's, so that nothing of the first may remain.
func TestARecycledExecHoldsNothing(t *testing.T) {
	x := &Exec{rows: make([]datum.Value, spareRow)}
	secret := datum.MakeText("secret")
	x.Ctx, x.Params, x.Tag, x.held = t.Context(), []datum.Value{secret}, "SELECT", 7
	x.Frame(1, 3)[2] = secret
	x.Frame(0, spareRow+1)[0] = secret
	x.Row(2)[1] = secret
	x.IDRow[0] = secret
	x.recycle()
	for _, f := range append(x.Frames, x.rows) {
		for _, v := range f {
			if v.Valid || v.Str != "" {
				t.Errorf("a row still holds %q", v.Str)
			}
		}
		if len(f) > spareRow {
			t.Errorf("a row of %d values is kept", len(f))
		}
	}
	x.Frames, x.rows = nil, nil
	if !reflect.ValueOf(*x).IsZero() {
		t.Errorf("a recycled execution holds %+v", *x)
	}
}
