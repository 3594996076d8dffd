package wire

import (
	"net"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// rawRead and rawWrite read and write sockets of the event loop. These sockets are
// non-blocking, so that a raw system call never blocks the thread. A raw call saves
// the scheduler's bookkeeping. recvfrom and sendto save the file system's part of
// read and write. On 386 and s390x Linux has them since version 4.3.
func rawRead(fd int, p []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), 0, 0, 0)
	return int(n), errno
}

func rawWrite(fd int, p []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), syscall.MSG_NOSIGNAL, 0, 0)
	return int(n), errno
}

// tuneTCP sets TCP_USER_TIMEOUT (tcp(7)). For a peer on the same machine it sets the
// congestion control reno: BBR, the default of some systems, paces packets, which
// costs a tenth of a query's CPU.
func tuneTCP(raw syscall.RawConn, loopback bool) {
	_ = raw.Control(func(fd uintptr) { // best effort: keepalive remains
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(userTimeout.Milliseconds()))
		if loopback {
			_ = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno")
		}
	})
}

// peerUID returns the system's user at the other end of a Unix socket (unix(7),
// SO_PEERCRED).
func peerUID(nc *net.UnixConn) (uid uint32, ok bool) {
	raw, err := nc.SyscallConn()
	if err != nil {
		return 0, false
	}
	err = raw.Control(func(fd uintptr) {
		if c, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			uid, ok = c.Uid, true
		}
	})
	return uid, ok && err == nil
}
