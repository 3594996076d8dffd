package wire

import "syscall"

// peerUID asks the kernel who connected to a Unix socket (unix(7),
// SO_PEERCRED).
func peerUID(raw syscall.RawConn) (uid uint32, ok bool) {
	err := raw.Control(func(fd uintptr) {
		credentials, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
		if err == nil {
			uid, ok = credentials.Uid, true
		}
	})
	return uid, ok && err == nil
}
