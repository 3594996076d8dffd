//go:build !linux || goroutines

package wire

import (
	"errors"
	"net"
	"sync/atomic"
	"syscall"
)

// poller exists on Linux only. Elsewhere every connection keeps its goroutine.
type poller struct{}

// loop and socket have the methods and fields that Conn uses. No socket is ever
// made.
type loop struct{}

func (*loop) handOver() {}

type socket struct {
	net.Conn
	fd              int
	expired, hangup atomic.Bool
}

func newPoller() (*poller, error)            { return nil, errors.ErrUnsupported }
func (*poller) adopt(*Conn) (*socket, error) { return nil, errors.ErrUnsupported }
func (*poller) close()                       {}
func (*socket) release() bool                { return true }
func (*socket) abandon()                     {}

func rawRead(int, []byte) (int, syscall.Errno)  { return 0, syscall.ENOSYS }
func rawWrite(int, []byte) (int, syscall.Errno) { return 0, syscall.ENOSYS }
