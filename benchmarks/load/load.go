// Package load is the client of the benchmarks. It keeps many connections to
// PostgreSQL, MySQL and Redis servers busy. It uses little processor time, so that
// measurements on one machine show the server and not the client.
//
// A Link is one connection. It implements only the parts of the protocols that the
// benchmarks need. A Client repeats the operations of its Work over its Links. An
// operation has one or more Steps, and each Step is a request to one server. A
// request may contain ids of earlier answers. A Stage is one run of a benchmark: its
// servers, clients and report. Floor is a server that answers every query with the
// same bytes.
//
// Run measures. It owns all Links of its Clients until it returns, and serves them
// in one locked thread through epoll. In a closed loop (Rate 0) each client begins
// its next operation when it has the answer. At a fixed rate the latency of an
// operation counts from the time when it should have begun. So a stall of the server
// counts for all operations that had to wait, not for one (Gil Tene's "coordinated
// omission").
package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"nextid/dbtest"
)

// Step is one request of an operation.
type Step struct {
	Link    int    // index of the client's link
	Bytes   []byte // request; must not change before the answers have arrived
	Answers int    // number of expected answers
}

// Work generates the operations of one client. Its methods are called by one
// goroutine.
type Work interface {
	// Begin returns the first step of the next operation.
	Begin() Step
	// Then gets the ids in the answers to the last step, which are valid until
	// Then returns. It returns the next step, or false if the operation is complete.
	Then(ids []ID) (Step, bool)
}

// Client is a Work and its links.
type Client struct {
	Links []*Link
	Work  Work
}

// Once runs one operation.
func (c Client) Once(ctx context.Context) error {
	for step, more := c.Work.Begin(), true; more; {
		ids, err := c.Links[step.Link].Exchange(ctx, step.Bytes, step.Answers)
		if err != nil {
			return err
		}
		step, more = c.Work.Then(ids)
	}
	return nil
}

// Close closes the links.
func (c Client) Close() {
	for _, l := range c.Links {
		l.Close()
	}
}

// Repeat is a Work whose operations are one step each, chosen at random.
type Repeat []Step

// Begin implements Work.
func (r Repeat) Begin() Step { return r[rand.IntN(len(r))] }

// Then implements Work.
func (Repeat) Then([]ID) (Step, bool) { return Step{}, false }

// Latency holds the durations of a measurement.
type Latency []time.Duration

// Quantile returns the duration that the fraction q (0 to 1) of all does not exceed;
// 0 if there are none. It sorts the durations.
func (l Latency) Quantile(q float64) time.Duration {
	if len(l) == 0 {
		return 0
	}
	slices.Sort(l)
	return l[min(int(q*float64(len(l))), len(l)-1)]
}

// Config configures one measurement.
type Config struct {
	Clients []Client
	Warm    time.Duration    // time of load before the measurement
	Length  time.Duration    // of the measurement, which continues until the first answer
	Rate    float64          // operations per second of all clients together; 0: a closed loop
	Servers []*dbtest.Server // whose CPU time is measured
}

// Result is the result of one measurement.
type Result struct {
	Operations int           // operations that ended within Elapsed
	Elapsed    time.Duration // from the first request on
	Latency    Latency
	CPU        time.Duration // of the Servers
	Traffic    int64         // bytes sent and received, without the headers of TCP and lower layers
	// Ended adds to Operations those that ended after Elapsed. CPU and Traffic are
	// those of all of them.
	Ended int
}

// PerSecond returns the throughput in operations per second.
func (r Result) PerSecond() float64 { return float64(r.Operations) / r.Elapsed.Seconds() }

// Micros returns the servers' CPU time per operation in microseconds.
func (r Result) Micros() float64 { return float64(r.CPU) / 1e3 / float64(r.Ended) }

// answerTimeout bounds how long no answer may arrive on any connection.
const answerTimeout = 30 * time.Second

var errNoAnswer = errors.New("no server answered for " + answerTimeout.String())

// worker is the state of a client during a run.
type worker struct {
	Client
	link    *Link // link of the present step
	waiting int   // answers that have not arrived
	began   time.Duration
}

// loop is the event loop of one run. All times are since the start of its part, the
// warm-up or the measurement.
type loop struct {
	Config
	poll    int // epoll descriptor
	workers []*worker
	byLink  map[int]*worker // by descriptor
	start   time.Time
	idle    []*worker     // clients without an operation
	due     time.Duration // start of the next operation, at a fixed rate
	ending  bool          // the part's time is over: no operation begins
	result  Result
}

// Run measures. It ends when ctx ends, when a server returns an error or closes a
// connection, or when no answer arrives within answerTimeout.
func Run(ctx context.Context, c Config) (Result, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if c.Rate > 0 { // timeouts of epoll would end up to 50 µs late
		if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
			return Result{}, err
		}
		defer func() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) }() // the default; new threads and processes inherit it
	}
	poll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return Result{}, err
	}
	defer func() { _ = unix.Close(poll) }()
	l := &loop{Config: c, poll: poll, byLink: map[int]*worker{}}
	for _, client := range c.Clients {
		w := &worker{Client: client}
		l.workers = append(l.workers, w)
		for _, link := range w.Links {
			l.byLink[link.fd] = w
			if err := watch(poll, link.fd, unix.EPOLLIN|unix.EPOLLRDHUP); err != nil {
				return Result{}, err
			}
		}
	}
	l.idle = slices.Clone(l.workers)
	err = l.run(ctx)
	return l.result, err
}

// run warms up and measures. No operation runs while it reads the processor times:
// PostgreSQL would answer hundreds of requests in the time that it takes to read
// those of a thousand processes.
func (l *loop) run(ctx context.Context) error {
	if err := l.part(ctx, l.Warm, 0); err != nil {
		return err
	}
	l.result = Result{Latency: make(Latency, 0, 1<<18)} // to grow takes up to a millisecond
	traffic, before := l.traffic(), CPU(l.Servers...)
	if err := l.part(ctx, l.Length, 1); err != nil {
		return err
	}
	l.result.Traffic, l.result.CPU = l.traffic()-traffic, CPU(l.Servers...)-before
	return nil
}

// part is the event loop. It begins operations for a time, and until the least number
// of them has ended. Then it waits until all have ended.
func (l *loop) part(ctx context.Context, length time.Duration, least int) error {
	l.start, l.due, l.ending = time.Now(), 0, false
	var lastAnswer time.Duration
	events, n := make([]unix.EpollEvent, 256), 0
	for {
		now := time.Since(l.start)
		if !l.ending && now >= length && l.result.Operations >= least {
			l.end(now)
		}
		switch {
		case l.ending && len(l.idle) == len(l.workers):
			return nil
		case now-lastAnswer > answerTimeout:
			return errNoAnswer
		}
		err := l.startIdle(now)
		if err == nil && n > 1 { // more events are likely
			n, err = wait(l.poll, events, 0)
		} else {
			n = 0
		}
		if err == nil && n == 0 {
			n, err = wait(l.poll, events, l.timeout())
		}
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if n > 0 {
			lastAnswer = now
		}
		for _, e := range events[:n] {
			if err := l.event(int(e.Fd)); err != nil {
				return err
			}
		}
	}
}

// traffic returns the bytes that all links have sent and received.
func (l *loop) traffic() (sum int64) {
	for _, w := range l.workers {
		for _, link := range w.Links {
			sum += link.traffic
		}
	}
	return sum
}

// end ends the time of a part. At a fixed rate it counts the latency of operations
// that are running or due as if they ended now.
func (l *loop) end(now time.Duration) {
	l.ending, l.result.Elapsed = true, now
	for _, w := range l.workers {
		if l.Rate > 0 && w.waiting > 0 {
			l.result.Latency = append(l.result.Latency, now-w.began)
		}
	}
	for ; l.Rate > 0 && l.due < now; l.due += l.gap() {
		l.result.Latency = append(l.result.Latency, now-l.due)
	}
}

// gap returns the time between two operations at a fixed rate.
func (l *loop) gap() time.Duration { return time.Duration(float64(time.Second) / l.Rate) }

// startIdle starts operations that are due on idle clients.
func (l *loop) startIdle(now time.Duration) error {
	for len(l.idle) > 0 && !l.ending && (l.Rate == 0 || l.due <= now) {
		w := l.idle[0]
		l.idle = slices.Delete(l.idle, 0, 1) // first in, first out
		w.began = now
		if l.Rate > 0 {
			w.began = l.due
			l.due += l.gap()
		}
		if err := l.step(w, w.Work.Begin()); err != nil {
			return err
		}
	}
	return nil
}

// timeout returns the time until the next operation is due, at most 20 ms.
func (l *loop) timeout() time.Duration {
	const longest = 20 * time.Millisecond
	if l.Rate > 0 && len(l.idle) > 0 && !l.ending {
		return min(max(l.due-time.Since(l.start), 1), longest)
	}
	return longest
}

// step sends the request of a step.
func (l *loop) step(w *worker, s Step) error {
	w.link, w.waiting = w.Links[s.Link], s.Answers
	return w.link.send(s.Bytes)
}

// event handles one event of epoll.
func (l *loop) event(fd int) error {
	w := l.byLink[fd]
	link := w.link
	if link == nil || link.fd != fd {
		return fmt.Errorf("a server closed a connection on which no answer was due: %w", io.ErrUnexpectedEOF)
	}
	answers, err := link.receive()
	if err != nil {
		return err
	}
	if w.waiting -= answers; w.waiting > 0 || answers == 0 {
		return nil
	}
	next, more := w.Work.Then(w.link.ids)
	if more {
		return l.step(w, next)
	}
	now := time.Since(l.start)
	l.result.Ended++
	if !l.ending {
		l.result.Operations++
		l.result.Latency = append(l.result.Latency, now-w.began)
	}
	if l.Rate > 0 || l.ending {
		l.idle = append(l.idle, w)
		return nil
	}
	w.began = now
	return l.step(w, w.Work.Begin())
}
