package wire

import (
	"net"
	"syscall"
)

// peerUID returns the system's user at the other end of a Unix socket (unix(7),
// SO_PEERCRED).
func peerUID(nc net.Conn) (uid uint32, ok bool) {
	socket, ok := nc.(syscall.Conn)
	if !ok {
		return 0, false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return 0, false
	}
	ok = false
	err = raw.Control(func(fd uintptr) {
		credentials, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
		if err == nil {
			uid, ok = credentials.Uid, true
		}
	})
	return uid, ok && err == nil
}
