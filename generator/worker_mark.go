package generator

import (
	"context"
	"strconv"
	"strings"
)

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
