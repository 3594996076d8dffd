//go:build !linux

package wire

import (
	"net"
	"syscall"
)

func tuneTCP(syscall.RawConn, bool) {}

// peerUID is known on Linux only.
func peerUID(*net.UnixConn) (uid uint32, ok bool) { return 0, false }
