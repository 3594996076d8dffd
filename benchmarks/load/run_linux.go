package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// duplicate returns a duplicate of a connection's descriptor. On loopback it sets
// reno, the cheapest congestion control, for all servers alike.
func duplicate(conn net.Conn) (int, error) {
	sc, ok := conn.(syscall.Conn)
	if !ok {
		return 0, fmt.Errorf("a %T has no descriptor", conn)
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return 0, err
	}
	var fd int
	var dup error
	if err := raw.Control(func(original uintptr) {
		fd, dup = unix.FcntlInt(original, unix.F_DUPFD_CLOEXEC, 0)
		if a, ok := conn.RemoteAddr().(*net.TCPAddr); ok && a.IP.IsLoopback() {
			_ = unix.SetsockoptString(int(original), unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno") // best effort
		}
	}); err != nil {
		return 0, err
	}
	return fd, dup
}

// Close closes the connection.
func (l *Link) Close() {
	_ = unix.Close(l.fd)
}

// send sends as much as the socket accepts, and keeps the rest in l.out.
func (l *Link) send(b []byte) error {
	l.sent += int64(len(b))
	n, errno := transfer(unix.SYS_SENDTO, l.fd, b)
	switch {
	case errno == unix.EAGAIN:
		n = 0
	case errno != 0:
		return errno
	}
	if n < len(b) {
		l.out = append(l.out, b[n:]...)
	}
	return nil
}

// flush sends l.out, as much as the socket accepts.
func (l *Link) flush() error {
	n, errno := transfer(unix.SYS_SENDTO, l.fd, l.out)
	switch {
	case errno == unix.EAGAIN:
		return nil
	case errno != 0:
		return errno
	}
	l.out = l.out[:copy(l.out, l.out[n:])]
	return nil
}

// transfer sends or receives on a socket that does not block. A raw system call does
// not notify Go's scheduler, which saves processor time: the server runs on the same
// machine.
func transfer(call uintptr, fd int, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), unix.MSG_NOSIGNAL, 0, 0)
	return int(n), errno
}

// read receives once. It returns false if there was nothing to receive.
func (l *Link) read() (bool, error) {
	n, errno := transfer(unix.SYS_RECVFROM, l.fd, l.in[l.filled:])
	switch {
	case errno == unix.EAGAIN || errno == unix.EINTR:
		return false, nil
	case errno != 0:
		return false, errno
	case n == 0:
		return false, io.ErrUnexpectedEOF
	}
	l.filled += n
	l.received += int64(n)
	return true, nil
}

// exchange sends a request and waits for its answers.
func (l *Link) exchange(ctx context.Context, request []byte, answers int) ([]ID, error) {
	l.ids = l.ids[:0]
	if err := l.send(request); err != nil {
		return nil, err
	}
	for answers > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		events := int16(unix.POLLIN)
		if len(l.out) > 0 {
			events |= unix.POLLOUT
		}
		poll := []unix.PollFd{{Fd: int32(l.fd), Events: events}}
		if n, err := unix.Poll(poll, 100); err != nil && !errors.Is(err, unix.EINTR) {
			return nil, err
		} else if n < 1 {
			continue
		}
		if len(l.out) > 0 {
			if err := l.flush(); err != nil {
				return nil, err
			}
		}
		if poll[0].Revents&^unix.POLLOUT == 0 {
			continue
		}
		if received, err := l.read(); err != nil {
			return nil, err
		} else if !received {
			continue
		}
		n, err := l.scan()
		if err != nil {
			return nil, err
		}
		answers -= n
	}
	return l.ids, nil
}

// worker is the state of a client during a run.
type worker struct {
	*Client
	link    *Link // link of the present step
	waiting int   // answers that have not arrived
	began   time.Duration
}

// loop is the event loop of one run. All times are since its start.
type loop struct {
	Config
	poll    int // epoll descriptor
	timer   int // timerfd that wakes the loop when the next operation or answer is due; -1: none
	workers []worker
	byLink  []*worker // by descriptor
	start   time.Time
	idle    []*worker     // clients without an operation
	due     time.Duration // start of the next operation, at a fixed rate
	armed   time.Duration // time to which the timer is set
	held    []held        // answers that are delayed by RTT, in their order
	counts  bool          // the warm-up is over
	result  Result
}

// held is a client whose answers have arrived, and count as read at due.
type held struct {
	*worker
	due time.Duration
}

// Run measures. It ends when ctx ends, when a server returns an error or closes a
// connection, or when no answer arrives within answerTimeout.
func Run(ctx context.Context, c Config) (Result, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	l := &loop{Config: c, timer: -1}
	var err error
	if l.poll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return Result{}, err
	}
	defer func() { _ = unix.Close(l.poll) }()
	if c.Rate > 0 || c.RTT > 0 {
		if l.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC); err != nil {
			return Result{}, err
		}
		defer func() { _ = unix.Close(l.timer) }()
		if err := l.add(l.timer, unix.EPOLLIN); err != nil {
			return Result{}, err
		}
	}
	l.workers = make([]worker, len(c.Clients))
	for i := range c.Clients {
		w := &l.workers[i]
		w.Client = &c.Clients[i]
		for _, link := range w.Links {
			l.byLink = append(l.byLink, make([]*worker, max(0, link.fd+1-len(l.byLink)))...)
			l.byLink[link.fd] = w
			if err := l.add(link.fd, reading); err != nil {
				return Result{}, err
			}
		}
		l.idle = append(l.idle, w)
	}
	return l.run(ctx)
}

const reading = unix.EPOLLIN | unix.EPOLLRDHUP

func (l *loop) add(fd int, events uint32) error {
	return unix.EpollCtl(l.poll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
}

// watch changes the events for which epoll watches a link.
func (l *loop) watch(link *Link, events uint32) error {
	return unix.EpollCtl(l.poll, unix.EPOLL_CTL_MOD, link.fd, &unix.EpollEvent{Events: events, Fd: int32(link.fd)})
}

// run is the event loop.
func (l *loop) run(ctx context.Context) (Result, error) {
	l.start = time.Now()
	lastAnswer := time.Duration(0)
	var begin time.Duration // of the measurement
	events, n := make([]unix.EpollEvent, 256), 0
	for {
		now := time.Since(l.start)
		switch {
		case !l.counts && now >= l.Warm:
			l.measure()
			begin = time.Since(l.start)
			now = begin
		case l.counts && now >= begin+l.Length && (l.result.Operations > 0 || l.Rate > 0):
			l.finish(now)
			l.result.Elapsed = now - begin
			if l.Sample != nil {
				l.Sample()
			}
			return l.result, nil
		case now-lastAnswer > answerTimeout:
			return Result{}, errNoAnswer
		}
		for len(l.held) > 0 && l.held[0].due <= now {
			w := l.held[0].worker
			l.held = l.held[:copy(l.held, l.held[1:])]
			if err := l.answered(w); err != nil {
				return Result{}, err
			}
		}
		err := l.startIdle(now)
		if err == nil {
			err = l.arm()
		}
		if err != nil {
			return Result{}, err
		}
		if n = l.ready(events, n > 1); n == 0 {
			if n, err = unix.EpollWait(l.poll, events, 20); err != nil && !errors.Is(err, unix.EINTR) {
				return Result{}, err
			}
		}
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		if n > 0 {
			lastAnswer = now
		}
		for _, e := range events[:max(n, 0)] {
			if err := l.event(e); err != nil {
				return Result{}, err
			}
		}
	}
}

// ready polls for events without waiting, if events are likely. Its raw system call
// is cheaper than EpollWait.
func (l *loop) ready(events []unix.EpollEvent, likely bool) int {
	if !likely {
		return 0
	}
	n, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(l.poll), uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)), 0, 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// measure ends the warm-up and resets the counters.
func (l *loop) measure() {
	l.counts = true
	if l.Sample != nil {
		l.Sample()
	}
	l.result = Result{}
	for i := range l.workers {
		for _, link := range l.workers[i].Links {
			link.sent, link.received = 0, 0
		}
	}
}

// finish sums up the bytes of all links. At a fixed rate, operations that are
// running or due count as if they ended now.
func (l *loop) finish(now time.Duration) {
	for i := range l.workers {
		w := &l.workers[i]
		if l.Rate > 0 && w.waiting > 0 {
			l.result.Latency.Add(now - w.began)
		}
		for _, link := range w.Links {
			l.result.Sent += link.sent
			l.result.Received += link.received
		}
	}
	for ; l.Rate > 0 && l.due < now; l.due += l.gap() {
		l.result.Latency.Add(now - l.due)
	}
}

// gap returns the time between two operations at a fixed rate.
func (l *loop) gap() time.Duration { return time.Duration(float64(time.Second) / l.Rate) }

// startIdle starts operations that are due on idle clients.
func (l *loop) startIdle(now time.Duration) error {
	for len(l.idle) > 0 && (l.Rate == 0 || l.due <= now) {
		w := l.idle[0]
		l.idle = l.idle[:copy(l.idle, l.idle[1:])] // first in, first out
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

// arm sets the timer to the time at which the next operation or held answer is due.
func (l *loop) arm() error {
	next := time.Duration(math.MaxInt64)
	if l.Rate > 0 && len(l.idle) > 0 {
		next = l.due
	}
	if len(l.held) > 0 {
		next = min(next, l.held[0].due)
	}
	if next == math.MaxInt64 || next == l.armed {
		return nil
	}
	l.armed = next
	wait := unix.NsecToTimespec(max(int64(next-time.Since(l.start)), 1))
	return unix.TimerfdSettime(l.timer, 0, &unix.ItimerSpec{Value: wait}, nil)
}

// step sends the request of a step.
func (l *loop) step(w *worker, s Step) error {
	w.link, w.waiting = w.Links[s.Link], s.Answers
	w.link.ids = w.link.ids[:0]
	if err := w.link.send(s.Bytes); err != nil || len(w.link.out) == 0 {
		return err
	}
	return l.watch(w.link, reading|unix.EPOLLOUT)
}

// event handles one event of epoll.
func (l *loop) event(e unix.EpollEvent) error {
	if int(e.Fd) == l.timer {
		var expirations [8]byte
		_, err := unix.Read(l.timer, expirations[:])
		if errors.Is(err, unix.EAGAIN) {
			return nil
		}
		return err
	}
	w := l.byLink[int(e.Fd)]
	link := w.link
	if link == nil || link.fd != int(e.Fd) {
		return fmt.Errorf("a server closed a connection on which no answer was due: %w", io.ErrUnexpectedEOF)
	}
	if len(link.out) > 0 {
		if err := link.flush(); err != nil {
			return err
		}
		if len(link.out) == 0 {
			if err := l.watch(link, reading); err != nil {
				return err
			}
		}
	}
	if received, err := link.read(); err != nil || !received {
		return err
	}
	answers, err := link.scan()
	if err != nil {
		return err
	}
	if w.waiting -= answers; w.waiting > 0 || answers == 0 {
		return nil
	}
	if l.RTT > 0 {
		l.held = append(l.held, held{w, time.Since(l.start) + l.RTT})
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

// Once runs one operation of each client, one after the other.
func Once(ctx context.Context, clients []Client) error {
	for _, c := range clients {
		for step, more := c.Work.Begin(), true; more; {
			ids, err := c.Links[step.Link].exchange(ctx, step.Bytes, step.Answers)
			if err != nil {
				return err
			}
			step, more = c.Work.Then(ids)
		}
	}
	return nil
}
