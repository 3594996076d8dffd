package wire

import (
	"syscall"
	"time"
	"unsafe"
)

// rawRead and rawWrite are for sockets in the poller. Those are non-blocking,
// so that a raw system call never blocks the thread; going without the
// scheduler's bookkeeping saves some of the CPU of a query, and so does going
// around the file system's half of read and write, where that can be done.
func rawRead(fd int, p []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(sysReceive, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), 0, 0, 0)
	return int(n), errno
}

func rawWrite(fd int, p []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(sysSend, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), syscall.MSG_NOSIGNAL, 0, 0)
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

// setNearby chooses the simplest congestion control for a peer on the same
// machine: there is no congestion, and where BBR is the system's choice its
// pacing costs a tenth of a query's CPU.
func setNearby(raw syscall.RawConn) {
	_ = raw.Control(func(fd uintptr) { // best effort: any other works
		_ = syscall.SetsockoptString(int(fd), syscall.IPPROTO_TCP, syscall.TCP_CONGESTION, "reno")
	})
}
