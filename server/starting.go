package server

import (
	"sync"
	"time"

	"nextid/sqlfuncs/sqlstate"
)

const (
	// refuseTimeout bounds the exchange with a client that is refused.
	refuseTimeout = time.Second
	// refuseAtOnce bounds the clients that are answered at a time; others wait.
	refuseAtOnce = 64
)

// errNoStoreYet is sent to clients that connect before there is a store.
var errNoStoreYet = sqlstate.New(sqlstate.CannotConnectNow, "%s", errStarting).
	WithHint("Connect to another nextid server, or try again.")

// deadliner is a listener whose Accept can be interrupted.
type deadliner interface{ SetDeadline(t time.Time) error }

// refuse answers clients with errNoStoreYet until stop is called. The listeners are
// open already, so clients would wait without an answer.
func (e endpoints) refuse() (stop func()) {
	var accepting, talking sync.WaitGroup
	slots := make(chan struct{}, refuseAtOnce)
	for _, p := range e {
		if _, ok := p.listener.(deadliner); !ok {
			continue // nothing would end Accept
		}
		accepting.Go(func() {
			for {
				conn, err := p.listener.Accept()
				if err != nil {
					return // stopped; after any other error clients wait until the server is ready
				}
				slots <- struct{}{}
				talking.Go(func() {
					defer func() { <-slots }()
					defer conn.Close()
					if conn.SetDeadline(time.Now().Add(refuseTimeout)) == nil {
						p.protocol.refuse(conn, errNoStoreYet)
					}
				})
			}
		})
	}
	return func() {
		e.setDeadline(time.Now())
		accepting.Wait()
		e.setDeadline(time.Time{})
		talking.Wait()
	}
}

// setDeadline interrupts calls of Accept at t. The zero time lets them wait.
func (e endpoints) setDeadline(t time.Time) {
	for _, p := range e {
		if l, ok := p.listener.(deadliner); ok {
			_ = l.SetDeadline(t) // a closed listener accepts no connection
		}
	}
}
