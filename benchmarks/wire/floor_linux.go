package wire

import (
	"errors"
	"net"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Floor answers every query on a TCP listener with one and the same row, until the
// process ends. Each of its threads has an epoll(7). The first thread accepts the
// clients and hands them to the threads in turn. A single thread polls for pollTime
// before it sleeps. It speaks PostgreSQL's protocol, or MySQL's.
func Floor(l net.Listener, mysql bool, threads int) error {
	defer runtime.KeepAlive(l) // the collector would close it
	raw, err := l.(syscall.Conn).SyscallConn()
	if err != nil {
		return err
	}
	listening := -1
	if err := raw.Control(func(fd uintptr) { listening = int(fd) }); err != nil {
		return err
	}
	polls := make([]int, max(threads, 1))
	for i := range polls {
		if polls[i], err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
			return err
		}
	}
	if err := watch(polls[0], listening, unix.EPOLLIN); err != nil {
		return err
	}
	failed := make(chan error)
	for i, poll := range polls {
		go func() {
			runtime.LockOSThread()
			t := floorThread{poll: poll, listening: -1, mysql: mysql, conns: map[int]*floorConn{}}
			if len(polls) == 1 {
				t.pollTime = pollTime
			}
			if i == 0 {
				t.listening, t.polls = listening, polls
			}
			failed <- t.run()
		}()
	}
	return <-failed
}

// pollTime is longer than a client on the same machine takes between two queries.
// Waking a thread that sleeps takes longer than to answer one: with one client, a
// floor that slept at once was slower than nextid, whose runtime keeps a processor
// awake.
const pollTime = 50 * time.Microsecond

// floorThread serves the clients of one epoll.
type floorThread struct {
	poll      int
	listening int   // -1: another thread accepts
	polls     []int // of all threads, for the one that accepts
	mysql     bool
	pollTime  time.Duration
	accepted  int
	conns     map[int]*floorConn
}

func (t *floorThread) run() error {
	events := make([]unix.EpollEvent, 256)
	buffer, out := make([]byte, 64<<10), make([]byte, 0, 1<<20)
	for {
		n, err := t.wait(events)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		for _, e := range events[:max(n, 0)] {
			fd := int(e.Fd)
			if fd == t.listening {
				if err := t.accept(); err != nil {
					return err
				}
				continue
			}
			out = t.serve(fd, buffer, out)
		}
	}
}

// serve answers what has arrived. It reads until a read is short, since epoll tells of
// input once (EPOLLET).
func (t *floorThread) serve(fd int, buffer, out []byte) []byte {
	for {
		n, errno := transfer(unix.SYS_READ, fd, buffer)
		if errno == unix.EAGAIN {
			return out
		}
		if errno != 0 || n == 0 {
			delete(t.conns, fd)
			_ = unix.Close(fd) // the client has left
			return out
		}
		out = t.conn(fd).answer(buffer[:n], out[:0])
		for sent := 0; sent < len(out); {
			n, errno := transfer(unix.SYS_WRITE, fd, out[sent:])
			if errno != 0 && errno != unix.EAGAIN {
				break // the next read fails
			}
			sent += n
		}
		if n < len(buffer) {
			return out
		}
	}
}

// transfer is read(2) or write(2) on a socket that does not block. Like nextid, it
// does not tell Go's scheduler, which would cost more than the floor's own work.
func transfer(call uintptr, fd int, b []byte) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

// wait waits for events.
func (t *floorThread) wait(events []unix.EpollEvent) (int, error) {
	for begin := time.Now(); t.pollTime > 0 && time.Since(begin) < t.pollTime; {
		n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(t.poll), uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)), 0, 0, 0)
		if errno == 0 && n > 0 {
			return int(n), nil
		}
	}
	return unix.EpollWait(t.poll, events, -1)
}

// accept takes a client and hands it to the next thread.
func (t *floorThread) accept() error {
	client, _, err := unix.Accept4(t.listening, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
	if err != nil {
		return nil //nolint:nilerr // the client is gone again
	}
	if t.mysql {
		_, _ = unix.Write(client, []byte(mysqlFloorHello)) // the read tells
	}
	t.accepted++
	return welcome(t.polls[t.accepted%len(t.polls)], client)
}

// conn is the state of a client, which is made with its first bytes.
func (t *floorThread) conn(fd int) *floorConn {
	c := t.conns[fd]
	if c == nil {
		c = &floorConn{message: (*floorConn).postgres}
		if t.mysql {
			c.message = (*floorConn).mysql
		}
		t.conns[fd] = c
	}
	return c
}

// welcome makes a client's socket as cheap as nextid does.
func welcome(poll, client int) error {
	_ = unix.SetsockoptString(client, unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno") // best effort
	return errors.Join(unix.SetsockoptInt(client, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1), watch(poll, client, unix.EPOLLIN|unix.EPOLLET))
}

func watch(poll, fd int, events uint32) error {
	return unix.EpollCtl(poll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
}
