package shared

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"nextid/generator"
)

const (
	// attempts bounds how often a call starts again after another change of the store.
	// Each attempt is a round trip.
	attempts = 8

	// recoverCount is the number that Recover adds to a key's seq. It is more than any lost
	// history can have, so every server accepts the key.
	recoverCount = 1 << 40

	// skipCount is the number that the first reservation of a key after a declared failover adds
	// to its seq, for the same reason. It is less than recoverCount because Redis adds
	// in doubles and may fail over every day.
	skipCount = 1 << 30

	// stopped begins the epoch of a key that a high-water mark has stopped, so that
	// servers without that mark stop, too.
	stopped = "stopped "
)

// Reserve implements generator.Reserver.
func (s *Store) Reserve(ctx context.Context, r generator.Reservation) (lo, hi int64, err error) {
	if err := r.Check(); err != nil {
		return 0, 0, err
	}
	r.Owner = cmp.Or(r.Owner, s.cfg.Owner)
	a, err := s.reserve(ctx, r)
	return a.Lo, a.Hi, err
}

// askFor returns an Ask that this store makes for itself. It may create the key.
func (s *Store) askFor(l *epoch, key string, atLeast, n, count int64) Ask {
	return Ask{
		Reservation: generator.Reservation{Key: key, AtLeast: atLeast, N: n, Limit: generator.NoLimit, Owner: s.cfg.Owner},
		Epoch:       l.name, Write: l.name, Now: s.now(), Create: true, Count: count,
	}
}

func (s *Store) reserve(ctx context.Context, r generator.Reservation) (Answer, error) {
	l, err := s.present(ctx)
	if err != nil {
		return Answer{}, err
	}
	ask := Ask{Reservation: r, Create: l.first, Count: 1}
	for range attempts {
		before := l.name
		if l, err = s.grantsTime(ctx, l, r); err != nil {
			return Answer{}, err
		}
		ask.Create = ask.Create && (l.first || l.name == before)
		ask.Epoch, ask.Write, ask.Now = l.name, l.name, s.now()
		c, err := s.rounds.do(ctx, ask)
		if err != nil {
			return Answer{}, err
		}
		switch a := c.answer; a.Outcome {
		case Granted:
			if c.back {
				return Answer{}, s.goneBack(ctx, l, c)
			}
			return a, nil
		case Exhausted:
			return Answer{}, r.ExhaustedError()
		case Strange:
			if l, err = s.meet(ctx, l); err != nil {
				return Answer{}, err
			}
			ask.Create = ask.Create && l.first
		case Again:
		case Moved:
			err = s.moved(l, &ask, a)
		case Missing:
			err = s.missing(&ask)
		}
		if err != nil {
			return Answer{}, err
		}
	}
	return Answer{}, busy()
}

// moved decides about a key that was last written in another epoch.
func (s *Store) moved(l *epoch, ask *Ask, a Answer) error {
	name := nameOf(ask.Key)
	switch {
	case strings.HasPrefix(a.Epoch, stopped):
		return s.regressed(name, strings.TrimPrefix(a.Epoch, stopped), a.Hi)
	case s.cfg.Failover == Lossless:
		ask.From = a.Epoch
	case name == "": // the line of a worker id: see grantsTime
		ask.From, ask.Count = a.Epoch, skipCount
	case s.cfg.Failover == Skip:
		past := s.skipped(max(ask.AtLeast, a.Hi))
		if err := s.skip(ask, past, a.Hi); err != nil {
			return err
		}
		ask.From = a.Epoch
		s.cfg.Logger.Warn("the store was failed over: passing over numbers that may have been lost with it",
			"generator", name, "skip", s.cfg.Skip, "from", a.Hi)
	default:
		return s.regressed(name, fmt.Sprintf("the store was failed over or restored (%s, now %s)", a.Epoch, l.name), a.Hi)
	}
	return nil
}

// skipped returns where a name continues after a failover that would have continued
// at hi. hi includes what the caller asks for: a number reserved there, such as the
// first of a new day, may be lost, too.
func (s *Store) skipped(hi int64) int64 { return saturated(hi, s.cfg.Skip) }

// skip lets an ask go on at past. end is where it would have gone on.
func (s *Store) skip(ask *Ask, past, end int64) error {
	if past >= ask.Limit {
		return s.regressed(nameOf(ask.Key), fmt.Sprintf(
			"the store was failed over or restored, and there are no %d numbers to pass over below %d", s.cfg.Skip, ask.Limit), end)
	}
	ask.AtLeast, ask.Count = past, skipCount
	return nil
}

// missing decides about a missing key in a store that has failed over. A name that
// was created since has a key (see begin), so this key may have been lost.
func (s *Store) missing(ask *Ask) error {
	ask.Create = true
	name := nameOf(ask.Key)
	switch {
	case s.cfg.Failover == Lossless:
		return nil
	case name == "":
		ask.Count = skipCount
		return nil
	case s.cfg.Failover == Skip:
		if w, known := s.highWater.look(ask.Key); known {
			ask.AtLeast = max(ask.AtLeast, w.hi)
		}
		return s.skip(ask, s.skipped(ask.AtLeast), ask.AtLeast)
	}
	return s.regressed(name, "the store was failed over or restored, and has no reservation of the name", ask.AtLeast)
}

// mayHaveLost reports whether reservations may have been lost in an epoch.
func (s *Store) mayHaveLost(l *epoch) bool { return !l.first && s.cfg.Failover != Lossless }

// begin creates the key of a name that is about to be defined, in a store that has
// failed over. There a name without a key counts as one whose reservations were
// lost, and so does a name that this server knows from before. begun is false if the
// key must be looked for again.
func (s *Store) begin(ctx context.Context, l *epoch, name string) (begun bool, err error) {
	key := generator.NameKey(name)
	if _, known := s.highWater.look(key); known {
		return true, nil
	}
	if r, err := s.row(ctx, key); err != nil || r != nil {
		return r != nil, err
	}
	c, err := s.rounds.do(ctx, s.askFor(l, key, math.MinInt64, 1, 1))
	if err != nil {
		return false, err
	}
	if c.answer.Outcome == Strange { // failed over again: this server learns of it now
		_, err = s.meet(ctx, l)
	}
	return c.answer.Outcome == Granted, err
}

// goneBack returns the error of a grant below the high-water mark. The grant is not
// used, and its key is stopped for all servers.
func (s *Store) goneBack(ctx context.Context, l *epoch, c *call) error {
	key, a, w := c.ask.Key, c.answer, c.before
	why := fmt.Sprintf("the store has gone back: it grants from %d on (change %d) after it had granted up to %d (change %d)",
		a.Lo, a.Seq, w.hi, w.seq)
	s.cfg.Logger.Error("the store has gone back", "key", key,
		"granted_from", a.Lo, "granted_change", a.Seq, "high_water_end", w.hi, "high_water_change", w.seq)
	if name := nameOf(key); name != "" {
		// If this fails, the high-water mark stops this server again the next time.
		ask := s.askFor(l, key, w.hi-1, 1, 1)
		ask.Write = stopped + why
		_, _ = s.rounds.do(ctx, ask)
		return s.regressed(name, why, max(w.hi, a.Hi))
	}
	// A time line. As after a failover, no server gets time until the epoch is settled
	// again.
	unsettled, err := s.unsettle(ctx, l)
	s.epoch.CompareAndSwap(l, unsettled)
	hi := a.Hi
	if issuedBy(key) || err != nil { // otherwise the same contradiction would follow forever
		hi = max(a.Hi, w.hi)
	}
	s.highWater.note(key, position{hi, a.Seq})
	if err == nil {
		// If this fails, the next grant contradicts the mark again.
		_, _ = s.raise(ctx, unsettled)
	}
	return generator.Errorf(generator.ReasonSlice, "",
		"The store was restored or changed by hand. Worker ids are claimed again when every slice of time has ended that it may have forgotten.", "%s", why)
}

// regressed returns the error of a name that only Recover starts again.
func (s *Store) regressed(name, why string, end int64) error {
	return generator.Errorf(generator.ErrRegressed, name,
		fmt.Sprintf("Find the greatest id of it that was ever used, add what the servers may have reserved beyond, and call "+"SELECT recover_generator('%s', at_least). The store knows of ids up to position %d.", name, end),
		"generator %q is stopped: %s", name, why)
}

// Recover implements generator.Recoverer.
func (s *Store) Recover(ctx context.Context, key string, atLeast int64) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	if w, known := s.highWater.look(key); known {
		atLeast = max(atLeast, w.hi)
	}
	if atLeast > -1<<63 {
		atLeast-- // the one number that is reserved with it
	}
	l, err := s.present(ctx) // atLeast was chosen for what this server knows of
	if err != nil {
		return err
	}
	ask := s.askFor(l, key, atLeast, 1, recoverCount)
	for range attempts {
		c, err := s.rounds.do(ctx, ask)
		if err != nil {
			return err
		}
		switch a := c.answer; a.Outcome {
		case Granted:
			s.highWater.note(key, position{a.Hi, a.Seq})
			s.cfg.Logger.Warn("a key was recovered", "key", key, "goes_on_at", a.Hi)
			return nil
		case Again:
		case Moved:
			ask.From = a.Epoch
		case Strange: // and is not what there is: more may have been given, and lost
			if _, err := s.meet(ctx, l); err != nil {
				return err
			}
			return generator.Errorf(generator.ErrRetry, "", "Find the greatest id again, and repeat the call.",
				"the store was failed over or restored since this server last asked it")
		default:
			return generator.Errorf(generator.ErrExhausted, "", "", "%q cannot go on at %d", key, atLeast)
		}
	}
	return busy()
}

// Release implements generator.Reserver.
func (s *Store) Release(ctx context.Context, key string, hi, to int64) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	if to >= hi {
		return nil
	}
	l, err := s.present(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	// Recorded before the store does it: the answer may be lost.
	seq, last := s.highWater.lower(key, hi, to)
	if !last {
		return nil
	}
	return s.engine.Lower(ctx, Return{Key: key, Hi: hi, To: to, Seq: seq, Epoch: l.name, Now: s.now()})
}

// saturated returns a+b for b ≥ 0, at most the greatest int64.
func saturated(a, b int64) int64 {
	if sum := a + b; sum >= a {
		return sum
	}
	return 1<<63 - 1
}
