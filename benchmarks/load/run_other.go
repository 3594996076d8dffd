//go:build !linux

package load

import (
	"context"
	"errors"
	"net"
)

var errNotHere = errors.New("the benchmarks run on Linux only")

func duplicate(net.Conn) (int, error) { return 0, errNotHere }

// Close closes the connection.
func (l *Link) Close() {}

func (l *Link) exchange(context.Context, []byte, int) ([]ID, error) { return nil, errNotHere }

// Run measures.
func Run(context.Context, Config) (Result, error) { return Result{}, errNotHere }

// Once lets each client do one operation.
func Once(context.Context, []Client) error { return errNotHere }
