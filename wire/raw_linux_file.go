//go:build linux && (386 || s390x)

package wire

import "syscall"

// These systems have socketcall(2) only, whose arguments are in memory. read and
// write ignore the flags; Go's runtime ignores the signal that MSG_NOSIGNAL
// prevents.
const (
	sysReceive = syscall.SYS_READ
	sysSend    = syscall.SYS_WRITE
)
