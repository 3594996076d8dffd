package sqlite

import (
	"time"

	"nextid/generator"
)

// seen is the last time at which the store was in use. It follows the wall clock.
// If the wall clock jumps ahead by more than Config.ClockJump while the store is
// open, it follows the monotonic clock instead.
type seen struct {
	at   int64         // Unix ms at mono
	mono time.Duration // by Config.Clock; at is 0 before the first reading
}

// seenEvery is the interval at which the time is stored while nothing is reserved.
const seenEvery = time.Hour

// now returns the time to store, in Unix ms. It never goes back.
func (s *seen) now(cfg Config) int64 {
	wall, mono := millis(cfg.Clock), cfg.Clock.Monotonic()
	expected := s.at + (mono - s.mono).Milliseconds()
	switch {
	case s.at == 0, wall > expected && (cfg.ClockJump == 0 || wall-expected <= cfg.ClockJump.Milliseconds()):
		s.at = wall
	default:
		s.at = max(expected, s.at)
	}
	s.mono = mono
	return s.at
}

// checkClock refuses a wall clock that is more than Config.ClockJump ahead of the
// time stored last.
func (s *embedded) checkClock(m meta) error {
	wall := millis(s.cfg.Clock)
	ahead := wall - m.seenAt
	if s.cfg.AcceptClock || s.cfg.ClockJump == 0 || m.seenAt == 0 || ahead <= s.cfg.ClockJump.Milliseconds() {
		return nil
	}
	day := func(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }
	return &generator.Error{
		Kind: generator.ErrNotNow, Reason: generator.ReasonClock,
		Message: "the clock of this machine says " + day(wall) + ", and the store " + s.dir.in(s.dir.file) +
			" was in use last at " + day(m.seenAt),
		Hint: "If the clock is wrong, set it right: ids would carry its time from now on, for good. " +
			"If it is right, start with --accept-clock once. clock_jump says how much is too much.",
	}
}
