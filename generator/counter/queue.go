package counter

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"nextid/generator"
	"nextid/generator/kinds"
)

// Source reserves the ids of a Queue. The Queue calls one method at a time.
type Source interface {
	// Draw reserves up to n ids, durably. All of them are above the ids of earlier calls.
	// An error means that none was reserved. If fewer than least are left, it is
	// ErrExhausted. A source whose Queue Ends may return less than least: then it is called
	// again for the rest of them.
	Draw(ctx context.Context, n, least int64) ([]generator.Range, error)

	// Renew returns the ids that now stand for unused ids of an earlier Draw. Count is
	// 0 if they may not be issued any more.
	Renew(r generator.Range) generator.Range

	// Return takes back unused ids when the Queue closes, the newest run first.
	Return(ctx context.Context, r generator.Range) error
}

const (
	// sourceTimeout bounds one request to the source. It is longer than usual
	// deadlines: a late answer still serves later draws.
	sourceTimeout = 15 * time.Second

	// maxDraw bounds the ids of one draw, because ids on their way to a client that
	// leaves are lost. A caller that needs more draws again.
	maxDraw = 10_000

	// maxBatch bounds the ids of one request to the source.
	maxBatch = 100_000
)

// Queue is a generator.Generator that issues the ids of a Source in order, without
// leaving one out. It answers draws in the order of their arrival. Counters, dated
// numbers and tickets use it.
//
// Draws that wait at the same time are served by one request to the source (group
// commit). An id whose client has left before it was reserved goes to the next
// draw. Ids are lost only if an answer of the source never arrived, if the process
// was killed, or if an answer did not reach its client.
//
// Its methods may be called by several goroutines at once.
type Queue struct {
	name     string
	source   Source
	runtime  generator.Scheduler
	deadline time.Duration
	ends     bool // see Ends

	ctx  context.Context // ends with Close
	stop context.CancelFunc
	work sync.WaitGroup

	free chan struct{} // a mutex with one token; held during a request to the source

	mu      sync.Mutex // guards the fields below; never held during a request to the source
	waiting []*draw
	rest    []generator.Range // obtained and not issued
	newest  int64             // last id issued
	floor   int64             // no id below it is issued (Raise)
	issued  int64
	waits   int64
	refills int64 // requests that the source answered
	failed  int64 // requests that failed
	sending bool  // the goroutine send runs
	closed  bool
}

// draw is one caller of Next.
type draw struct {
	n     int64
	all   bool // n ids or an error
	got   []generator.Range
	err   error
	over  bool          // got or err is set, or the caller has left
	ready chan struct{} // closed when got or err is set
}

// NewQueue returns the Queue of the generator name. A draw waits at most deadline
// for the source. ends is the result of Ends.
func NewQueue(name string, source Source, runtime generator.Scheduler, deadline time.Duration, ends bool) *Queue {
	q := &Queue{name: name, source: source, runtime: runtime, deadline: deadline, ends: ends, free: make(chan struct{}, 1), floor: math.MinInt64}
	q.free <- struct{}{}
	q.ctx, q.stop = context.WithCancel(context.Background())
	return q
}

// Next implements generator.Generator. It returns at most maxDraw ids.
func (q *Queue) Next(ctx context.Context, n int64) (generator.Range, error) {
	got, err := q.wait(ctx, &draw{n: min(n, maxDraw)})
	if err != nil {
		return generator.Range{}, err
	}
	return got[0], nil
}

// Ends implements generator.AllGenerator.
func (q *Queue) Ends() bool { return q.ends }

// NextAll implements generator.AllGenerator.
func (q *Queue) NextAll(ctx context.Context, n int64) ([]generator.Range, error) {
	return q.wait(ctx, &draw{n: n, all: true})
}

// wait appends a draw to the queue and waits for its ids.
func (q *Queue) wait(ctx context.Context, d *draw) ([]generator.Range, error) {
	d.ready = make(chan struct{})
	if err := q.join(d); err != nil {
		return nil, err
	}
	patient, cancel := context.WithTimeout(ctx, q.deadline)
	defer cancel()
	if q.runtime.Receive(patient, d.ready) == nil {
		return d.got, d.err
	}
	return q.abandon(d, kinds.LateError(ctx, q.name, ": every number of this generator is written there before it is given.", q.deadline))
}

// GiveBack implements generator.AllGenerator. Only the newest ids can be issued
// again, since the ids of a connection must rise. Those that a Raise has passed are
// not issued again.
func (q *Queue) GiveBack(runs []generator.Range) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(runs) == 0 || q.closed || runs[len(runs)-1].Last() != q.newest {
		return
	}
	q.newest = runs[0].First - runs[0].Step
	rest := q.rest
	q.rest = nil
	for _, r := range runs {
		q.issued -= r.Count
		if r = above(r, q.floor); r.Count > 0 {
			q.rest = append(q.rest, r)
		}
	}
	for _, r := range rest {
		q.rest = generator.AppendRun(q.rest, r)
	}
}

// join appends a draw to the queue, and starts send if it does not run.
func (q *Queue) join(d *draw) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return generator.ClosedError(q.name)
	}
	q.waits++
	q.waiting = append(q.waiting, d)
	if !q.sending {
		q.sending = true
		q.runtime.Go(&q.work, q.send)
	}
	return nil
}

// abandon removes a draw from the queue. A draw that was answered at the same
// moment keeps its answer, because the ids are not in the queue any more.
func (q *Queue) abandon(d *draw, why error) ([]generator.Range, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if d.over {
		return d.got, d.err
	}
	d.over = true
	return nil, why
}

// send serves the queue until it is empty. It runs in a goroutine of the Queue.
func (q *Queue) send() {
	for {
		if q.take(q.ctx) != nil {
			q.fail(generator.ClosedError(q.name))
			return
		}
		more := q.round()
		q.give()
		if !more {
			return
		}
	}
}

// take gets the token for a request to the source. It succeeds also after the end
// of ctx if the token is free. Close relies on that.
func (q *Queue) take(ctx context.Context) error {
	select {
	case <-q.free:
		return nil
	default:
		return q.runtime.Receive(ctx, q.free)
	}
}

// give returns the token.
func (q *Queue) give() { q.free <- struct{}{} }

// fail answers all waiting draws with an error.
func (q *Queue) fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, d := range q.waiting {
		q.finish(d, nil, err)
	}
	q.waiting, q.sending = nil, false
}

// round makes one request to the source, for the ids that the waiting draws need.
// An id that is left over because a draw was abandoned goes to the next draw. Only
// so can a draw get less than another server issued before.
func (q *Queue) round() (more bool) {
	q.mu.Lock()
	q.replace(q.source.Renew)
	q.serve()
	if len(q.waiting) == 0 {
		q.sending = false
		q.mu.Unlock()
		return false
	}
	// A draw of all ids has a request of its own.
	batch, total, least := 1, q.waiting[0].n, int64(1)
	if q.waiting[0].all {
		total -= q.have()
		least = total
	} else {
		for batch < len(q.waiting) && !q.waiting[batch].all {
			total = min(total+q.waiting[batch].n, maxBatch)
			batch++
		}
	}
	q.mu.Unlock()

	ctx, cancel := context.WithTimeout(q.ctx, sourceTimeout)
	defer cancel()
	runs, err := q.source.Draw(ctx, total, least)

	q.mu.Lock()
	defer q.mu.Unlock()
	if err != nil {
		q.failed++
		err = q.sourceError(err)
		for _, d := range q.waiting[:batch] {
			if d.all && d.n > 1 && errors.Is(err, generator.ErrExhausted) {
				err = generator.FewError(q.name, d.n, err)
			}
			q.finish(d, nil, err)
		}
		q.waiting = slices.Delete(q.waiting, 0, batch)
		return true
	}
	q.refills++
	for _, r := range runs {
		q.rest = generator.AppendRun(q.rest, r)
	}
	q.serve()
	return true
}

// serve gives the ids in hand to the waiting draws in their order. It removes these
// draws and the abandoned ones. Called with mu.
func (q *Queue) serve() {
	left := q.waiting[:0]
	for _, d := range q.waiting {
		switch {
		case d.over || len(q.rest) == 0 || len(left) > 0:
		case !d.all:
			q.finish(d, []generator.Range{q.first(d.n)}, nil)
		case q.have() >= d.n:
			var runs []generator.Range
			for n := d.n; n > 0; n -= runs[len(runs)-1].Count {
				runs = append(runs, q.first(n))
			}
			q.finish(d, runs, nil)
		}
		if !d.over {
			left = append(left, d)
		}
	}
	clear(q.waiting[len(left):])
	q.waiting = left
}

// have returns the number of ids in hand. Called with mu.
func (q *Queue) have() (n int64) {
	for _, r := range q.rest {
		n += r.Count
	}
	return n
}

// first removes up to n ids from rest. Called with mu.
func (q *Queue) first(n int64) generator.Range {
	r := q.rest[0]
	if r.Count <= n {
		q.rest = slices.Delete(q.rest, 0, 1)
	} else {
		r.Count = n
		q.rest[0].First += n * r.Step
		q.rest[0].Count -= n
	}
	q.issued += r.Count
	q.newest = r.Last()
	return r
}

// finish answers a draw. Called with mu.
func (q *Queue) finish(d *draw, runs []generator.Range, err error) {
	if d.over {
		return
	}
	d.got, d.err, d.over = runs, err, true
	close(d.ready)
}

// replace calls f for all runs in rest, and removes those that f makes empty. Called
// with mu and the token.
func (q *Queue) replace(f func(generator.Range) generator.Range) {
	for i, r := range q.rest {
		q.rest[i] = f(r)
	}
	q.rest = slices.DeleteFunc(q.rest, func(r generator.Range) bool { return r.Count == 0 })
}

// ask calls f while no request to the source is under way, with the timeout of a
// request.
func (q *Queue) ask(ctx context.Context, f func(context.Context) error) error {
	if err := q.take(ctx); err != nil {
		return err
	}
	defer q.give()
	q.mu.Lock()
	closed := q.closed
	q.mu.Unlock()
	if closed {
		return generator.ClosedError(q.name)
	}
	ctx, cancel := context.WithTimeout(ctx, sourceTimeout)
	defer cancel()
	if err := f(ctx); err != nil {
		return q.sourceError(err)
	}
	return nil
}

// Raise calls raise, after which the source issues no id below floor, and drops those in
// hand. No other request to the source runs meanwhile.
func (q *Queue) Raise(ctx context.Context, floor int64, raise func(context.Context) error) error {
	return q.ask(ctx, func(ctx context.Context) error {
		if err := raise(ctx); err != nil {
			return err
		}
		q.mu.Lock()
		defer q.mu.Unlock()
		q.floor = max(q.floor, floor)
		q.replace(func(r generator.Range) generator.Range { return above(r, floor) })
		return nil
	})
}

// above returns the part of a run at or above floor.
func above(r generator.Range, floor int64) generator.Range {
	if r.First >= floor {
		return r
	}
	if r.Last() < floor {
		return generator.Range{}
	}
	skip := int64((uint64(floor)-uint64(r.First)-1)/uint64(r.Step)) + 1 // the difference may exceed an int64
	r.First += skip * r.Step
	r.Count -= skip
	return r
}

// Close implements generator.Closer. It still serves waiting draws until ctx ends,
// because a request that is cut off may leave a gap. Unused ids go back to the
// source.
func (q *Queue) Close(ctx context.Context) error {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return nil
	}
	q.closed = true
	q.mu.Unlock()
	defer context.AfterFunc(ctx, q.stop)()
	q.runtime.Join(&q.work)
	defer q.stop()
	if err := q.take(ctx); err != nil { // a Raise under way ends first
		return err
	}
	defer q.give()
	q.mu.Lock()
	rest := q.rest
	q.rest = nil
	q.mu.Unlock()
	var err error
	for _, r := range slices.Backward(rest) {
		err = errors.Join(err, q.source.Return(ctx, r))
	}
	return err
}

// Fill sets the fields of st that the Queue knows: Issued, Buffered, Waits, Refills
// and RefillErrors.
func (q *Queue) Fill(st *generator.Stats) {
	q.mu.Lock()
	defer q.mu.Unlock()
	st.Issued, st.Waits, st.Refills, st.RefillErrors, st.Buffered = q.issued, q.waits, q.refills, q.failed, q.have()
}

// sourceError turns an error of the source into the error of a draw.
func (q *Queue) sourceError(err error) error {
	if q.ctx.Err() != nil {
		return generator.ClosedError(q.name)
	}
	return kinds.StoreError(q.name, err)
}
