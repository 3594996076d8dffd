package sqlite

import (
	"context"
	"errors"
	"time"

	"nextid/generator"
	"nextid/generator/store/local"
)

// maxBatch is the greatest number of operations in one transaction.
const maxBatch = 256

// operation is one call that waits for the goroutine that owns the session.
type operation struct {
	ctx context.Context
	// run does the work. It returns a *generator.Error if the call is wrong or a single
	// row refuses it. Any other error comes from the database.
	run  func(t local.Table) error
	err  error
	done chan struct{} // closed when err is final
}

// do passes a call to serve and waits for its durable result; see local.Store. A
// caller whose ctx ends first gets an error at once.
func (s *embedded) do(ctx context.Context, run func(t local.Table) error) error {
	op := &operation{ctx: ctx, run: run, done: make(chan struct{})}
	if ctx.Err() != nil {
		return generator.StoreLateError(ctx)
	}
	select {
	case s.queue <- op:
	case <-ctx.Done():
		return generator.StoreLateError(ctx)
	case <-s.closing:
		return generator.StoreClosedError()
	}
	select {
	case <-op.done:
		return op.err
	case <-ctx.Done():
		return generator.StoreLateError(ctx)
	}
}

// serve runs operations until the store is closed. All operations that wait at the
// same moment share one transaction. The fsyncs of a commit cost the same for one
// or many.
func (s *embedded) serve() error {
	idle := time.NewTicker(seenEvery)
	defer idle.Stop()
	for {
		var batch []*operation
		select {
		case op := <-s.queue:
			batch = append(batch, op)
		case <-idle.C:
		case <-s.closing:
			return s.release()
		}
		for more := len(batch) > 0; more && len(batch) < maxBatch; {
			select {
			case op := <-s.queue:
				batch = append(batch, op)
			default:
				more = false
			}
		}
		s.answer(batch)
	}
}

// answer runs a batch, and keeps the outcome for Probe. An error of the
// transaction, also of an ambiguous commit, becomes the error of every operation in
// it.
func (s *embedded) answer(batch []*operation) {
	err := s.transact(batch)
	if err == nil {
		s.trouble.Store(nil)
	} else if s.trouble.Load() == nil {
		s.trouble.Store(&generator.StoreDown{Since: time.UnixMilli(s.now()), Err: err})
	}
	for _, op := range batch {
		if err != nil {
			op.err = err
		}
		close(op.done)
	}
}

// transact runs a batch in one transaction. An empty batch only stores the time. An
// error closes the session: the next batch opens and checks the file again.
func (s *embedded) transact(batch []*operation) error {
	written, err := s.dir.changed()
	if err != nil {
		return err
	}
	if written && s.session != nil { // SQLite's page cache may differ from the file
		s.drop()
	}
	if s.session == nil {
		// A caller's context would cancel the operations of the others, too.
		if _, _, err := s.attach(context.Background(), s.known, false); err != nil {
			return err
		}
	}
	reservations := s.known.reservations
	err = s.session.atomically(func() error {
		if err := s.session.run(batch); err != nil || s.session.granted == 0 && len(batch) > 0 {
			return err
		}
		m, err := s.session.meta()
		if err != nil {
			return err
		}
		m.reservations, m.seenAt = m.reservations+s.session.granted, s.seen.now(s.cfg)
		reservations = m.reservations
		return s.session.putMeta(m)
	})
	s.dir.wrote()
	if err != nil {
		s.drop()
		return storeError(s.dir.in(s.dir.file), err)
	}
	if reservations != s.known.reservations {
		// Errors are ignored: a fingerprint that lags behind detects less, but is never wrong.
		if s.dir.root.Rename(s.dir.countName(s.known.reservations), s.dir.countName(reservations)) != nil {
			_ = s.dir.makeCount(reservations) // it was deleted
		}
		s.known.reservations = reservations
	}
	return nil
}

// run runs a batch. It returns the first error of the database.
func (q *session) run(batch []*operation) error {
	q.granted = 0
	for _, op := range batch {
		if op.ctx.Err() != nil {
			op.err = generator.StoreLateError(op.ctx)
			continue
		}
		op.err = op.run(q)
		if _, answer := errors.AsType[*generator.Error](op.err); op.err != nil && !answer {
			return op.err
		}
	}
	return nil
}

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
	if s.at == 0 || wall > expected && (cfg.ClockJump == 0 || wall-expected <= cfg.ClockJump.Milliseconds()) {
		s.at = wall
	} else {
		s.at = max(expected, s.at)
	}
	s.mono = mono
	return s.at
}

// checkClock refuses a wall clock that is more than Config.ClockJump ahead of the
// time stored last (Unix ms; 0 for none).
func (s *embedded) checkClock(last int64) error {
	wall := s.now()
	if s.cfg.AcceptClock || s.cfg.ClockJump == 0 || last == 0 || wall-last <= s.cfg.ClockJump.Milliseconds() {
		return nil
	}
	day := func(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }
	return generator.Errorf(generator.ReasonClock, "",
		"If the clock is wrong, set it right: ids would carry its time from now on, for good. "+
			"If it is right, start with --accept-clock once. clock_jump says how much is too much.",
		"the clock of this machine says %s, and the store %s was in use last at %s", day(wall), s.dir.in(s.dir.file), day(last))
}
