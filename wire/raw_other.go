//go:build !linux

package wire

import (
	"syscall"
	"time"
)

// rawInput is only used on Linux.
const rawInput = false

func rawRead(uintptr, []byte) (int, syscall.Errno)  { return 0, syscall.ENOSYS }
func rawWrite(uintptr, []byte) (int, syscall.Errno) { return 0, syscall.ENOSYS }
func hungUp(uintptr) bool                           { return false }

func setUserTimeout(syscall.RawConn, time.Duration) {}
