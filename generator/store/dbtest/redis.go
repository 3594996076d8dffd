package dbtest

import (
	"errors"
	"syscall"
	"testing"
)

// Redis starts a Redis that writes everything to disk at once. settings are
// pairs, such as "appendfsync", "everysec".
func Redis(t testing.TB, settings ...string) *Server {
	t.Helper()
	server := program(t, "redis-server", "redis-server")
	dir, _ := directory(t, "")
	s := &Server{Addr: FreeAddr(t), Dir: dir, t: t, name: "Redis", quit: syscall.SIGTERM}
	s.argv = func() []string {
		argv := []string{
			server, "--bind", "127.0.0.1", "--port", port(s.Addr), "--dir", dir, "--save", "", "--appendonly", "yes",
			"--appendfsync", "always", "--repl-diskless-sync-delay", "0",
		}
		for i := 0; i < len(settings); i += 2 {
			argv = append(argv, "--"+settings[i], settings[i+1])
		}
		return argv
	}
	s.ready = func() error {
		said, err := ask(s.Addr, "PING\r\n")
		if err == nil && said != "+PONG\r\n" {
			err = errors.New(said)
		}
		return err
	}
	return s.begin()
}

// RedisURL is the URL of the server.
func (s *Server) RedisURL() string { return "redis://" + s.Addr }
