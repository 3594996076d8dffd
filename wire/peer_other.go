//go:build !linux

package wire

import "net"

// peerUID is known on Linux only.
func peerUID(net.Conn) (uid uint32, ok bool) { return 0, false }
