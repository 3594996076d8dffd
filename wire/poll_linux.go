//go:build !goroutines

package wire

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const (
	// batchSize is how many sockets one epoll_pwait reports.
	batchSize = 64

	// A processor gets at least minPart of them. Two processors share from
	// maxPart on: few processors are better left to the kernel's half of the
	// work, and to clients on the same machine.
	minPart, maxPart = 4, 32

	// stuckAfter is how often the watchdog looks at the loop, and so how long a
	// statement keeps other connections waiting before the loop goes on without
	// it. After quietAfter looks without traffic it sleeps.
	stuckAfter = 4 * time.Millisecond
	quietAfter = 250

	// lostAfter is how long a statement may go on after its client has closed the
	// connection. A client that only ends its input gets the answers that take less.
	lostAfter = 250 * time.Millisecond

	epollET = 1 << 31 // syscall.EPOLLET is negative
)

// poller is the loop of the connections that have logged in. While such a
// connection waits for its client it has no goroutine: epoll(7) tells the loop
// whose input has arrived, and the loop answers it there and then. That saves
// the scheduler's work between two queries, which is about as much as the
// query itself.
//
// Nothing may hold up the loop. A statement that is about to wait (Conn.Wait, a
// full socket), that has much to send, or that takes longer than stuckAfter
// keeps its goroutine, and another one goes on with the loop.
type poller struct {
	epfd  int
	bell  int // eventfd(2) that ends the loop
	procs int
	part  int // how many sockets must be ready for another processor to be worth waking, which costs as much as a query
	most  int // how many of them a processor takes at a time, so that something is left for the others

	lead   *batch
	shares []*batch
	start  func(share *batch)                    // lets another goroutine run it
	ask    func(b *batch, most, timeout int) int // fills a batch, and says how many there are: pwait

	sockets [maxFD >> chunkBits]atomic.Pointer[[1 << chunkBits]atomic.Pointer[socket]]
	serial  atomic.Uint32

	asleep atomic.Bool // the watchdog
	wake   chan struct{}
	done   chan struct{}
}

// Sockets are found by their descriptor, a small number.
const (
	chunkBits = 10
	maxFD     = 1 << 20
)

// batch is what one epoll_pwait reported, or a share of it. One batch, the lead, is
// polled for by a goroutine that waits; it wakes others where much is ready, and
// they go on by themselves, each with its own polls, as long as there is. Else the
// lead would have to be done whenever one of them is. The goroutine that
// works on it owns it; whoever changes step from what the owner set to 0
// becomes the owner.
type batch struct {
	events  [batchSize]syscall.EpollEvent
	n, next int
	serial  uint64
	step    atomic.Uint64 // the event being worked on, 0: none
	seen    uint64        // the watchdog's: step at its last look
	share   bool          // another batch waits
	taken   atomic.Bool   // of a share: in use
}

func newPoller() (*poller, error) {
	epfd, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll_create1: %w", err)
	}
	bell, _, errno := syscall.Syscall(syscall.SYS_EVENTFD2, 0, syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	if errno != 0 {
		_ = syscall.Close(epfd)
		return nil, fmt.Errorf("eventfd2: %w", errno)
	}
	p := &poller{epfd: epfd, bell: int(bell), wake: make(chan struct{}, 1), done: make(chan struct{})}
	p.prepare(runtime.GOMAXPROCS(0))
	p.start, p.ask = func(share *batch) { go p.run(share) }, p.pwait
	if err := syscall.EpollCtl(epfd, syscall.EPOLL_CTL_ADD, p.bell, &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(p.bell)}); err != nil {
		_ = syscall.Close(epfd)
		_ = syscall.Close(p.bell)
		return nil, fmt.Errorf("epoll_ctl: %w", err)
	}
	go p.run(p.lead)
	go p.watch()
	return p, nil
}

// prepare makes the batches for a number of processors.
func (p *poller) prepare(procs int) {
	p.procs, p.part, p.most, p.lead = procs, max(minPart, maxPart/procs), max(minPart, batchSize/procs), &batch{}
	for range procs - 1 {
		p.shares = append(p.shares, &batch{share: true})
	}
}

// close ends the loop. No socket may be left.
func (p *poller) close() {
	close(p.done)
	one := uint64(1)
	_, _, _ = syscall.Syscall(syscall.SYS_WRITE, uintptr(p.bell), uintptr(unsafe.Pointer(&one)), 8) // an eventfd takes it
}

// end closes what the loop polls, when nobody polls any more.
func (p *poller) end() {
	for _, share := range p.shares {
		for share.taken.Load() {
			runtime.Gosched() // it has no socket left to serve, and ends
		}
	}
	_ = syscall.Close(p.epfd)
	_ = syscall.Close(p.bell)
}

// run works on a batch and polls for the next one, until the batch is taken over,
// the poller is closed, or there is too little to do for a share.
func (p *poller) run(b *batch) {
	for {
		for b.next < b.n {
			event := b.events[b.next]
			b.next++
			if int(event.Fd) == p.bell {
				if b.share {
					continue // the bell rings until the loop has heard it
				}
				p.end()
				return
			}
			serial := p.begin(b)
			p.dispatch(event, b, serial)
			if !b.step.CompareAndSwap(serial, 0) {
				return
			}
		}
		if !p.more(b) {
			return
		}
	}
}

// more gets a batch its next events, or ends a share that finds too few.
func (p *poller) more(b *batch) bool {
	if !b.share {
		p.poll(b)
		p.deal(b)
		return true
	}
	runtime.Gosched() // what left the loop gets this processor first
	if b.n < minPart || p.ask(b, p.most, 0) == 0 {
		b.taken.Store(false)
		return false
	}
	return true
}

// begin says that the owner of a batch works on its next event, and wakes the
// watchdog if it sleeps. The order counts, here and in doze: each side says
// what it does before it looks at the other, so one of them sees the other
// whatever happens in between. A loop that looked first could find the watchdog
// awake, which finds nothing to watch and falls asleep, and then be stuck
// without it.
func (p *poller) begin(b *batch) (serial uint64) {
	serial = b.serial + 1
	b.serial = serial
	b.step.Store(serial) // from here on the watchdog may give the batch to another owner, who counts on
	if p.asleep.Load() && p.asleep.CompareAndSwap(true, false) {
		p.wake <- struct{}{} // has room: a watchdog takes it before it sleeps again
	}
	return serial
}

// doze says that the watchdog is about to wait for wake. It reports false when
// something is being worked on after all.
func (p *poller) doze() bool {
	p.asleep.Store(true)
	for i := -1; i < len(p.shares); i++ {
		if p.batch(i).step.Load() != 0 {
			return !p.asleep.CompareAndSwap(true, false) // else begin has seen it, and wakes
		}
	}
	return true
}

// batch is the one that polls, for -1, or a share.
func (p *poller) batch(i int) *batch {
	if i < 0 {
		return p.lead
	}
	return p.shares[i]
}

// poll waits for the next events. Under load it asks first without giving up
// the processor.
func (p *poller) poll(b *batch) {
	room := p.room()
	if b.n > 1 && p.ask(b, room, 0) > 0 {
		return
	}
	if p.procs == 1 {
		runtime.Gosched() // nobody else could run what is ready
	}
	for p.ask(b, room, forever) == 0 {
	}
}

// forever is how long epoll_pwait waits where it waits.
const forever = -1

// pwait asks the kernel for up to most events.
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

// room is for how many events there are processors.
func (p *poller) room() int {
	n := p.most
	for _, share := range p.shares {
		if !share.taken.Load() {
			n += p.most
		}
	}
	return min(n, batchSize)
}

// deal gives parts of a large batch to other processors.
func (p *poller) deal(b *batch) {
	parts := min(b.n/p.part, p.procs)
	for _, share := range p.shares {
		if parts < 2 {
			return
		}
		if !share.taken.CompareAndSwap(false, true) {
			continue
		}
		size := b.n / parts
		b.n -= size
		share.n, share.next = copy(share.events[:], b.events[b.n:b.n+size]), 0
		p.start(share)
		parts--
	}
}

// dispatch does what an event asks for.
func (p *poller) dispatch(event syscall.EpollEvent, b *batch, serial uint64) {
	s := p.find(int(event.Fd))
	if s == nil || s.serial != uint32(event.Pad) {
		return // closed meanwhile
	}
	if event.Events&(syscall.EPOLLRDHUP|syscall.EPOLLHUP|syscall.EPOLLERR) != 0 {
		s.hangup.Store(true)
	}
	if event.Events&(syscall.EPOLLOUT|syscall.EPOLLHUP|syscall.EPOLLERR) != 0 {
		s.wakeWriter()
	}
	switch {
	case event.Events&^uint32(syscall.EPOLLOUT) == 0:
	case s.claim():
		s.conn.serveReady(loop{p, b, serial})
	case s.hangup.Load():
		time.AfterFunc(lostAfter, s.lost)
	}
}

// loop is the one that serves a connection; the zero value is none.
type loop struct {
	poller *poller
	batch  *batch
	serial uint64
}

// handOver lets another goroutine go on with the loop, since this connection
// will take its time.
func (l *loop) handOver() {
	if l.batch != nil && l.batch.step.CompareAndSwap(l.serial, 0) {
		go l.poller.run(l.batch)
	}
	l.batch = nil
}

// watch takes batches over in which nothing moves.
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
		moved := uint64(0)
		for i := -1; i < len(p.shares); i++ {
			b := p.batch(i)
			step := b.step.Load()
			moved += step
			if step != 0 && step == b.seen && b.step.CompareAndSwap(step, 0) {
				go p.run(b)
			}
			b.seen = step
		}
		if moved != last {
			quiet, last = 0, moved
			continue
		}
		if quiet++; quiet < quietAfter || !p.doze() {
			continue
		}
		ticker.Stop()
		select {
		case <-p.done:
			return
		case <-p.wake:
		}
		quiet = 0
		ticker.Reset(stuckAfter)
	}
}

func (p *poller) find(fd int) *socket {
	if chunk := p.sockets[fd>>chunkBits].Load(); chunk != nil {
		return chunk[fd&(1<<chunkBits-1)].Load()
	}
	return nil
}

func (p *poller) put(fd int, s *socket) {
	slot := &p.sockets[fd>>chunkBits]
	if slot.Load() == nil {
		slot.CompareAndSwap(nil, new([1 << chunkBits]atomic.Pointer[socket]))
	}
	slot.Load()[fd&(1<<chunkBits-1)].Store(s)
}
