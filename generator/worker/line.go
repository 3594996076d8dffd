package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strconv"

	"nextid/generator"
)

// Time lines of one generator's name, beside those of the worker ids. An
// engine whose ids carry times that the slices of its worker id do not cover
// reserves them here: times far ahead (package ring) and times that were
// there before (rollback bits). The store never gives a stretch of a line
// twice, so ids stay unique whoever holds the worker id.

// linesOf is the prefix of a name's lines.
func linesOf(name string) string { return generator.LineKeyPrefix + name + "/" }

// Line is the key of a time line: of a name, a worker id of the pool's width,
// and a number that the engine gives a meaning.
func (p *Pool) Line(name string, worker, number int64) string {
	return linesOf(name) + strconv.Itoa(int(p.width.Bits())) + "/" + strconv.FormatInt(worker, 10) + "/" + strconv.FormatInt(number, 10)
}

// ReserveLine reserves n milliseconds of a line from atLeast (Unix ms) on;
// see generator.Reserver.
func (p *Pool) ReserveLine(ctx context.Context, line string, atLeast, n int64) (lo, hi int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	return p.pools.cfg.Store.Reserve(ctx, generator.Reservation{
		Key: line, AtLeast: atLeast, N: n, Limit: generator.NoLimit, Owner: p.pools.cfg.Owner,
	})
}

// ReleaseLine gives back the unused tail of a line's last reservation.
func (p *Pool) ReleaseLine(ctx context.Context, line string, hi, to int64) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	return p.pools.cfg.Store.Release(ctx, line, hi, to)
}

// LinesEnd is the end (exclusive, Unix ms) of all that was ever reserved on
// the lines of a name; math.MinInt64 if nothing was.
func (p *Pools) LinesEnd(ctx context.Context, name string) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	marks, err := p.cfg.Store.Reserved(ctx, linesOf(name))
	end := int64(math.MinInt64)
	for _, m := range marks {
		end = max(end, m.Hi)
	}
	return end, err
}

// LineEnd is the end (exclusive, Unix ms) of what was reserved on each of the
// lines of a name and a worker id, by their number.
func (p *Pool) LineEnd(ctx context.Context, name string, worker int64, numbers int64) ([]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	marks, err := p.pools.cfg.Store.Reserved(ctx, linesOf(name))
	ends := make([]int64, numbers)
	for i := range ends {
		ends[i] = math.MinInt64
		for _, m := range marks {
			if m.Key == p.Line(name, worker, int64(i)) {
				ends[i] = m.Hi
			}
		}
	}
	return ends, err
}

// Runtime is the clock of the pool and the way to wait by it.
func (p *Pool) Runtime() generator.Runtime { return p.pools.cfg.Clock }

// Logger returns where the pool logs.
func (p *Pool) Logger() *slog.Logger { return p.pools.cfg.Logger }

// Exclusive reports whether only this process uses the store.
func (p *Pool) Exclusive() bool { return p.pools.cfg.Store.Exclusive() }

// StoreError makes what a Pool answered to a generator of a name an
// *generator.Error, except for the end of the caller's own context.
func StoreError(ctx context.Context, name string, err error) error {
	if _, known := errors.AsType[*generator.Error](err); err == nil || known || ctx.Err() != nil {
		return err
	}
	return &generator.Error{
		Kind: generator.ErrNotNow, Reason: generator.ReasonStore, Name: name, Cause: err,
		Message: fmt.Sprintf("the store does not grant time to generator %q", name),
		Hint:    "Look at the store. Another nextid server may answer.",
	}
}
