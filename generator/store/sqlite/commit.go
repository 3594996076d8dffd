package sqlite

import (
	"context"
	"errors"
	"time"

	"nextid/generator"
)

// maxBatch is the greatest number of operations in one transaction.
const maxBatch = 256

// operation is one call that waits for the goroutine that owns the session.
type operation struct {
	ctx      context.Context
	reserves bool // counts as a reservation if it succeeds
	run      func(ctx context.Context, q *statements) error
	err      error
	done     chan struct{} // closed when err and the results are final
}

// ask passes a call to serve and waits for its durable result. A caller whose ctx
// ends first gets an error at once. The result of its call, if there is one, is not
// used.
func ask[V any](ctx context.Context, s *embedded, reserves bool,
	run func(context.Context, *statements) (V, error),
) (V, error) {
	var v, none V
	op := &operation{ctx: ctx, reserves: reserves, done: make(chan struct{})}
	op.run = func(ctx context.Context, q *statements) (err error) {
		v, err = run(ctx, q)
		return err
	}
	if ctx.Err() != nil {
		return none, generator.StoreLateError(ctx)
	}
	select {
	case s.queue <- op:
	case <-ctx.Done():
		return none, generator.StoreLateError(ctx)
	case <-s.closing:
		return none, generator.StoreClosedError()
	}
	select {
	case <-op.done:
	case <-ctx.Done():
		return none, generator.StoreLateError(ctx)
	}
	if op.err != nil {
		return none, op.err
	}
	return v, nil
}

// serve runs operations until the store is closed. All operations that wait at the
// same moment share one transaction. The fsyncs of a commit cost the same for one
// or many.
func (s *embedded) serve() error {
	idle := time.NewTicker(seenEvery)
	defer idle.Stop()
	for {
		select {
		case op := <-s.queue:
			s.answer(s.gather(op))
		case <-idle.C:
			s.answer(nil)
		case <-s.closing:
			return s.release()
		}
	}
}

// gather collects the operations that wait now.
func (s *embedded) gather(first *operation) []*operation {
	batch := []*operation{first}
	for len(batch) < maxBatch {
		select {
		case op := <-s.queue:
			batch = append(batch, op)
		default:
			return batch
		}
	}
	return batch
}

// answer runs a batch. An error of the transaction, also of an ambiguous commit,
// becomes the error of every operation in it.
func (s *embedded) answer(batch []*operation) {
	err := s.transact(batch)
	s.note(err)
	for _, op := range batch {
		if err != nil {
			op.err = err
		}
		close(op.done)
	}
}

// transact runs a batch in one transaction. An error closes the session: the next
// batch opens and checks the file again.
func (s *embedded) transact(batch []*operation) error {
	// A caller's context would cancel the operations of the others, too.
	ctx := context.Background()
	written, err := s.dir.changed()
	if err != nil {
		return err
	}
	if written && s.session != nil { // SQLite's page cache may differ from the file
		_ = s.session.close()
		s.session = nil
	}
	if err := s.reopen(ctx); err != nil {
		return err
	}
	granted, err := s.session.transact(ctx, batch, s.seen.now(s.cfg))
	s.dir.wrote()
	if err != nil {
		_ = s.session.close() // returns the same error again
		s.session = nil
		return storeError(s.dir.in(s.dir.file), err)
	}
	if granted > 0 {
		s.known = granted
		s.fingerprint.advance(granted)
	}
	return nil
}

// reopen opens the session again after an error. It refuses a file in which
// acknowledged reservations are missing.
func (s *embedded) reopen(ctx context.Context) error {
	if s.session != nil {
		return nil
	}
	session, m, err := openSession(ctx, s.dir)
	if err != nil {
		return err
	}
	seen := fingerprintState{storeID: s.storeID, reservations: s.known}
	here, err := s.dir.here()
	if err == nil {
		err = s.dir.checkPlace(m, here, seen, false)
	}
	if err != nil {
		_ = session.close()
		return storeError(s.dir.in(s.dir.file), err)
	}
	s.session = session
	s.dir.wrote()
	return nil
}

// transact runs a batch in one transaction. It returns the number of reservations
// that the store has made since it was created, or 0 if the batch made none. An
// empty batch only stores the time (Unix ms).
func (s *session) transact(ctx context.Context, batch []*operation, now int64) (reservations int64, err error) {
	err = s.atomically(ctx, func() (err error) {
		granted := 0
		for _, op := range batch {
			if op.ctx.Err() != nil {
				op.err = generator.StoreLateError(op.ctx)
				continue
			}
			op.err = op.run(ctx, s.statements)
			var answer *generator.Error
			switch {
			case op.err == nil && op.reserves:
				granted++
			case op.err != nil && !errors.As(op.err, &answer):
				return op.err
			}
		}
		if granted > 0 || len(batch) == 0 {
			reservations, err = scanMeta(s.count.QueryRowContext(ctx, granted, now))
		}
		return err
	})
	return reservations, err
}

// atomically runs f in a transaction. After an error the transaction is open or its
// end is unknown, and the session must be closed.
func (s *session) atomically(ctx context.Context, f func() error) error {
	if _, err := s.begin.ExecContext(ctx); err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	_, err := s.commit.ExecContext(ctx)
	return err
}
