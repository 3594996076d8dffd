package wire

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

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
