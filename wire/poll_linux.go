//go:build !goroutines

package wire

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// batchSize bounds the events of one epoll_pwait.
	batchSize = 64

	// A part of a split batch has at least minPart events. With two processors a
	// batch is split from maxPart events on: the kernel and clients on the same
	// machine need processors, too.
	minPart, maxPart = 4, 32

	// stuckAfter is the interval of the watchdog. A statement makes other
	// connections wait no longer than twice that. After quietAfter intervals without
	// traffic the interval is quietInterval, until there is some.
	stuckAfter    = 4 * time.Millisecond
	quietAfter    = 250
	quietInterval = 50 * time.Millisecond

	// lostAfter is the time from the end of a client's input to the end of its
	// statement. A client that only half-closes gets the answers that take less.
	lostAfter = 250 * time.Millisecond
)

// poller is the event loop of the connections that have logged in. A connection that
// waits for its client has no goroutine: epoll(7) reports the input, and the loop
// answers it at once. That saves the scheduler's work between two queries, about as
// much as the query itself.
//
// Nothing may block the loop. Three kinds of statements keep their goroutine: one
// that is about to wait (Conn.Wait, a full socket), one that has much to send, one
// that takes longer than stuckAfter. Another goroutine then goes on with the loop.
type poller struct {
	epfd   int
	wakeFD int // wake-up fd, an eventfd(2): ends the loop
	procs  int
	part   int // events that justify waking another processor, which costs as much as a query
	most   int // events that a processor takes at a time, so that others get some

	batches []*batch                              // the main batch, and the helpers
	start   func(helper *batch)                   // runs helper in another goroutine
	fetch   func(b *batch, most, timeout int) int // fills a batch and returns the number of events: pwait

	sockets [maxFD >> chunkBits]atomic.Pointer[[1 << chunkBits]atomic.Pointer[socket]]
	serial  atomic.Uint32 // of the last socket adopted

	done chan struct{} // closed by close
}

// The index of the table of sockets is their file descriptors, which are small. The
// table is allocated in chunks.
const (
	chunkBits = 10
	maxFD     = 1 << 20
)

// batch holds the events of one epoll_pwait, or a part of them. A goroutine waits
// for the events of the main batch, and hands parts of a large one to helper
// batches. A helper polls by itself, without waiting, as long as there are many
// events. Otherwise it would be idle until the main batch is done.
//
// The goroutine that works on a batch owns it. A goroutine that raises step from the
// owner's value becomes the owner.
type batch struct {
	poller  *poller
	events  [batchSize]syscall.EpollEvent
	n, next int
	step    atomic.Uint64 // only grows; odd while an event is being worked on
	seen    uint64        // step at the watchdog's last look
	helper  bool          // not the main batch
	taken   atomic.Bool   // of a helper: in use
}

// newPoller makes the epoll instance and starts the loop and the watchdog. The
// caller must call close.
func newPoller() (*poller, error) {
	epfd, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll_create1: %w", err)
	}
	wakeFD, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		_ = syscall.Close(epfd)
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	p := &poller{epfd: epfd, wakeFD: wakeFD, done: make(chan struct{})}
	p.prepare(runtime.GOMAXPROCS(0))
	p.start, p.fetch = func(helper *batch) { go p.run(helper) }, p.pwait
	if err := syscall.EpollCtl(epfd, syscall.EPOLL_CTL_ADD, p.wakeFD, &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(p.wakeFD)}); err != nil {
		_ = syscall.Close(epfd)
		_ = syscall.Close(p.wakeFD)
		return nil, fmt.Errorf("epoll_ctl: %w", err)
	}
	go p.run(p.batches[0])
	go p.watch()
	return p, nil
}

// prepare makes the batches for a number of processors.
func (p *poller) prepare(procs int) {
	p.procs, p.part, p.most = procs, max(minPart, maxPart/procs), max(minPart, batchSize/procs)
	for i := range procs {
		p.batches = append(p.batches, &batch{poller: p, helper: i > 0})
	}
}

// close ends the loop. Every socket must be closed.
func (p *poller) close() {
	close(p.done)
	_, _ = syscall.Write(p.wakeFD, []byte{1, 0, 0, 0, 0, 0, 0, 0}) // an eventfd takes any number of 8 bytes but -1
}

// end closes the descriptors when no helper polls any more.
func (p *poller) end() {
	for _, helper := range p.batches[1:] {
		for helper.taken.Load() {
			runtime.Gosched() // no socket is left: the helper ends
		}
	}
	_ = syscall.Close(p.epfd)
	_ = syscall.Close(p.wakeFD)
}

// run works on a batch and polls for the next one. It ends when the batch is handed
// over, when the poller is closed, or when a helper finds too few events.
func (p *poller) run(b *batch) {
	for {
		for b.next < b.n {
			event := b.events[b.next]
			b.next++
			if int(event.Fd) == p.wakeFD {
				if b.helper {
					continue // readable until the main batch has seen it
				}
				p.end()
				return
			}
			step := b.step.Load() + 1
			b.step.Store(step) // from here on the watchdog may give the batch to another owner
			p.dispatch(event, b, step)
			if !b.step.CompareAndSwap(step, step+1) {
				return
			}
		}
		if !p.more(b) {
			return
		}
	}
}

// more gets the next events of a batch, or ends a helper that finds too few.
func (p *poller) more(b *batch) bool {
	if !b.helper {
		p.poll(b)
		p.split(b)
		return true
	}
	runtime.Gosched() // goroutines that have left the loop run first
	if b.n < minPart || p.fetch(b, p.most, 0) == 0 {
		b.taken.Store(false)
		return false
	}
	return true
}

// poll waits for the next events. Under load it first polls without giving up the
// processor.
func (p *poller) poll(b *batch) {
	most := p.capacity()
	if b.n > 1 && p.fetch(b, most, 0) > 0 {
		return
	}
	if p.procs == 1 {
		runtime.Gosched() // no other processor runs the goroutines that are ready
	}
	for p.fetch(b, most, -1) == 0 {
	}
}

// pwait fills a batch with up to most events by epoll_pwait(2), and returns their
// number: 0 after an error. timeout is 0, or -1 to wait. A call that may block
// goes through Go's scheduler (Syscall6); a call that only polls does not.
func (p *poller) pwait(b *batch, most, timeout int) int {
	var n uintptr
	var errno syscall.Errno
	events := unsafe.Pointer(&b.events)
	if timeout == 0 {
		n, _, errno = syscall.RawSyscall6(syscall.SYS_EPOLL_PWAIT, uintptr(p.epfd), uintptr(events), uintptr(most), 0, 0, 0)
	} else {
		n, _, errno = syscall.Syscall6(syscall.SYS_EPOLL_PWAIT, uintptr(p.epfd), uintptr(events), uintptr(most), uintptr(timeout), 0, 0)
	}
	if errno != 0 || n == 0 {
		return 0
	}
	b.n, b.next = int(n), 0
	return int(n)
}

// capacity returns the number of events that the free processors take.
func (p *poller) capacity() int {
	n := p.most
	for _, helper := range p.batches[1:] {
		if !helper.taken.Load() {
			n += p.most
		}
	}
	return min(n, batchSize)
}

// split hands parts of a large main batch to helpers that are free.
func (p *poller) split(b *batch) {
	parts := min(b.n/p.part, p.procs)
	for _, helper := range p.batches[1:] {
		if parts < 2 {
			return
		}
		if !helper.taken.CompareAndSwap(false, true) {
			continue
		}
		size := b.n / parts
		b.n -= size
		helper.n, helper.next = copy(helper.events[:], b.events[b.n:b.n+size]), 0
		p.start(helper)
		parts--
	}
}

// dispatch handles an event. A hang-up ends the statements of the connection after
// lostAfter.
func (p *poller) dispatch(event syscall.EpollEvent, b *batch, step uint64) {
	s := p.find(int(event.Fd))
	if s == nil || s.serial != uint32(event.Pad) {
		return // the event is of a socket that has been closed
	}
	if event.Events&(syscall.EPOLLRDHUP|syscall.EPOLLHUP|syscall.EPOLLERR) != 0 {
		s.hangup.Store(true)
		time.AfterFunc(lostAfter, s.lost) // also of a statement that has come with the end of the input
	}
	if event.Events&(syscall.EPOLLOUT|syscall.EPOLLHUP|syscall.EPOLLERR) != 0 {
		s.wakeWriter()
	}
	if event.Events&^uint32(syscall.EPOLLOUT) != 0 && s.claim() {
		s.conn.serveReady(loop{b, step})
	}
}

// loop is the owner's claim on an event; the zero value is none.
type loop struct {
	batch *batch
	step  uint64
}

// handOver lets another goroutine go on with the loop: this connection may take
// long.
func (l *loop) handOver() {
	if l.batch != nil && l.batch.step.CompareAndSwap(l.step, l.step+1) {
		go l.batch.poller.run(l.batch)
	}
	l.batch = nil
}

// watch is the watchdog. It hands over a batch whose event takes too long.
func (p *poller) watch() {
	ticker := time.NewTicker(stuckAfter)
	defer ticker.Stop()
	quiet, last := 0, uint64(0)
	for {
		select {
		case <-p.done:
			return
		case <-ticker.C:
		}
		steps := uint64(0)
		for _, b := range p.batches {
			step := b.step.Load()
			steps += step
			if step%2 == 1 && step == b.seen && b.step.CompareAndSwap(step, step+1) {
				go p.run(b)
			}
			b.seen = step
		}
		if steps == last {
			if quiet++; quiet == quietAfter {
				ticker.Reset(quietInterval)
			}
			continue
		}
		if quiet >= quietAfter {
			ticker.Reset(stuckAfter)
		}
		quiet, last = 0, steps
	}
}

// find returns the socket of a descriptor, nil if there is none.
func (p *poller) find(fd int) *socket {
	if chunk := p.sockets[fd>>chunkBits].Load(); chunk != nil {
		return chunk[fd&(1<<chunkBits-1)].Load()
	}
	return nil
}

// put stores the socket of a descriptor; nil removes it.
func (p *poller) put(fd int, s *socket) {
	slot := &p.sockets[fd>>chunkBits]
	if slot.Load() == nil {
		slot.CompareAndSwap(nil, new([1 << chunkBits]atomic.Pointer[socket]))
	}
	slot.Load()[fd&(1<<chunkBits-1)].Store(s)
}
