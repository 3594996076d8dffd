package worker

import (
	"context"
	"errors"
	"log/slog"
	"strconv"

	"nextid/generator"
)

// Time lines of single names, beside those of the worker ids. Kinds reserve on them
// the times that the slices of a worker id do not cover: times far ahead (package
// ring) and times that have been before (rollback bits). The store never grants a
// range of a line twice. So ids stay unique whichever server holds the worker id.

// linesOf returns the prefix of a name's lines.
func linesOf(name string) string { return generator.LineKeyPrefix + name + "/" }

// Line returns the key of the time line of a name, a worker id of the pool's width,
// and a number with a meaning of the kind's own.
func (p *Pool) Line(name string, worker, number int64) string {
	return linesOf(name) + strconv.Itoa(int(p.width.Bits())) + "/" + strconv.FormatInt(worker, 10) + "/" + strconv.FormatInt(number, 10)
}

// ReserveLine reserves n milliseconds of a line from atLeast (Unix ms) on, which end at
// limit at the latest. See generator.Reserver.
func (p *Pool) ReserveLine(ctx context.Context, line string, atLeast, n, limit int64) (lo, hi int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	return p.pools.cfg.Store.Reserve(ctx, generator.Reservation{
		Key: line, AtLeast: atLeast, N: n, Limit: limit, Owner: p.pools.cfg.Owner,
	})
}

// ReleaseLine gives back the unused end of a line's latest reservation.
func (p *Pool) ReleaseLine(ctx context.Context, line string, hi, to int64) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	return p.pools.cfg.Store.Release(ctx, line, hi, to)
}

// lines returns the ends (exclusive, Unix ms) of all reservations on the lines of a
// name, by key.
func (p *Pools) lines(ctx context.Context, name string) (map[string]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	marks, err := p.cfg.Store.Reserved(ctx, linesOf(name))
	ends := make(map[string]int64, len(marks))
	for _, m := range marks {
		ends[m.Key] = m.Hi
	}
	return ends, err
}

// LinesEnd returns the greatest of these ends; 0 for none.
func (p *Pools) LinesEnd(ctx context.Context, name string) (end int64, err error) {
	ends, err := p.lines(ctx, name)
	for _, hi := range ends {
		end = max(end, hi)
	}
	return end, err
}

// LineEnds returns the ends of the lines 0 to numbers-1 of a name and a worker id; 0 for
// a line without reservations.
func (p *Pool) LineEnds(ctx context.Context, name string, worker int64, numbers int64) ([]int64, error) {
	all, err := p.pools.lines(ctx, name)
	ends := make([]int64, numbers)
	for i := range ends {
		ends[i] = all[p.Line(name, worker, int64(i))]
	}
	return ends, err
}

// Runtime returns the pool's clock and scheduler.
func (p *Pool) Runtime() generator.Runtime { return p.pools.cfg.Clock }

// Logger returns the pool's logger.
func (p *Pool) Logger() *slog.Logger { return p.pools.cfg.Logger }

// Exclusive reports whether only this process uses the store.
func (p *Pool) Exclusive() bool { return p.pools.cfg.Store.Exclusive() }

// StoreError converts an error of a Pool to an *generator.Error for a generator of
// this name. An error of the caller's own context stays as it is.
func StoreError(ctx context.Context, name string, err error) error {
	if _, known := errors.AsType[*generator.Error](err); err == nil || known || ctx.Err() != nil {
		return err
	}
	return generator.CausedError(err, generator.ReasonStore, name, "Look at the store. Another nextid server may answer.",
		"the store does not grant time to generator %q", name)
}
