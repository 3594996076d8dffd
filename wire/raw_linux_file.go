//go:build linux && (386 || s390x)

package wire

import "syscall"

// These systems have one system call for all that sockets do (socketcall(2)),
// whose arguments lie in memory. read and write ignore the flags; the signal
// that MSG_NOSIGNAL prevents is one that Go's runtime throws away.
const (
	sysReceive = syscall.SYS_READ
	sysSend    = syscall.SYS_WRITE
)
