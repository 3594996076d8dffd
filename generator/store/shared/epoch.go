package shared

import (
	"context"

	"nextid/generator"
)

// stampKey is the row that says since when the present stamp is the present
// one: lo in Unix ms. Its seq is less than skipCount while the store never
// had another one: servers that start at the same time all note the first.
const stampKey = "stamp"

// epoch is what this server knows about the database's present stamp.
type epoch struct {
	stamp string
	since int64 // Unix ms: when a server first saw the stamp
	first bool  // the store never had another one
	from  int64 // Unix ms: no worker id before
}

// present returns the epoch that this server knows of, asking if it knows none.
func (s *Store) present(ctx context.Context) (*epoch, error) {
	if l := s.epoch.Load(); l != nil {
		return l, nil
	}
	return s.meet(ctx, nil)
}

// meet asks the database for its present stamp and notes in the store that it
// is the present one, unless another goroutine has replaced old meanwhile.
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
		stamp, err := s.engine.Stamp(ctx)
		if err != nil {
			return nil, err
		}
		l, err := s.note(ctx, stamp)
		if err != nil {
			return nil, err
		}
		if l == nil {
			continue // it changed again, or another server noted it at the same time
		}
		if old != nil && old.stamp != l.stamp {
			s.cfg.Logger.Warn("the store was failed over or restored",
				"before", old.stamp, "now", l.stamp, "failover", string(s.cfg.Failover))
		}
		s.epoch.Store(l)
		return l, nil
	}
	return nil, busy()
}

// note writes stamp into the store unless it stands there already.
func (s *Store) note(ctx context.Context, stamp string) (*epoch, error) {
	r, err := s.engine.Row(ctx, stampKey)
	if err != nil {
		return nil, err
	}
	ask := Ask{
		Reservation: generator.Reservation{Key: stampKey, AtLeast: s.now(), N: 1, Limit: generator.NoLimit, Owner: s.cfg.Owner},
		Stamp:       stamp, Write: stamp, Now: s.now(), Create: true, Count: 1,
	}
	if r != nil && r.Stamp == stamp {
		return s.newEpoch(stamp, r.Lo, r.Seq), nil
	}
	if r != nil {
		ask.From, ask.Count = r.Stamp, skipCount
	}
	c, err := s.rounds.do(ctx, ask)
	if err != nil || c.answer.Outcome != Granted {
		return nil, err
	}
	a := c.answer
	return s.newEpoch(stamp, a.Lo, a.Seq), nil
}

// newEpoch is the epoch that a stamp began; seq is that of stampKey.
func (s *Store) newEpoch(stamp string, since, seq int64) *epoch {
	l := &epoch{stamp: stamp, since: since, first: seq < skipCount}
	if s.mayHaveLost(l) {
		l.from = since + s.cfg.Wait.Milliseconds()
	}
	return l
}

func busy() error {
	return &generator.Error{
		Kind: generator.ErrRetry, Message: "too many servers change the store at the same time", Hint: "Try again.",
	}
}
