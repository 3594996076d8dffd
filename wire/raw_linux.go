package wire

import (
	"syscall"
	"time"
	"unsafe"
)

// rawRead and rawWrite read and write sockets of the event loop. These sockets are
// non-blocking, so that a raw system call never blocks the thread. A raw call saves
// the scheduler's bookkeeping. recvfrom and sendto save the file system's part of
// read and write.
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

// setUserTimeout sets TCP_USER_TIMEOUT (tcp(7)).
func setUserTimeout(raw syscall.RawConn, d time.Duration) {
	_ = raw.Control(func(fd uintptr) { // best effort: keepalive remains
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(d.Milliseconds()))
	})
}

// setReno sets the congestion control reno, for a peer on the same machine. BBR, the
// default of some systems, paces packets; that costs a tenth of a query's CPU.
func setReno(raw syscall.RawConn) {
	_ = raw.Control(func(fd uintptr) { // best effort: any other works
		_ = syscall.SetsockoptString(int(fd), syscall.IPPROTO_TCP, syscall.TCP_CONGESTION, "reno")
	})
}
