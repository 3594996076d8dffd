//go:build !linux

package wire

import (
	"net"
	"syscall"
)

func rawRead(int, []byte) (int, syscall.Errno)  { return 0, syscall.ENOSYS }
func rawWrite(int, []byte) (int, syscall.Errno) { return 0, syscall.ENOSYS }

func tuneTCP(syscall.RawConn, bool) {}

// peerUID is known on Linux only.
func peerUID(*net.UnixConn) (uid uint32, ok bool) { return 0, false }
