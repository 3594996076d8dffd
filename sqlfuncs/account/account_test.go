package account

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	"nextid/sqlfuncs/sqlstate"
)

func refusedAs(t *testing.T, err error, want string) {
	t.Helper()
	var e *sqlstate.Error
	if !errors.As(err, &e) || e.Code != sqlstate.OutOfMemory || !strings.Contains(e.Message, want) || e.Hint == "" {
		t.Errorf("got %v, want 53200 about %q and a hint", err, want)
	}
}

func TestWhoIsRefused(t *testing.T) {
	const mb = 1 << 20
	server := NewServer(Limits{Server: 10 * mb, User: 6 * mb, Session: 4 * mb})
	a, b, c := server.Open("ann"), server.Open("ann"), server.Open("bob")
	if err := a.Draw(4 * mb); err != nil {
		t.Fatal(err)
	}
	refusedAs(t, a.Draw(1), "this session may hold 4 MiB")
	if err := b.Draw(2 * mb); err != nil {
		t.Fatal(err)
	}
	refusedAs(t, b.Draw(1), "the sessions of a user may hold 6 MiB")
	if err := c.Draw(4 * mb); err != nil {
		t.Fatal(err)
	}
	d := server.Open("cy")
	refusedAs(t, d.Draw(1), "all sessions together may hold 10 MiB")
	a.Return(2 * mb)
	if err := d.Draw(1 * mb); err != nil {
		t.Error("what was returned is refused:", err)
	}
	for _, s := range []*Session{&a, &b, &c, &d} {
		s.Close()
	}
	if server.Used() != 0 || len(server.users) != 0 {
		t.Errorf("left behind: %d bytes, %d users", server.Used(), len(server.users))
	}
}

// TestNothingIsLost draws and returns at random. The sum of the sessions must not
// exceed the server's count, nor that the limit. At the end the count is 0.
func TestNothingIsLost(t *testing.T) {
	server := NewServer(Limits{Server: 4 << 20})
	var work sync.WaitGroup
	for i := range 8 {
		random := rand.New(rand.NewPCG(1, uint64(i)))
		work.Go(func() {
			s := server.Open(strconv.Itoa(i % 3))
			defer s.Close()
			held := int64(0)
			for range 20_000 {
				n := random.Int64N(100_000)
				switch {
				case random.IntN(2) == 0 && n <= held:
					s.Return(n)
					held -= n
				case s.Draw(n) == nil:
					held += n
				}
				if s.Used() != held || s.drawn < held || held > 1<<20 {
					t.Errorf("%d held, %d counted, %d drawn", held, s.Used(), s.drawn)
					return
				}
				if used := server.Used(); used > 4<<20+8*(2<<20) || used < 0 {
					t.Errorf("the server has counted %d", used)
					return
				}
			}
		})
	}
	work.Wait()
	if server.Used() != 0 || len(server.users) != 0 {
		t.Errorf("left behind: %d bytes, %d users", server.Used(), len(server.users))
	}
}
