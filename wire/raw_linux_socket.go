//go:build linux && !386 && !s390x

package wire

import "syscall"

const (
	sysReceive = syscall.SYS_RECVFROM
	sysSend    = syscall.SYS_SENDTO
)
