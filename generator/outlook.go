package generator

import (
	"context"
	"time"
)

// EndsSoon sets how long before its time runs out a generator is warned of.
const EndsSoon = 365 * 24 * time.Hour

// scarce is the part that is left of numbers, and of worker ids, when they are
// told to run out.
const scarce = 0.1

// Outlook holds what of a name comes to an end.
type Outlook struct {
	Ends    time.Time // of the time that its layout has; the zero time: never
	Numbers Left      // below its maximum
	Workers Left      // worker ids of the width of its layout that no server holds
}

// Left describes how many there are of something, and how many of them are left. All
// is 0 of what has no end.
type Left struct{ Left, All int64 }

// Scarce reports whether there is an end and little is left before it.
func (l Left) Scarce() bool { return l.All > 0 && float64(l.Left) <= scarce*float64(l.All) }

// NumbersLeft counts the numbers of a line in steps of increment: those from
// next, and those from least, to before limit.
func NumbersLeft(next, least, limit, increment int64) Left {
	count := func(from int64) int64 {
		span := uint64(limit) - uint64(min(from, limit))
		return int64(min(span/uint64(increment)+min(span%uint64(increment), 1), uint64(NoLimit)))
	}
	return Left{count(next), max(count(least), 1)}
}

// OutlookOf is the Outlook of a name that the store has. What cannot be found
// out is left out: a forecast is no reason for an error.
func (r *Registry) OutlookOf(ctx context.Context, name string, now time.Time) Outlook {
	var o Outlook
	d, err := r.cfg.Store.Defined(ctx, name)
	if err != nil {
		return o
	}
	o.Ends = r.Ends(d)
	k := r.kinds[d.Kind]
	if n, ok := KindAs[Numbered](k); ok {
		if past, err := r.Past(ctx, name); err == nil {
			o.Numbers = n.Numbers(d.Options, past)
		}
	}
	if wk, ok := KindAs[WorkerKind](k); ok && !r.cfg.Store.Exclusive() {
		if free, err := r.FreeWorkers(ctx, now); err == nil {
			bits := wk.WorkerBits(d.Options)
			o.Workers = Left{1 << bits, 1 << bits}
			if w, used := free[bits]; used {
				o.Workers = w
			}
		}
	}
	return o
}

// FreeWorkers counts the worker ids that no server holds, of each width in use.
func (r *Registry) FreeWorkers(ctx context.Context, now time.Time) (map[int]Left, error) {
	marks, err := r.Workers(ctx)
	free := map[int]Left{}
	for _, m := range marks {
		w, ok := free[m.Bits]
		if !ok {
			w = Left{1 << m.Bits, 1 << m.Bits}
		}
		if m.Hi > now.UnixMilli() {
			w.Left--
		}
		free[m.Bits] = w
	}
	return free, err
}
