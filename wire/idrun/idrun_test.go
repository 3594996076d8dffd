package idrun_test

import (
	"math"
	"strconv"
	"testing"

	"nextid/wire/idrun"
)

func TestAppendIDWritesDigits(t *testing.T) {
	ids := []int64{math.MinInt64, -1, 0, math.MaxInt64}
	for power := int64(1); ; power *= 10 {
		ids = append(ids, power-1, power, power+1, power+power/2, 9*(power/10)+5)
		if power > math.MaxInt64/10 {
			break
		}
	}
	for bit := range 63 {
		ids = append(ids, 1<<bit-1, 1<<bit)
	}
	for _, id := range ids {
		if got, want := string(idrun.AppendID([]byte("id "), id)), "id "+strconv.FormatInt(id, 10); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
