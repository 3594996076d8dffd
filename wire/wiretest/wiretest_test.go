package wiretest

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func connect(t *testing.T) (client, server *conn) {
	t.Helper()
	l := Listen()
	accepted := make(chan net.Conn, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			t.Error(err)
		}
		accepted <- c
	}()
	dialed, err := l.Dial()
	if err != nil {
		t.Fatal(err)
	}
	return dialed.(*conn), (<-accepted).(*conn)
}

func TestWriteWaitsOnlyWhenTheBufferIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := connect(t)
		sent := bytes.Repeat([]byte("x"), BufferBytes+1)
		if n, err := client.Write(sent[:BufferBytes]); n != BufferBytes || err != nil {
			t.Fatalf("wrote %d, %v", n, err)
		}
		_ = client.SetWriteDeadline(time.Now().Add(time.Second))
		start := time.Now()
		if _, err := client.Write(sent[:1]); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != time.Second {
			t.Fatalf("a full buffer took a byte more after %v: %v", time.Since(start), err)
		}
		_ = client.SetWriteDeadline(time.Time{})
		go func() {
			_, _ = client.Write(sent[:1])
			_ = client.CloseWrite()
		}()
		got, err := io.ReadAll(server)
		if err != nil || !bytes.Equal(got, sent) {
			t.Fatalf("read %d bytes, %v", len(got), err)
		}
	})
}

func TestDeadlineInThePastWakesAReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := connect(t)
		done := make(chan error)
		go func() {
			_, err := client.Read(make([]byte, 1))
			done <- err
		}()
		synctest.Wait()
		_ = client.SetReadDeadline(time.Unix(1, 0))
		if err := <-done; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
	})
}

func TestCloseEndsBothSides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := connect(t)
		_, _ = server.Write([]byte("bye"))
		_ = server.Close()
		if got, err := io.ReadAll(client); string(got) != "bye" || err != nil {
			t.Fatalf("%q, %v", got, err)
		}
		if _, err := client.Write([]byte("x")); err == nil {
			t.Fatal("wrote to a closed connection")
		}
		if _, err := server.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Fatal(err)
		}
	})
}

func TestDialAfterCloseFails(t *testing.T) {
	l := Listen()
	_ = l.Close()
	if _, err := l.Dial(); !errors.Is(err, net.ErrClosed) {
		t.Fatal(err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Fatal(err)
	}
}

func TestLeftBehindGoroutinesAreNamed(t *testing.T) {
	stop, started := make(chan struct{}), make(chan struct{})
	go forgotten(started, stop)
	<-started
	if left := leaked(0); !strings.Contains(left, "forgotten") {
		t.Errorf("not found in %q", left)
	}
	close(stop)
}

func forgotten(started, stop chan struct{}) {
	close(started)
	<-stop
}
