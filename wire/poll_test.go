//go:build linux && !goroutines

package wire

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"nextid/wire/wiretest"
)

// Statements that wait and do not say so (conn.Wait) must not hold up the
// connections which the same loop serves.
func TestLongStatementsDoNotBlockTheLoop(t *testing.T) {
	for _, procs := range []int{1, 2, 4} {
		t.Run(fmt.Sprint("processors=", procs), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			s, shared := linesServer(Limits{})
			l := listenTCP(t)
			serve(t, s, l)
			const stuck, free = 20, 20
			var waiting, others []*peer
			for range stuck {
				waiting = append(waiting, dialTCP(t, l).login())
			}
			for range free {
				others = append(others, dialTCP(t, l).login())
			}
			for i, p := range waiting {
				p.send("block\n")
				others[i].send(fmt.Sprintf("echo %d\n", i))
			}
			for i, p := range others {
				p.want(strconv.Itoa(i))
			}
			for range stuck {
				<-shared.blocked
				shared.gate <- struct{}{}
			}
			for _, p := range waiting {
				p.want("done")
				p.send("echo after\n")
				p.want("after")
			}
		})
	}
}

// The statement of a client that has left is ended, also if the end of the input and
// the statement are one event of the loop: the client has left while the loop was
// blocked.
func TestStatementThatComesWithTheEndIsLost(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	s, shared := linesServer(Limits{})
	l := listenTCP(t)
	serve(t, s, l)
	blocking, leaving := dialTCP(t, l).login(), dialTCP(t, l).login()
	blocking.send("block\n")
	<-shared.blocked
	leaving.send("block\n")
	_ = leaving.Close() // closed once is enough
	<-shared.blocked
	select {
	case <-shared.lost:
	case <-time.After(waitLimit):
		t.Error("the statement goes on")
	}
	shared.gate <- struct{}{}
	shared.gate <- struct{}{}
	blocking.want("done")
}

// Each answer reaches the connection that sent the query, while connections begin
// and end in any way, descriptors are reused and batches are split.
func TestAnswersReachTheirConnection(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	s, _ := linesServer(Limits{})
	l := listenTCP(t)
	serve(t, s, l)
	var clients sync.WaitGroup
	for client := range 100 {
		random := rand.New(rand.NewPCG(1, uint64(client)))
		clients.Go(func() {
			for visit := range 5 {
				p := dialTCP(t, l)
				p.send("hello\n")
				p.want("welcome")
				for batch := range 20 {
					var questions, answers strings.Builder
					for i := range 1 + random.IntN(8) {
						text := fmt.Sprintf("%d/%d/%d/%d", client, visit, batch, i)
						fmt.Fprintf(&questions, "echo %s\n", text)
						fmt.Fprintf(&answers, "%s\n", text)
					}
					cut := random.IntN(questions.Len()) // a message may come in two pieces
					p.send(questions.String()[:cut])
					p.send(questions.String()[cut:])
					for line := range strings.Lines(answers.String()) {
						p.want(strings.TrimSuffix(line, "\n"))
					}
				}
				switch random.IntN(3) {
				case 0:
					p.send("bye\n")
					p.wantEnd()
				case 1:
					p.send("echo lost\n")
					_ = p.Conn.(*net.TCPConn).SetLinger(0)
				}
				_ = p.Close()
			}
		})
	}
	clients.Wait()
	waitGone(t, s)
}

// The watchdog of a server without traffic finds the next statement that does not
// move.
func TestWatchdogOfAQuietServer(t *testing.T) {
	s, shared := linesServer(Limits{})
	l := listenTCP(t)
	serve(t, s, l)
	stuck, other := dialTCP(t, l).login(), dialTCP(t, l).login()
	time.Sleep((quietAfter + 50) * stuckAfter) //nolint:forbidigo // the kernel's own time
	stuck.send("block\n")
	<-shared.blocked
	other.send("echo alive\n")
	other.want("alive")
	shared.gate <- struct{}{}
	stuck.want("done")
}

// An idle connection has no buffer and no goroutine, only its conn and its machine.
func TestIdleConnectionsAreSmall(t *testing.T) {
	const count, each = 1000, 2500
	s := &Server{NewMachine: func(c *Conn) Machine { return &echo{conn: c} }, Limits: Limits{PerIP: 2 * count}}
	l := listenTCP(t)
	serve(t, s, l)
	dialTCP(t, l)
	before := wiretest.MemoryInUse()
	var conns []net.Conn
	t.Cleanup(func() {
		for _, c := range conns {
			_ = c.Close()
		}
	})
	buf := make([]byte, 5)
	for range count {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
		_, _ = c.Write([]byte("hello"))
		if _, err := io.ReadFull(c, buf); err != nil {
			t.Fatal(err)
		}
	}
	// The client's end lives in this process, too: it is part of the sum.
	got := (wiretest.MemoryInUse() - before) / count
	t.Logf("%d bytes a connection, both ends", got)
	if got > each && !raceEnabled {
		t.Errorf("an idle connection takes %d bytes, want at most %d", got, each)
	}
}
