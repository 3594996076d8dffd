package wiretest

import (
	"net"
	"testing"
	"time"
)

// lostWithin bounds the time from the client's Close to the end of its statement.
const lostWithin = time.Second

// CloseWhileRunning sends an endless statement over the server's only connection,
// closes the connection, and waits until the server has none. That must take
// lostWithin at most.
func CloseWhileRunning(t *testing.T, connections func() int, conn net.Conn, statement []byte) {
	t.Helper()
	if _, err := conn.Write(statement); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond) //nolint:forbidigo // it is running, and nothing shows that
	if connections() != 1 {
		t.Fatalf("%d connections, want the one", connections())
	}
	closed := time.Now()
	_ = conn.Close() // closed once is enough
	for connections() > 0 && time.Since(closed) < WaitLimit {
		time.Sleep(10 * time.Millisecond) //nolint:forbidigo // as above
	}
	took := time.Since(closed)
	t.Logf("%v", took)
	if took > lostWithin {
		t.Errorf("the statement went on for %v", took)
	}
}
