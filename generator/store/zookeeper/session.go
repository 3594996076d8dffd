package zookeeper

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"time"

	"github.com/go-zookeeper/zk"
)

// session is one client of the library. The library reconnects by itself, to any
// member. It keeps the id of the newest transaction that it saw. A restored
// ensemble that is behind this id refuses the client for ever; see watch.
type session struct {
	conn *zk.Conn
	user chan struct{} // closed once the ensemble has accepted the credentials
	stop chan struct{}
}

// connect returns a new session. It connects and authenticates in the background.
func (e *engine) connect() (*session, error) {
	conn, _, err := zk.Connect(e.hosts, sessionTimeout, zk.WithLogger(log.New(io.Discard, "", 0)), zk.WithEventCallback(func(zk.Event) {}),
		zk.WithDialer(e.dial))
	if err != nil {
		return nil, err
	}
	s := &session{conn: conn, user: make(chan struct{}), stop: make(chan struct{})}
	if e.credentials == "" {
		close(s.user)
	} else {
		go s.authenticate(e.credentials) // ends with close
	}
	return s, nil
}

// authenticate sends the credentials until the ensemble has accepted them once.
// Then the library sends them on every new connection.
func (s *session) authenticate(credentials string) {
	for s.conn.AddAuth("digest", []byte(credentials)) != nil {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-s.stop:
			return
		}
	}
	close(s.user)
}

func (s *session) close() {
	close(s.stop)
	s.conn.Close()
}

func (e *engine) conn() *zk.Conn { return e.session.Load().conn }

// watch replaces a session that has had no connection for twice the session
// timeout. Nothing is lost with the old one. Close ends it.
func (e *engine) watch() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for had := time.Now(); ; {
		select {
		case <-e.stop:
			return
		case <-tick.C:
		}
		old := e.session.Load()
		if old.conn.State() == zk.StateHasSession {
			had = time.Now()
		}
		if time.Since(had) < 2*sessionTimeout {
			continue
		}
		if next, err := e.connect(); err == nil {
			e.session.Store(next)
			old.close()
		}
		had = time.Now()
	}
}

// dialer connects to a member and limits how long reads wait for it to the session
// timeout. The library itself would wait ten times as long for a member that has
// stopped.
func dialer(secure *tls.Config) zk.Dialer {
	return func(network, address string, timeout time.Duration) (c net.Conn, err error) {
		d := &net.Dialer{Timeout: timeout}
		if secure == nil {
			c, err = d.Dial(network, address)
		} else {
			c, err = tls.DialWithDialer(d, network, address, secure)
		}
		if err != nil {
			return nil, err
		}
		return promptConn{c}, nil
	}
}

// promptConn is a connection whose read deadlines are at most one session timeout
// ahead.
type promptConn struct{ net.Conn }

func (c promptConn) SetReadDeadline(t time.Time) error {
	if most := time.Now().Add(sessionTimeout); t.After(most) {
		t = most
	}
	return c.Conn.SetReadDeadline(t)
}
