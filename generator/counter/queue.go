package counter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"nextid/generator"
)

// Source describes where the ids of a Queue come from. A Queue calls its methods
// one at a time.
type Source interface {
	// Draw obtains a run of at least one and at most n ids, durably. All of
	// them lie above what earlier calls returned. An error means that
	// nothing was obtained.
	Draw(ctx context.Context, n int64) (generator.Range, error)

	// Renew returns what ids of an earlier Draw that were not handed out are now: no
	// ids at all (Count 0) if they may not be handed out any more.
	Renew(r generator.Range) generator.Range

	// Return takes back ids that were not handed out, at the end: the newest run first.
	Return(ctx context.Context, r generator.Range) error
}

// AllSource is a Source that a Queue asks for all ids of a request at once.
type AllSource interface {
	Source

	// DrawAll is Draw of exactly n ids. ErrExhausted means that fewer are left.
	DrawAll(ctx context.Context, n int64) (generator.Range, error)
}

const (
	// DefaultDeadline bounds the wait of one draw where nothing else is said.
	DefaultDeadline = 5 * time.Second

	// sourceTimeout bounds one question to the source. It is longer than any
	// usual deadline: a slow answer still helps those who come later.
	sourceTimeout = 15 * time.Second

	// maxDraw bounds the ids of one draw: what is on its way to a client that
	// leaves is lost. A caller that wants more asks again.
	maxDraw = 10_000

	// maxBatch bounds the ids of one question to the source.
	maxBatch = 100_000
)

// Queue is a generator.Generator that hands out the ids of a Source one after
// the other, in the order in which they were asked for, without leaving one
// out: the part that counters, dated numbers and tickets have in common.
//
// Draws that wait at the same time share one question to the source (group
// commit). An id whose client has left when the answer comes
// goes to the next draw. Only unknown ids are lost: an answer of the source that never came, what a killed process held,
// and an answer that did not reach its client.
//
// Its methods are safe for concurrent use.
type Queue struct {
	name     string
	source   Source
	runtime  generator.Scheduler
	deadline time.Duration

	ctx  context.Context // ends with Close
	stop context.CancelFunc
	work sync.WaitGroup

	free chan struct{} // holds a token while no question to the source is under way

	mu      sync.Mutex // never held while the source is asked
	waiting []*draw
	rest    []generator.Range // obtained, and not handed out
	newest  int64             // id that was given last
	issued  int64
	waits   int64
	refills int64 // questions that the source answered
	failed  int64 // and those that it did not
	sending bool
	closed  bool
}

// draw is one caller of Next.
type draw struct {
	n     int64
	all   bool // n ids or none
	got   []generator.Range
	err   error
	over  bool          // got or err is set, or the caller left
	ready chan struct{} // closed when got or err is set
}

var (
	_ generator.AllGenerator = (*Queue)(nil)
	_ generator.Closer       = (*Queue)(nil)
)

// NewQueue returns a Queue of the generator name. A draw waits for the source no
// longer than deadline.
func NewQueue(name string, source Source, runtime generator.Scheduler, deadline time.Duration) *Queue {
	q := &Queue{name: name, source: source, runtime: runtime, deadline: deadline, free: make(chan struct{}, 1)}
	q.free <- struct{}{}
	q.ctx, q.stop = context.WithCancel(context.Background())
	return q
}

// Next implements generator.Generator. Of a great n it returns a part.
func (q *Queue) Next(ctx context.Context, n int64) (generator.Range, error) {
	if n < 1 {
		return generator.Range{}, generator.CountError(q.name, n)
	}
	got, err := q.wait(ctx, &draw{n: min(n, maxDraw)})
	if err != nil {
		return generator.Range{}, err
	}
	return got[0], nil
}

// Ends implements generator.AllGenerator.
func (q *Queue) Ends() bool {
	_, ok := q.source.(AllSource)
	return ok
}

// NextAll implements generator.AllGenerator.
func (q *Queue) NextAll(ctx context.Context, n int64) ([]generator.Range, error) {
	if n < 1 {
		return nil, generator.CountError(q.name, n)
	}
	return q.wait(ctx, &draw{n: n, all: true})
}

// wait joins the queue and waits for the ids.
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
	if err := ctx.Err(); err != nil {
		return q.abandon(d, err)
	}
	return q.abandon(d, q.errSlow())
}

// GiveBack implements generator.AllGenerator. Only the newest ids can be given
// again: those of a connection rise.
func (q *Queue) GiveBack(runs []generator.Range) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(runs) == 0 || q.closed || runs[len(runs)-1].Last() != q.newest {
		return
	}
	q.newest = runs[0].First - runs[0].Step
	for _, r := range runs {
		q.issued -= r.Count
	}
	rest := q.rest
	q.rest = slices.Clone(runs)
	for _, r := range rest {
		q.rest = generator.AppendRun(q.rest, r)
	}
}

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

// abandon takes a draw out of the queue. One that was answered in the same
// moment keeps its answer: the ids are its own.
func (q *Queue) abandon(d *draw, why error) ([]generator.Range, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if d.over {
		return d.got, d.err
	}
	d.over = true
	return nil, why
}

// send serves the queue until it is empty.
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

// take gets the token that whoever asks the source must hold. One that is free
// is taken also when ctx has ended, so that closing works then.
func (q *Queue) take(ctx context.Context) error {
	select {
	case <-q.free:
		return nil
	default:
		return q.runtime.Receive(ctx, q.free)
	}
}

func (q *Queue) give() { q.free <- struct{}{} }

// fail answers all who wait with an error.
func (q *Queue) fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, d := range q.waiting {
		q.finish(d, nil, err)
	}
	q.waiting, q.sending = nil, false
}

// round asks the source once, for as many as those who wait at this moment
// want. A number that is left over because one of them left goes to the next
// draw, which is the one way in which a draw can get less than another server
// gave before.
func (q *Queue) round() (more bool) {
	q.mu.Lock()
	q.renew()
	q.serve()
	if len(q.waiting) == 0 {
		q.sending = false
		q.mu.Unlock()
		return false
	}
	// A draw of all or nothing has a question of its own.
	ask, batch, total := q.source.Draw, 1, q.waiting[0].n
	if q.waiting[0].all {
		ask, total = q.source.(AllSource).DrawAll, total-q.have()
	} else {
		for batch < len(q.waiting) && !q.waiting[batch].all {
			total = min(total+q.waiting[batch].n, maxBatch)
			batch++
		}
	}
	q.mu.Unlock()

	ctx, cancel := context.WithTimeout(q.ctx, sourceTimeout)
	defer cancel()
	r, err := ask(ctx, total)

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
	q.rest = generator.AppendRun(q.rest, r)
	q.serve()
	return true
}

// serve gives what is at hand to those who wait, in their order, and takes
// them and all who left out of the queue. Called with mu.
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

// have returns how many ids are at hand. Called with mu.
func (q *Queue) have() (n int64) {
	for _, r := range q.rest {
		n += r.Count
	}
	return n
}

// first removes up to n ids from the rest. Called with mu.
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

// renew asks what the rest is now. Called with mu and the token.
func (q *Queue) renew() {
	for i, r := range q.rest {
		q.rest[i] = q.source.Renew(r)
	}
	q.rest = slices.DeleteFunc(q.rest, func(r generator.Range) bool { return r.Count == 0 })
}

// ask calls f while no other question to the source is under way, and for no longer than one
// to it may take.
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

// Raise makes the ids go on with what raise obtains, which lies above all
// that the Queue holds; what it holds below floor is dropped. It runs while
// no other question to the source is under way. A run without ids adds nothing.
func (q *Queue) Raise(ctx context.Context, floor int64, raise func(context.Context) (generator.Range, error)) error {
	return q.ask(ctx, func(ctx context.Context) error {
		r, err := raise(ctx)
		if err != nil {
			return err
		}
		q.mu.Lock()
		defer q.mu.Unlock()
		kept := q.rest[:0]
		for _, have := range q.rest {
			if have = above(have, floor); have.Count > 0 {
				kept = append(kept, have)
			}
		}
		q.rest = kept
		if r.Count > 0 {
			q.rest = append(q.rest, r)
		}
		return nil
	})
}

// First returns the next id without giving it, and obtains one if there is
// none at hand.
func (q *Queue) First(ctx context.Context) (int64, error) {
	if err := q.take(ctx); err != nil {
		return 0, err
	}
	defer q.give()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return 0, generator.ClosedError(q.name)
	}
	if len(q.rest) == 0 {
		q.mu.Unlock()
		patient, cancel := context.WithTimeout(ctx, sourceTimeout)
		r, err := q.source.Draw(patient, 1)
		cancel()
		q.mu.Lock()
		if err != nil {
			return 0, q.sourceError(err)
		}
		q.rest = append(q.rest, r)
	}
	return q.rest[0].First, nil
}

// above is the part of a run that lies at floor or above.
func above(r generator.Range, floor int64) generator.Range {
	if r.First >= floor {
		return r
	}
	skip := min((floor-r.First+r.Step-1)/r.Step, r.Count)
	r.First += skip * r.Step
	r.Count -= skip
	return r
}

// Close implements generator.Closer. Draws that wait are still served, for as
// long as ctx lasts: a question that was cut off may leave a gap. What was not
// handed out goes back to the source.
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
	if err := q.take(ctx); err != nil { // a Raise that is on its way ends first
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

// Fill writes what the Queue knows into st: Issued, Buffered, Waits, Refills
// and RefillErrors.
func (q *Queue) Fill(st *generator.Stats) {
	q.mu.Lock()
	defer q.mu.Unlock()
	st.Issued, st.Waits, st.Refills, st.RefillErrors, st.Buffered = q.issued, q.waits, q.refills, q.failed, q.have()
}

func (q *Queue) errSlow() error {
	return &generator.Error{
		Kind: generator.ErrRetry, Name: q.name,
		Message: fmt.Sprintf("no number was granted to generator %q within %v", q.name, q.deadline),
		Hint:    "Try again. If it lasts, look at the store: every number of this generator is written there before it is given.",
	}
}

// sourceError tells the client what an error of the source means for it.
func (q *Queue) sourceError(err error) error {
	if q.ctx.Err() != nil {
		return generator.ClosedError(q.name)
	}
	kind := generator.ErrNotNow
	switch {
	case errors.Is(err, generator.ErrExhausted), errors.Is(err, generator.ErrRegressed), errors.Is(err, generator.ErrOption), errors.Is(err, generator.ErrNotHeld):
		return err
	case errors.Is(err, generator.ErrRetry):
		kind = generator.ErrRetry
	}
	if e, ok := errors.AsType[*generator.Error](err); ok && e.Name != "" {
		return err // the source has worded it for this generator
	}
	return &generator.Error{
		Kind: kind, Reason: generator.ReasonStore, Name: q.name, Cause: err, Message: fmt.Sprintf("no number is granted to generator %q", q.name),
		Hint: "Look at the store. Another nextid server may answer.",
	}
}
