package generator

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// EndsSoon is the time before the end of a layout's time at which operators are warned.
const EndsSoon = 365 * 24 * time.Hour

// scarce is the part of numbers, or of worker ids, at which operators are warned.
const scarce = 0.1

// Outlook holds what a name can run out of.
type Outlook struct {
	Ends    time.Time // of the time range of its layout; the zero time for never
	Numbers Left      // numbers below its maximum
	Workers Left      // free worker ids of the width of its layout
}

// Left holds how many of All are left. All is 0 if there is no limit.
type Left struct{ Left, All int64 }

// Scarce reports whether there is a limit and little is left below it.
func (l Left) Scarce() bool { return l.All > 0 && float64(l.Left) <= scarce*float64(l.All) }

// NumbersLeft counts the numbers below limit in steps of increment: Left from next
// on, All from least on.
func NumbersLeft(next, least, limit, increment int64) Left {
	return Left{countNumbers(next, limit, increment), max(countNumbers(least, limit, increment), 1)}
}

// countNumbers counts the numbers from first on below limit in steps of increment.
func countNumbers(first, limit, increment int64) int64 {
	span := uint64(limit) - uint64(min(first, limit))
	return int64(min(span/uint64(increment)+min(span%uint64(increment), 1), uint64(NoLimit)))
}

// OutlookOf returns the Outlook of a stored name. It leaves out values that it
// cannot read: a forecast must not fail.
func (r *Registry) OutlookOf(ctx context.Context, name string, now time.Time) Outlook {
	var o Outlook
	d, err := r.cfg.Store.Defined(ctx, name)
	if err != nil {
		return o
	}
	if n, ok := KindAs[Numbered](r.kinds[d.Kind]); ok {
		if past, err := r.Past(ctx, name); err == nil {
			o.Numbers = n.Numbers(d.Options, past)
		}
	}
	s, ok := r.Shape(d)
	o.Ends = s.Ends
	if ok && !r.cfg.Store.Exclusive() {
		if free, err := r.FreeWorkers(ctx, now); err == nil {
			o.Workers = Left{1 << s.WorkerBits, 1 << s.WorkerBits}
			if w, used := free[s.WorkerBits]; used {
				o.Workers = w
			}
		}
	}
	return o
}

// FreeWorkers counts the free worker ids, by the width of the worker field.
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

// WorkerMark is the state of the time line of one worker id.
type WorkerMark struct {
	Bits int   // width of the worker field
	ID   int64 // worker id
	Mark       // Hi in Unix milliseconds; NoLimit if the id was given up, see worker.Repair
}

// WorkerBits returns the width of the worker field of a generator's ids; 0 for
// kinds without one.
func (r *Registry) WorkerBits(ctx context.Context, name string) (int, error) {
	d, err := r.cfg.Store.Defined(ctx, name)
	s, _ := r.Shape(d)
	return s.WorkerBits, err
}

// Workers lists all worker ids that were ever claimed.
func (r *Registry) Workers(ctx context.Context) ([]WorkerMark, error) {
	return WorkerMarks(ctx, r.cfg.Store)
}

// WorkerMarks lists all worker ids of a store that were ever claimed. It leaves out the
// lines of single generators.
func WorkerMarks(ctx context.Context, store Reserver) (out []WorkerMark, err error) {
	marks, err := store.Reserved(ctx, WorkerKeyPrefix)
	for _, m := range marks {
		bits, id, _ := strings.Cut(strings.TrimPrefix(m.Key, WorkerKeyPrefix), "/")
		b, err1 := strconv.Atoi(bits)
		n, err2 := strconv.ParseInt(id, 10, 64)
		if err1 == nil && err2 == nil {
			out = append(out, WorkerMark{Bits: b, ID: n, Mark: m})
		}
	}
	return out, err
}
