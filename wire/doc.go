// Package wire is what the protocols share: listeners, limits on
// connections, buffers, and the loop that carries bytes between a socket and
// a protocol's state machine. It knows neither SQL nor a protocol.
//
// One goroutine serves one connection. The protocol is a Machine: it gets
// the bytes that arrived, consumes the complete messages and appends its
// answers to an Out. The loop writes once when the input is used up, so a
// batch of pipelined requests costs one read and one write. While a
// connection is idle it holds no buffer.
package wire
