package wire

import (
	"syscall"
	"time"
	"unsafe"
)

// rawRead and rawWrite are for sockets in the poller. Those are non-blocking,
// so that a raw system call never blocks the thread; going without the
// scheduler's bookkeeping saves some of the CPU of a query.
func rawRead(fd int, p []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall(syscall.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	return int(n), errno
}

func rawWrite(fd int, p []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	return int(n), errno
}

// tcpUserTimeout is TCP_USER_TIMEOUT of linux/tcp.h.
const tcpUserTimeout = 18

// setUserTimeout ends connections whose peer does not acknowledge (tcp(7)).
func setUserTimeout(raw syscall.RawConn, d time.Duration) {
	_ = raw.Control(func(fd uintptr) { // best effort: keepalive remains
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(d.Milliseconds()))
	})
}
