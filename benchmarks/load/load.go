package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"nextid/benchmarks/machine"
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

// Repeat is a Work that sends the same request in each operation.
type Repeat Step

// Begin implements Work.
func (r *Repeat) Begin() Step { return Step(*r) }

// Then implements Work.
func (*Repeat) Then([]ID) (Step, bool) { return Step{}, false }

// Pick is a Work that sends one of several requests at random. Each has one answer.
type Pick [][]byte

// Begin implements Work.
func (p Pick) Begin() Step { return Step{Bytes: p[rand.IntN(len(p))], Answers: 1} }

// Then implements Work.
func (Pick) Then([]ID) (Step, bool) { return Step{}, false }

// Latency holds the durations of a measurement.
type Latency []time.Duration

// Add adds one duration.
func (l *Latency) Add(d time.Duration) { *l = append(*l, d) }

// N returns the number of durations.
func (l Latency) N() int { return len(l) }

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
	Warm    time.Duration // time of load before the measurement
	Length  time.Duration // of the measurement; in a closed loop, it continues until the first answer
	Rate    float64       // operations per second of all clients together; 0: a closed loop
	// RTT simulates a network: the client reads each answer so much later than it
	// arrived.
	RTT     time.Duration
	Servers []*dbtest.Server // whose CPU time is measured
}

// Result is the result of one measurement.
type Result struct {
	Operations int
	Elapsed    time.Duration
	Latency    Latency
	CPU        time.Duration // of the Servers, measured while all connections are open
	Sent       int64         // bytes, without the headers of TCP and lower layers
	Received   int64
}

// PerSecond returns the throughput in operations per second.
func (r Result) PerSecond() float64 { return float64(r.Operations) / r.Elapsed.Seconds() }

// Micros returns the servers' CPU time per operation in microseconds.
func (r Result) Micros() float64 { return float64(r.CPU) / 1e3 / float64(r.Operations) }

// answerTimeout bounds how long no answer may arrive on any connection.
const answerTimeout = 30 * time.Second

// worker is the state of a client during a run.
type worker struct {
	Client
	link    *Link // link of the present step
	waiting int   // answers that have not arrived
	began   time.Duration
	read    time.Duration // when the client reads its answers, which have arrived; see RTT
}

// loop is the event loop of one run. All times are since its start.
type loop struct {
	Config
	poll    int // epoll descriptor
	workers []*worker
	byLink  map[int]*worker // by descriptor
	start   time.Time
	idle    []*worker     // clients without an operation
	due     time.Duration // start of the next operation, at a fixed rate
	held    []*worker     // clients whose answers are delayed by RTT, in their order
	counts  bool          // the warm-up is over
	result  Result
}

// Run measures. It ends when ctx ends, when a server returns an error or closes a
// connection, or when no answer arrives within answerTimeout.
func Run(ctx context.Context, c Config) (Result, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if c.Rate > 0 || c.RTT > 0 { // timeouts of epoll would end up to 50 µs late
		if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
			return Result{}, err
		}
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
			if err := watch(poll, link.fd, reading); err != nil {
				return Result{}, err
			}
		}
	}
	l.idle = slices.Clone(l.workers)
	err = l.run(ctx)
	return l.result, err
}

const reading = unix.EPOLLIN | unix.EPOLLRDHUP

// run is the event loop.
func (l *loop) run(ctx context.Context) error {
	l.start = time.Now()
	var lastAnswer, begin time.Duration // begin is that of the measurement
	var before machine.Usage
	events, n := make([]unix.EpollEvent, 256), 0
	for {
		now := time.Since(l.start)
		switch {
		case !l.counts && now >= l.Warm:
			before = machine.UsageOf(l.Servers...)
			l.measure()
			begin = time.Since(l.start)
			now = begin
		case l.counts && now >= begin+l.Length && (l.result.Operations > 0 || l.Rate > 0):
			l.finish(now)
			l.result.Elapsed = now - begin
			l.result.CPU = machine.UsageOf(l.Servers...).Sub(before).CPU
			return nil
		case now-lastAnswer > answerTimeout:
			return errors.New("no server answered for " + answerTimeout.String())
		}
		for len(l.held) > 0 && l.held[0].read <= now {
			w := l.held[0]
			l.held = slices.Delete(l.held, 0, 1)
			if err := l.answered(w); err != nil {
				return err
			}
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

// measure ends the warm-up and resets the counters.
func (l *loop) measure() {
	l.counts = true
	l.result = Result{Latency: make(Latency, 0, 1<<18)} // to grow takes up to a millisecond
	for _, link := range l.links() {
		link.sent, link.received = 0, 0
	}
}

func (l *loop) links() (all []*Link) {
	for _, w := range l.workers {
		all = append(all, w.Links...)
	}
	return all
}

// finish sums up the bytes of all links. At a fixed rate, operations that are
// running or due count as if they ended now.
func (l *loop) finish(now time.Duration) {
	for _, link := range l.links() {
		l.result.Sent += link.sent
		l.result.Received += link.received
	}
	if l.Rate == 0 {
		return
	}
	for _, w := range l.workers {
		if w.waiting > 0 {
			l.result.Latency.Add(now - w.began)
		}
	}
	for ; l.due < now; l.due += l.gap() {
		l.result.Latency.Add(now - l.due)
	}
}

// gap returns the time between two operations at a fixed rate.
func (l *loop) gap() time.Duration { return time.Duration(float64(time.Second) / l.Rate) }

// startIdle starts operations that are due on idle clients.
func (l *loop) startIdle(now time.Duration) error {
	for len(l.idle) > 0 && (l.Rate == 0 || l.due <= now) {
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

// timeout returns the time until the next operation or held answer is due, at most
// 20 ms.
func (l *loop) timeout() time.Duration {
	next := time.Duration(math.MaxInt64)
	if l.Rate > 0 && len(l.idle) > 0 {
		next = l.due
	}
	if len(l.held) > 0 {
		next = min(next, l.held[0].read)
	}
	return min(max(next-time.Since(l.start), 1), 20*time.Millisecond)
}

// step sends the request of a step.
func (l *loop) step(w *worker, s Step) error {
	w.link, w.waiting = w.Links[s.Link], s.Answers
	w.link.ids = w.link.ids[:0]
	w.link.sent += int64(len(s.Bytes))
	n, errno := transfer(unix.SYS_SENDTO, w.link.fd, s.Bytes)
	if errno != 0 {
		n = 0
		if err := again(errno); err != nil {
			return err
		}
	}
	if n == len(s.Bytes) {
		return nil
	}
	w.link.out = append(w.link.out, s.Bytes[n:]...)
	return l.change(w.link, reading|unix.EPOLLOUT)
}

// change changes the events for which epoll watches a link.
func (l *loop) change(link *Link, events uint32) error {
	return unix.EpollCtl(l.poll, unix.EPOLL_CTL_MOD, link.fd, &unix.EpollEvent{Events: events, Fd: int32(link.fd)})
}

// event handles one event of epoll.
func (l *loop) event(fd int) error {
	w := l.byLink[fd]
	link := w.link
	if link == nil || link.fd != fd {
		return fmt.Errorf("a server closed a connection on which no answer was due: %w", io.ErrUnexpectedEOF)
	}
	if len(link.out) > 0 {
		if err := link.flush(); err != nil {
			return err
		}
		if len(link.out) == 0 {
			if err := l.change(link, reading); err != nil {
				return err
			}
		}
	}
	answers, err := link.receive()
	if err != nil {
		return err
	}
	if w.waiting -= answers; w.waiting > 0 || answers == 0 {
		return nil
	}
	if l.RTT > 0 {
		w.read = time.Since(l.start) + l.RTT
		l.held = append(l.held, w)
		return nil
	}
	return l.answered(w)
}

// answered continues a client that has all answers of its step.
func (l *loop) answered(w *worker) error {
	next, more := w.Work.Then(w.link.ids)
	if more {
		return l.step(w, next)
	}
	now := time.Since(l.start)
	if l.counts {
		l.result.Operations++
		l.result.Latency.Add(now - w.began)
	}
	if l.Rate > 0 {
		l.idle = append(l.idle, w)
		return nil
	}
	w.began = now
	return l.step(w, w.Work.Begin())
}
