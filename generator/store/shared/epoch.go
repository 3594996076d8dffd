package shared

import (
	"context"
	"math"
	"strings"
	"time"

	"nextid/generator"
)

// epochKey is the row of the epoch mark, which names the present epoch of the
// database. Its seq is less than skipCount while the store never had another epoch:
// servers that start at the same time all write the first one.
//
// The length of its last reservation tells whether the epoch is settled. It is
// noted for a new epoch. It is wentBack for one in which the store lost
// reservations without a change of epoch. It is settledAfter plus the milliseconds
// of the wait for a settled one; updated is then the store's clock at that moment.
const epochKey = "stamp"

const (
	noted = 1 + iota
	wentBack
	settledAfter
)

// unmarked is the hi of an epoch whose mark in the store does not yet say that it
// is unsettled.
const unmarked = math.MinInt64

// epoch holds what this server knows about the database's present epoch. It is
// immutable.
//
// # Time after an epoch that may have lost reservations
//
// A server may hold a time slice that the store has lost. No time is granted on any
// line before every such slice has ended. The wall clocks of servers do not decide
// when that is:
//
//   - Every server that meets the epoch first raises the rows of its own time
//     lines to the ends that it was granted (raise). A server that runs is
//     thereby known again, however wrong its clock is.
//   - An epoch is settled by a server that has known it for Config.Wait by its
//     monotonic clock, which is longer than a slice lasts. Every slice of the
//     epochs before is over then, but for that of a machine whose clocks stood
//     still. The settlement is in the store, so that later servers need not
//     wait.
//   - In a settled epoch no time is granted below floor: the store's clock at
//     the settlement. The slice of a machine that stood still, and the ids of a
//     server that died with the failover, lie below it.
//
// Clocks still matter in one way. A lost slice lies below floor if its server still
// runs, or if the server's clock was at most maxSkew ahead of the store's. If the
// store's clock is behind, the slice lies below the time of the server that asks.
type epoch struct {
	name    string
	first   bool // the store never had another one
	settled bool
	hi, seq int64         // of the epoch mark
	floor   int64         // Unix ms by the store's clock; no time is granted below it
	seen    time.Duration // monotonic time at which this server first saw the epoch
}

// present returns the epoch that this server knows, and asks the database if it
// knows none.
func (s *Store) present(ctx context.Context) (*epoch, error) {
	if l := s.epoch.Load(); l != nil {
		return l, nil
	}
	return s.meet(ctx, nil)
}

// meet asks the database for its present epoch and writes the epoch mark, unless
// another goroutine has replaced old meanwhile.
func (s *Store) meet(ctx context.Context, old *epoch) (*epoch, error) {
	if s.cfg.Clock.Receive(ctx, s.learn) != nil {
		return nil, generator.StoreLateError(ctx)
	}
	defer func() { s.learn <- struct{}{} }()
	if l := s.epoch.Load(); l != old {
		return l, nil
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	for range attempts {
		name, err := s.engine.Epoch(ctx)
		if err != nil {
			return nil, err
		}
		l, err := s.note(ctx, name, old)
		if err == nil && l != nil && s.mayHaveLost(l) && (old != nil || !l.settled) {
			var raised bool
			if raised, err = s.raise(ctx, l); !raised {
				l = nil
			}
		}
		if err != nil {
			return nil, err
		}
		if l == nil {
			continue // it changed again, or another server wrote the mark at the same time
		}
		if old != nil && old.name != l.name {
			s.cfg.Logger.Warn("the store was failed over or restored",
				"before", old.name, "now", l.name, "failover", string(s.cfg.Failover))
		}
		s.epoch.Store(l)
		return l, nil
	}
	return nil, busy()
}

// note writes the epoch mark unless it names the epoch already. It returns nil if
// the database's epoch changed meanwhile. If the store has lost the mark of old, which
// may be nil, the epoch is noted like a new one.
func (s *Store) note(ctx context.Context, name string, old *epoch) (*epoch, error) {
	r, err := s.engine.Row(ctx, epochKey)
	if err != nil {
		return nil, err
	}
	if r != nil && r.Epoch == name && !old.lost(r) {
		return s.epochOf(r), nil
	}
	ask := s.askFor(&epoch{name: name}, epochKey, s.now(), noted, 1)
	if r != nil {
		ask.From = r.Epoch
	}
	if old != nil {
		ask.AtLeast = max(ask.AtLeast, old.hi)
	}
	if r != nil || old != nil {
		ask.Count = skipCount
	}
	c, err := s.rounds.do(ctx, ask)
	if err != nil || c.answer.Outcome != Granted {
		return nil, err
	}
	if old != nil && old.name == name {
		s.cfg.Logger.Warn("the store has lost the mark of its epoch",
			"epoch", name, "failover", string(s.cfg.Failover))
	}
	a := c.answer
	return s.epochOf(&Row{Lo: a.Lo, Hi: a.Hi, Seq: a.Seq, Epoch: name}), nil
}

// lost reports whether the store has lost the mark of l, which may be nil, if r is its
// present one: a primary that was replaced came back without what its successor
// granted, or knows no epoch before its own.
func (l *epoch) lost(r *Row) bool {
	return l != nil && (r.Hi < l.hi || r.Seq < l.seq || r.Epoch != l.name && r.Seq < skipCount)
}

// epochOf returns the epoch that a row of the epoch mark describes.
func (s *Store) epochOf(r *Row) *epoch {
	l := &epoch{name: r.Epoch, first: r.Seq < skipCount, hi: r.Hi, seq: r.Seq, seen: s.cfg.Clock.Monotonic(), floor: math.MinInt64}
	length := r.Hi - r.Lo
	l.settled = !s.mayHaveLost(l) && length != wentBack
	if !l.settled && length >= settledAfter+s.cfg.Wait.Milliseconds() {
		l.settled, l.floor = true, r.Updated
	}
	return l
}

// unsettle makes an epoch unsettled because the store has lost reservations in it.
// If the store could not be told, it returns the epoch and an error.
func (s *Store) unsettle(ctx context.Context, l *epoch) (*epoch, error) {
	next := &epoch{name: l.name, hi: unmarked, floor: math.MinInt64, seen: s.cfg.Clock.Monotonic()}
	c, err := s.rounds.do(ctx, s.askFor(l, epochKey, s.now(), wentBack, skipCount))
	switch {
	case err != nil:
		return next, err
	case c.answer.Outcome != Granted:
		return next, busy()
	}
	next.hi, next.seq = c.answer.Hi, c.answer.Seq
	return next, nil
}

// raise moves the store's rows up to the ends of this server's time lines. It
// returns false if the database has another epoch by now.
func (s *Store) raise(ctx context.Context, l *epoch) (bool, error) {
	var asks []Ask
	for _, m := range s.highWater.ends(generator.WorkerKeyPrefix) {
		ask := s.askFor(l, m.Key, m.Hi-1, 1, skipCount)
		ask.Limit = m.Hi // leaves a row unchanged that reaches Hi already
		asks = append(asks, ask)
	}
	for range attempts {
		if len(asks) == 0 {
			return true, nil
		}
		round := asks[:min(len(asks), maxRound)]
		answers, err := s.engine.Advance(ctx, round)
		if err != nil {
			return false, err
		}
		var rest []Ask
		for i, a := range answers {
			ask := round[i]
			switch {
			case a.Err != nil:
				return false, a.Err
			case a.Outcome == Granted:
				s.highWater.raised(ask.Key, position{a.Hi, a.Seq})
			case a.Outcome == Strange:
				return false, nil
			case a.Outcome == Moved:
				ask.From = a.Epoch
				rest = append(rest, ask)
			case a.Outcome == Again:
				rest = append(rest, ask)
			}
		}
		asks = append(rest, asks[len(round):]...)
	}
	return false, busy()
}

// EarliestTime implements generator.TimeGranter.
func (s *Store) EarliestTime(ctx context.Context, now int64) (int64, error) {
	l, err := s.present(ctx)
	if err == nil {
		l, err = s.settle(ctx, l)
	}
	if err != nil {
		return 0, err
	}
	return s.earliest(ctx, l, now)
}

// sinceAsked bounds how far the store's clock may advance between EarliestTime and the
// reservation, if the floor is the store's present time. It is less than the 10 s
// by which Config.Wait exceeds a slice.
const sinceAsked = time.Second

// grantsTime returns the epoch in which time may be reserved. It returns ErrNotNow
// while none may be, or not so early.
func (s *Store) grantsTime(ctx context.Context, l *epoch, r generator.Reservation) (*epoch, error) {
	if !strings.HasPrefix(r.Key, generator.WorkerKeyPrefix) {
		return l, nil
	}
	l, err := s.settle(ctx, l)
	if err != nil {
		return nil, err
	}
	earliest, err := s.earliest(ctx, l, r.AtLeast)
	if earliest < l.floor {
		earliest -= sinceAsked.Milliseconds()
	}
	if err == nil && r.AtLeast < earliest {
		err = generator.Errorf(generator.ReasonSlice, "",
			"Ids go on when the clock of this server has come there. Set it right if it is behind the store's.",
			"the store was failed over or restored: no time is reserved before %s by its clock", time.UnixMilli(earliest).UTC().Format(time.RFC3339))
	}
	return l, err
}

// settle returns the present epoch once it is settled, and ErrNotNow before.
func (s *Store) settle(ctx context.Context, l *epoch) (*epoch, error) {
	for range attempts {
		if l.settled {
			return l, nil
		}
		bounded, cancel := s.bounded(ctx)
		next, err := s.trySettle(bounded, l)
		cancel()
		if err != nil {
			return nil, err
		}
		if next != nil {
			if !s.epoch.CompareAndSwap(l, next) {
				next = s.epoch.Load()
			}
		} else if next, err = s.meet(ctx, l); err != nil {
			return nil, err
		}
		l = next
	}
	return nil, busy()
}

// trySettle tries to settle an epoch and returns its new state. It returns nil if
// the database has another epoch, or an earlier mark of this one.
func (s *Store) trySettle(ctx context.Context, l *epoch) (*epoch, error) {
	if l.hi == unmarked {
		next, err := s.unsettle(ctx, l)
		next.seen = l.seen
		return next, err
	}
	if name, err := s.engine.Epoch(ctx); err != nil || name != l.name {
		return nil, err
	}
	r, err := s.engine.Row(ctx, epochKey)
	switch {
	case err != nil:
		return nil, err
	case r == nil || r.Epoch != l.name || l.lost(r):
		return nil, nil
	case r.Hi != l.hi: // another server settled it, or saw the store go back
		next := s.epochOf(r)
		if r.Hi-r.Lo >= settledAfter {
			next.seen = l.seen
		}
		return next, nil
	}
	wait := s.cfg.Wait - (s.cfg.Clock.Monotonic() - l.seen)
	if wait > 0 {
		return nil, generator.Errorf(generator.ReasonSlice, "",
			"Servers that hold a time slice which the store forgot finish it until then. "+"If the store can lose nothing, say so with --store-failover lossless.",
			"the store was failed over or restored: no worker id for another %v", max(wait.Round(time.Second), time.Second))
	}
	floor, err := s.storeTime(ctx)
	if err != nil {
		return nil, err
	}
	ask := s.askFor(l, epochKey, math.MinInt64, settledAfter+s.cfg.Wait.Milliseconds(), 1)
	ask.Limit = saturated(l.hi, ask.N) // if the mark has moved, this cuts the length that means settled
	ask.Now, ask.Create = floor, false
	c, err := s.rounds.do(ctx, ask)
	if err != nil || c.answer.Outcome != Granted {
		return nil, err
	}
	a := c.answer
	return s.epochOf(&Row{Lo: a.Lo, Hi: a.Hi, Seq: a.Seq, Epoch: l.name, Updated: floor}), nil
}

// earliest returns the Unix ms from which a settled epoch grants time. If floor is
// beyond the store's clock, that clock was wrong and has been corrected since: then
// its present time counts.
func (s *Store) earliest(ctx context.Context, l *epoch, now int64) (int64, error) {
	if now >= l.floor {
		return l.floor, nil
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	present, err := s.storeTime(ctx)
	if err != nil {
		return l.floor, err
	}
	return min(l.floor, present), nil
}

// storeTime returns the store's clock in Unix ms.
func (s *Store) storeTime(ctx context.Context) (int64, error) {
	earliest, _, err := s.engine.Time(ctx)
	return earliest.UnixMilli(), err
}

func busy() error {
	return generator.Errorf(generator.ErrRetry, "", "Try again.", "too many servers change the store at the same time")
}
