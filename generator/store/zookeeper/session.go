package zookeeper

import (
	"io"
	"log"
	"time"

	"github.com/go-zookeeper/zk"
)

// session is one client of the library. It connects again by itself, to any
// member, but it never forgets the newest transaction that it saw: an ensemble
// that was restored has not got that far, and refuses it for ever.
type session struct {
	conn *zk.Conn
	user chan struct{} // closed when the ensemble knows who we are
	stop chan struct{}
}

func (e *Engine) connect() (*session, error) {
	conn, _, err := zk.Connect(e.hosts, sessionTimeout, zk.WithLogger(log.New(io.Discard, "", 0)), zk.WithEventCallback(func(zk.Event) {}),
		zk.WithDialer(dialer(e.secure)))
	if err != nil {
		return nil, err
	}
	s := &session{conn: conn, user: make(chan struct{}), stop: make(chan struct{})}
	if e.credentials == "" {
		close(s.user)
	} else {
		go s.authenticate(e.credentials) // until close
	}
	return s, nil
}

// authenticate says who we are, until that has worked once: from then on the
// library says it again on every new connection.
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

func (e *Engine) conn() *zk.Conn { return e.session.Load().conn }

// watch puts a new session in the place of one that finds no ensemble for
// twice as long as a session lives. Nothing is lost with the old one.
func (e *Engine) watch() {
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
