package wire

import (
	"errors"
	"net"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Floor answers every query on a TCP listener with one and the same row,
// until the process ends. It is one thread around epoll. It speaks
// PostgreSQL's protocol, or MySQL's.
func Floor(l net.Listener, mysql bool) error {
	defer runtime.KeepAlive(l) // the collector would close it
	raw, err := l.(syscall.Conn).SyscallConn()
	if err != nil {
		return err
	}
	var listening int
	if err := raw.Control(func(fd uintptr) { listening = int(fd) }); err != nil {
		return err
	}
	poll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return err
	}
	if err := watch(poll, listening); err != nil {
		return err
	}
	conns := map[int]*floorConn{}
	events := make([]unix.EpollEvent, 256)
	buffer, out := make([]byte, 64<<10), make([]byte, 0, 1<<20)
	for {
		n, err := unix.EpollWait(poll, events, -1)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		for _, e := range events[:max(n, 0)] {
			fd := int(e.Fd)
			if fd == listening {
				client, _, err := unix.Accept4(fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
				if err != nil {
					continue // gone again
				}
				if err := welcome(poll, client); err != nil {
					return err
				}
				conns[client] = &floorConn{message: (*floorConn).postgres}
				if mysql {
					conns[client].message = (*floorConn).mysql
					_, _ = unix.Write(client, []byte(mysqlFloorHello)) // the read tells
				}
				continue
			}
			n, err := unix.Read(fd, buffer)
			if errors.Is(err, unix.EAGAIN) {
				continue
			}
			if err != nil || n == 0 {
				delete(conns, fd)
				_ = unix.Close(fd) // the client has left
				continue
			}
			out = conns[fd].answer(buffer[:n], out[:0])
			for sent := 0; sent < len(out); {
				n, err := unix.Write(fd, out[sent:])
				if err != nil && !errors.Is(err, unix.EAGAIN) {
					break // the next read tells
				}
				sent += max(n, 0)
			}
		}
	}
}

// welcome makes a client's socket as cheap as nextid does.
func welcome(poll, client int) error {
	_ = unix.SetsockoptString(client, unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno") // best effort
	return errors.Join(unix.SetsockoptInt(client, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1), watch(poll, client))
}

func watch(poll, fd int) error {
	return unix.EpollCtl(poll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
}
