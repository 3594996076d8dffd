package main

import (
	"net"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestRollingRestart restarts three servers one after the other while clients use
// them by libpq's list of hosts. No statement fails.
func TestRollingRestart(t *testing.T) {
	psql, err := exec.LookPath("psql")
	if err != nil {
		t.Skip("needs psql")
	}
	var ports []string
	var servers []*process
	var data []string
	for range 3 {
		dir := t.TempDir()
		s := startServer(t, nil, "--data", dir, "--drain-delay", "200ms", "--http", "127.0.0.1:0")
		_, port, err := net.SplitHostPort(s.address)
		if err != nil {
			t.Fatal(err)
		}
		ports, servers, data = append(ports, port), append(servers, s), append(data, dir)
	}
	dsn := "host=127.0.0.1,127.0.0.1,127.0.0.1 port=" + strings.Join(ports, ",") + " user=app dbname=nextid sslmode=disable connect_timeout=5"
	var clients sync.WaitGroup
	var asked atomic.Int64
	stop := make(chan struct{})
	for range 3 {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				out, err := exec.Command(psql, "-X", "-A", "-t", "-c", "SELECT next_id('orders')", dsn).CombinedOutput()
				if asked.Add(1); err != nil {
					t.Errorf("a statement failed: %v, %s", err, out)
				}
			}
		})
	}
	for i, s := range servers {
		before := asked.Load()
		for asked.Load() < before+10 {
			time.Sleep(10 * time.Millisecond) //nolint:forbidigo // other processes
		}
		s.signal(syscall.SIGTERM)
		s.waitLine("draining")
		if i == 0 { // still served, but /readyz fails
			if code, body := s.ask("/readyz"); code != 503 {
				t.Errorf("/readyz of a server that drains: %d %s", code, body)
			}
			draw(t, s.connect(), "orders")
		}
		if code := s.wait(); code != 0 {
			t.Errorf("the server ended with %d", code)
		}
		servers[i] = startServer(t, nil, "--data", data[i], "--pg", "127.0.0.1:"+ports[i])
	}
	close(stop)
	clients.Wait()
	t.Logf("%d statements", asked.Load())
}
