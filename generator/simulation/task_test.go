package simulation

import (
	"container/heap"
	"context"
	"iter"
	"math/rand/v2"
	"sync"
	"time"
)

// event happens at one moment. Events of the same moment have a random order.
type event struct {
	at  time.Duration
	tie uint64
	do  func()
}

type queue []event

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].tie < q[j].tie
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(e any)   { *q = append(*q, e.(event)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	(*q)[len(*q)-1] = event{}
	*q = (*q)[:len(*q)-1]
	return last
}

// loop holds the virtual time and the events to come.
type loop struct {
	rand   *rand.Rand
	now    time.Duration
	events queue
}

func (l *loop) after(d time.Duration, do func()) {
	heap.Push(&l.events, event{at: l.now + max(d, 0), tie: l.rand.Uint64(), do: do})
}

// runUntil runs all events before end, as long as goOn returns true.
func (l *loop) runUntil(end time.Duration, goOn func() bool) {
	for len(l.events) > 0 && goOn() {
		e := heap.Pop(&l.events).(event)
		if e.at >= end {
			return
		}
		l.now = e.at
		e.do()
	}
}

// between returns a random duration from lo to hi, mostly nearer to lo.
func (l *loop) between(lo, hi time.Duration) time.Duration {
	f := l.rand.Float64()
	return lo + time.Duration(f*f*float64(hi-lo))
}

// chance returns true in p of 100 cases.
func (l *loop) chance(p int) bool { return l.rand.IntN(100) < p }

// thread is a coroutine that runs one job after the other.
type thread struct {
	job    func()
	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
}

// thread returns an idle thread, or a new one.
func (w *world) thread() *thread {
	if n := len(w.idle); n > 0 {
		th := w.idle[n-1]
		w.idle = w.idle[:n-1]
		return th
	}
	th := &thread{}
	th.resume, th.stop = iter.Pull(func(yield func(struct{}) bool) {
		th.yield = yield
		defer func() {
			if cause := recover(); cause != nil && cause != any(killed{}) {
				panic(cause)
			}
		}()
		for {
			th.job()
			if !yield(struct{}{}) {
				return
			}
		}
	})
	return th
}

// task is a goroutine of a server. The loop runs it from one wait to the next.
type task struct {
	server *server
	id     int
	group  *sync.WaitGroup
	thread *thread

	wait  *wait
	due   bool // an event that resumes it is in the queue
	ended bool
}

// wait describes the end of a task's wait.
type wait struct {
	ready   func() bool   // reports whether the task may resume; nil for never
	until   time.Duration // the task resumes at the latest then; 0 for never
	end     error         // error of the wait after until
	ctx     context.Context
	outcome outcome
}

// outcome is the result of a wait.
type outcome struct {
	value any
	err   error
}

// killed is the panic that ends the tasks of a killed server.
type killed struct{}

// start makes a task, which begins a moment later.
func (s *server) start(group *sync.WaitGroup, f func()) {
	t := &task{server: s, id: len(s.tasks), group: group, thread: s.world.thread(), wait: &wait{}}
	s.tasks = append(s.tasks, t)
	s.living = append(s.living, t)
	s.groups[group]++
	t.thread.job = func() {
		f()
		t.ended = true
		s.groups[group]--
	}
	if !s.repeating {
		s.goOn(t, outcome{})
	}
}

// pause suspends the running task and returns the outcome of its wait.
func (s *server) pause(w *wait) outcome {
	t := s.running
	t.wait = w
	if w.until > 0 && !s.repeating {
		s.alarm(t)
	}
	if !t.thread.yield(struct{}{}) {
		panic(killed{})
	}
	return w.outcome
}

// alarm resumes a task when its wait times out.
func (s *server) alarm(t *task) {
	w := t.wait
	s.world.after(w.until-s.world.now, func() {
		if t.wait == w && !t.due {
			s.goOn(t, outcome{err: w.end})
		}
	})
}

// goOn resumes a task a moment later, or once its server runs again.
func (s *server) goOn(t *task, what outcome) {
	t.due = true
	w := t.wait
	s.world.after(time.Duration(s.world.rand.IntN(200))*time.Microsecond, func() {
		switch {
		case s.dead || t.ended || t.wait != w:
		case s.stopped:
			s.later = append(s.later, func() { s.goOn(t, what) })
		default:
			s.step(t, what)
			s.poll()
		}
	})
}

// step runs a task until its next wait.
func (s *server) step(t *task, what outcome) {
	if !s.repeating {
		s.past = append(s.past, happening{at: s.world.now, task: t.id, what: what})
	}
	t.wait.outcome, t.due = what, false
	t.wait = nil
	before := s.running
	s.running = t
	t.thread.resume()
	if s.running = before; t.ended {
		s.world.idle = append(s.world.idle, t.thread)
		t.thread = nil
	}
}

// poll resumes the tasks that are ready.
func (s *server) poll() {
	living := s.living[:0]
	for _, t := range s.living {
		if t.ended {
			continue
		}
		living = append(living, t)
		if t.due || t.wait == nil {
			continue
		}
		switch {
		case t.wait.ready != nil && t.wait.ready():
			s.goOn(t, outcome{})
		case t.wait.ctx != nil && t.wait.ctx.Err() != nil:
			s.goOn(t, outcome{err: t.wait.ctx.Err()})
		}
	}
	clear(s.living[len(living):])
	s.living = living
}

// Go implements generator.Scheduler.
func (s *server) Go(group *sync.WaitGroup, f func()) { s.start(group, f) }

// Join implements generator.Scheduler.
func (s *server) Join(group *sync.WaitGroup) {
	for s.groups[group] > 0 {
		s.pause(&wait{ready: func() bool { return s.groups[group] == 0 }})
	}
}

// Receive implements generator.Scheduler. Deadlines of contexts are in real time.
// The first wait with a context converts its remaining time to virtual time.
func (s *server) Receive(ctx context.Context, ch <-chan struct{}) error {
	until := time.Duration(0)
	if deadline, ok := ctx.Deadline(); ok {
		if until, ok = s.deadlines[ctx]; !ok {
			until = s.now() + time.Until(deadline).Round(10*time.Millisecond)
			s.deadlines[ctx] = until
		}
	}
	for {
		select {
		case <-ch:
			return nil
		default:
		}
		w := &wait{ready: func() bool { return holds(ch) }, until: until, end: context.DeadlineExceeded, ctx: ctx}
		if got := s.pause(w); got.err != nil {
			return got.err
		}
	}
}

// holds reports whether a receive from ch would not block. In the simulation
// buffered channels are never closed, and unbuffered ones are only closed.
func holds(ch <-chan struct{}) bool {
	if cap(ch) > 0 {
		return len(ch) > 0
	}
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// Sleep implements generator.Scheduler.
func (s *server) Sleep(ctx context.Context, d time.Duration) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return s.pause(&wait{until: max(s.now()+d, 1), ctx: ctx}).err
}

// Pause implements generator.Scheduler.
func (s *server) Pause(ctx context.Context, d time.Duration) error {
	return s.Sleep(ctx, d/2+time.Duration(s.input(func() int64 { return s.world.rand.Int64N(int64(d)) })))
}
