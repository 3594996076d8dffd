package server

import (
	"sync"
	"time"

	"nextid/sqlfuncs/sqlstate"
)

const (
	// turnAwayTimeout bounds the talk with a client that is turned away.
	turnAwayTimeout = time.Second
	// turnAwayAtOnce sets how many are talked to at a time; others wait.
	turnAwayAtOnce = 64
)

// errNoStoreYet is the answer to clients that come before there is a store.
var errNoStoreYet = sqlstate.New(sqlstate.CannotConnectNow, "%s", errStarting).
	WithHint("Connect to another nextid server, or try again.")

// deadliner is a listener whose Accept can be ended.
type deadliner interface{ SetDeadline(t time.Time) error }

// turnAway tells clients to try another server, until stop is called. Nobody
// would answer them otherwise, since the listeners are open already.
func (e endpoints) turnAway() (stop func()) {
	var accepting, talking sync.WaitGroup
	turns := make(chan struct{}, turnAwayAtOnce)
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
				turns <- struct{}{}
				talking.Go(func() {
					defer func() { <-turns }()
					defer conn.Close()
					if conn.SetDeadline(time.Now().Add(turnAwayTimeout)) == nil {
						p.protocol.turnAway(conn, errNoStoreYet)
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

// setDeadline ends calls of Accept at t; the zero time lets them wait.
func (e endpoints) setDeadline(t time.Time) {
	for _, p := range e {
		if l, ok := p.listener.(deadliner); ok {
			_ = l.SetDeadline(t) // a closed listener accepts no connection
		}
	}
}
