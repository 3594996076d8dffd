package generatortest

import (
	"testing"
	"testing/synctest"
	"time"
)

var base = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

func TestClocksFollowTheBubbleAndTheWallAloneJumps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewClock(base)
		check := func(what string, wall time.Duration, mono time.Duration) {
			t.Helper()
			if got := c.Time().Sub(base); got != wall {
				t.Errorf("%s: wall clock at +%v, want +%v", what, got, wall)
			}
			if got := c.Monotonic(); got != mono {
				t.Errorf("%s: monotonic clock at %v, want %v", what, got, mono)
			}
		}
		check("start", 0, 0)
		time.Sleep(time.Second)
		check("after a second", time.Second, time.Second)
		c.Advance(time.Minute)
		check("advanced", 61*time.Second, 61*time.Second)
		c.Step(-time.Hour)
		check("set back", 61*time.Second-time.Hour, 61*time.Second)
		c.Freeze(true)
		time.Sleep(time.Second)
		check("frozen", 61*time.Second-time.Hour, 62*time.Second)
		c.Freeze(false)
		time.Sleep(time.Second)
		check("thawed", 62*time.Second-time.Hour, 63*time.Second)
		c.Set(base)
		check("set", 0, 63*time.Second)
	})
}
