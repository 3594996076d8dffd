package load

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Step is one exchange of an operation.
type Step struct {
	Link    int    // which of the client's links
	Bytes   []byte // what to send; must stay as it is until the answers are there
	Answers int    // how many answers that brings
}

// Work holds what one client does. Its methods are called by one goroutine.
type Work interface {
	// Begin returns the first step of the next operation.
	Begin() Step
	// Then gets the ids that the answers to the last step brought, which are
	// valid until it returns, and returns the next step, or false when the
	// operation is complete.
	Then(ids []ID) (Step, bool)
}

// Client is a Work and the links that it uses.
type Client struct {
	Links []*Link
	Work  Work
}

// Clients are those of one measurement.
type Clients []Client

// Close closes the links.
func (all Clients) Close() {
	for _, c := range all {
		for _, l := range c.Links {
			l.Close()
		}
	}
}

// Exec runs statements on a connection of their own, and returns the ids of the
// last one.
func Exec(ctx context.Context, dsn string, statements ...string) (ids []ID, err error) {
	link, err := Dial(ctx, dsn)
	if err != nil {
		return nil, err
	}
	defer link.Close()
	for _, sql := range statements {
		if ids, err = link.Exec(ctx, sql); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// Config is one measurement.
type Config struct {
	Clients Clients
	Warm    time.Duration // before the measurement
	Length  time.Duration // as fast as they can: longer, until there is an answer
	Rate    float64       // operations a second of all clients together; 0: as fast as they can
	// RTT makes each exchange longer, as a network does: the client reads an
	// answer that long after it came.
	RTT time.Duration
	// Sample, when set, is called at the begin and at the end of the
	// measurement, while all connections are open.
	Sample func()
}

// Result holds what one measurement found.
type Result struct {
	Operations int
	Elapsed    time.Duration
	Latency    Latency
	Sent       int64 // bytes, without the headers of TCP and below
	Received   int64
}

// PerSecond is the throughput in operations.
func (r Result) PerSecond() float64 { return float64(r.Operations) / r.Elapsed.Seconds() }

// answerTimeout bounds how long a server may leave everybody without an answer.
const answerTimeout = 30 * time.Second

var errNoAnswer = errors.New("no server answered for " + answerTimeout.String())

// Repeat is the work that sends the same request in each operation.
type Repeat Step

// Begin implements Work.
func (r *Repeat) Begin() Step { return Step(*r) }

// Then implements Work.
func (*Repeat) Then([]ID) (Step, bool) { return Step{}, false }

// Pick is the work that sends one of several requests, each with one answer,
// at random.
type Pick [][]byte

// Begin implements Work.
func (p Pick) Begin() Step { return Step{Bytes: p[rand.IntN(len(p))], Answers: 1} }

// Then implements Work.
func (Pick) Then([]ID) (Step, bool) { return Step{}, false }
