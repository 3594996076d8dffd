package wiretest

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"
)

// WaitLimit bounds every wait of a test.
const WaitLimit = 20 * time.Second

// Server is a wire.Server.
type Server interface {
	Serve(l net.Listener) error
	Shutdown(ctx context.Context) error
}

// Serve serves on l until the test ends. It checks that s.Serve then returns closed.
func Serve(t testing.TB, s Server, l net.Listener, closed error) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), WaitLimit)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-done; !errors.Is(err, closed) {
			t.Errorf("Serve ended with %v", err)
		}
	})
}
