//go:build !linux

package wire

import (
	"errors"
	"net"
)

// Floor runs on Linux only.
func Floor(net.Listener, bool, int) error { return errors.New("the floor runs on Linux only") }
