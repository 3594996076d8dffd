//go:build !linux

package wire

import (
	"syscall"
	"time"
)

func rawRead(int, []byte) (int, syscall.Errno)  { return 0, syscall.ENOSYS }
func rawWrite(int, []byte) (int, syscall.Errno) { return 0, syscall.ENOSYS }

func setUserTimeout(syscall.RawConn, time.Duration) {}

func setReno(syscall.RawConn) {}
