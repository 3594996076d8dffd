package web

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"nextid/sqlfuncs"
)

// A request that draws many ids waits for a CPU slot, as a long SQL statement does.
// A short one does not.
func TestLongAnswersTakeCPUSlots(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // one long statement works at a time
	ask, s := start(t, false)
	numbers(t, s)
	for _, request := range []string{
		"POST /api/v1/generators/numbers/ids?n=100000",
		"POST /api/v1/generators/numbers/codes?n=100000",
		"GET /tinyid/id/nextId?bizType=numbers&batchSize=100000",
		"GET /tinyid/id/nextIdSimple?bizType=numbers&batchSize=100000",
	} {
		rest := holdCPUSlot(t, s)
		method, path, _ := strings.Cut(request, " ")
		done := make(chan string, 1)
		go func() {
			_, body := ask(method, path, "")
			done <- body
		}()
		if status, body := ask("POST", "/api/v1/generators/numbers/ids", ""); status != http.StatusOK {
			t.Errorf("a short request: %d %s", status, body)
		}
		select {
		case <-done:
			t.Fatalf("%s: answered though another statement held the CPU slot", request)
		case <-time.After(300 * time.Millisecond):
		}
		rest()
		select {
		case body := <-done:
			if got := strings.Count(body, ","); got < 99_999 {
				t.Errorf("%s: %d commas in %.100s", request, got, body)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%s: waits though the CPU slot is free", request)
		}
	}
}

// numbers makes the generator numbers, which waits for nothing between its ids.
func numbers(t *testing.T, s *Server) {
	t.Helper()
	segment(t, s, "numbers", `{"step": 1000000}`)
}

// segment creates a generator of that kind.
func segment(t *testing.T, s *Server, name, options string) {
	t.Helper()
	admin := caller{options: sqlfuncs.SessionOptions{User: "root", Admin: true}}
	if _, _, err := s.first(httptest.NewRequest(http.MethodPost, "/", nil), admin, "SELECT create_generator('"+name+"', 'segment', '"+options+"')"); err != nil {
		t.Fatal(err)
	}
}

// holdCPUSlot takes the CPU slot of long statements until rest is called.
func holdCPUSlot(t *testing.T, s *Server) (rest func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	session, err := s.cfg.SQL().NewSession(sqlfuncs.SessionOptions{User: "busy"})
	if err == nil {
		err = session.Long(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	return session.Close
}

// The server draws only the ids that it can send to a client that does not read.
// While it waits for that client it has no CPU slot.
func TestUnreadAnswersWait(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // one long statement works at a time
	ask, s := start(t, false)
	numbers(t, s)
	server := httptest.NewServer(s.http.Handler)
	defer server.CloseClientConnections()
	conn := request(t, server, "POST /api/v1/generators/numbers/ids?n=1000000", "")
	defer conn.Close()
	issued := func() (n int64) {
		_, body := ask("GET", "/api/v1/generators/numbers", "")
		_, after, _ := strings.Cut(body, `"issued":"`)
		digits, _, _ := strings.Cut(after, `"`)
		n, _ = strconv.ParseInt(digits, 10, 64) // 0 before the first id
		return n
	}
	before := int64(-1)
	for now := issued(); now != before || now == 0; now = issued() {
		before = now
		time.Sleep(300 * time.Millisecond) //nolint:forbidigo // the end of drawing is no event
	}
	if before >= 1_000_000 {
		t.Errorf("all of %d ids were drawn for a client that reads nothing", before)
	}
	holdCPUSlot(t, s)() // fails where the unread answer has it
}

// The statement of a client that has hung up ends, also if the request has a body
// that its path does not read.
func TestHungUpRequestsEnd(t *testing.T) {
	_, s := start(t, false)
	ended := make(chan error, 1)
	server := httptest.NewServer(s.answer(func(_ http.ResponseWriter, r *http.Request, c caller) error {
		result, err := s.query(r, c, "SELECT pg_sleep(60)")
		if err == nil {
			defer result.Close()
			_, err = result.next()
		}
		ended <- err
		return err
	}))
	defer server.Close()
	for _, body := range []string{"", "{}"} {
		_ = request(t, server, "POST /", body).Close()
		select {
		case err := <-ended:
			if err == nil {
				t.Errorf("body %q: the statement has run to its end", body)
			}
		case <-time.After(time.Second):
			t.Fatalf("body %q: the statement goes on", body)
		}
	}
}

// request sends a request on a connection of its own.
func request(t *testing.T, server *httptest.Server, line, body string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err == nil {
		_, err = fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", line, len(body), body)
	}
	if err != nil {
		t.Fatal(err)
	}
	return conn
}
