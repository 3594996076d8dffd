//go:build linux && (386 || s390x)

package wire

import "syscall"

// These systems have recvfrom and sendto only behind socketcall(2), which takes its
// arguments in memory. read and write ignore the flags. Go's runtime ignores the
// signal that MSG_NOSIGNAL prevents.
const (
	sysReceive = syscall.SYS_READ
	sysSend    = syscall.SYS_WRITE
)
