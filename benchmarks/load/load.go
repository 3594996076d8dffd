package load

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Step is one request of an operation.
type Step struct {
	Link    int    // index of the client's link
	Bytes   []byte // request; must not change before the answers have arrived
	Answers int    // number of expected answers
}

// Work generates the operations of one client. Its methods are called by one
// goroutine.
type Work interface {
	// Begin returns the first step of the next operation.
	Begin() Step
	// Then gets the ids in the answers to the last step, which are valid until
	// Then returns. It returns the next step, or false if the operation is complete.
	Then(ids []ID) (Step, bool)
}

// Client is a Work and its links.
type Client struct {
	Links []*Link
	Work  Work
}

// Clients holds the clients of one measurement.
type Clients []Client

// Close closes the links.
func (all Clients) Close() {
	for _, c := range all {
		for _, l := range c.Links {
			l.Close()
		}
	}
}

// Exec runs statements on a new connection, and returns the ids in the result of the
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

// Config configures one measurement.
type Config struct {
	Clients Clients
	Warm    time.Duration // time of load before the measurement
	Length  time.Duration // of the measurement; in a closed loop, it continues until the first answer
	Rate    float64       // operations per second of all clients together; 0: a closed loop
	// RTT simulates a network: the client reads each answer so much later than it
	// arrived.
	RTT time.Duration
	// Sample, if set, is called at the begin and at the end of the measurement,
	// while all connections are open.
	Sample func()
}

// Result is the result of one measurement.
type Result struct {
	Operations int
	Elapsed    time.Duration
	Latency    Latency
	Sent       int64 // bytes, without the headers of TCP and lower layers
	Received   int64
}

// PerSecond returns the throughput in operations per second.
func (r Result) PerSecond() float64 { return float64(r.Operations) / r.Elapsed.Seconds() }

// answerTimeout bounds how long no answer may arrive on any connection.
const answerTimeout = 30 * time.Second

var errNoAnswer = errors.New("no server answered for " + answerTimeout.String())

// Repeat is a Work that sends the same request in each operation.
type Repeat Step

// Begin implements Work.
func (r *Repeat) Begin() Step { return Step(*r) }

// Then implements Work.
func (*Repeat) Then([]ID) (Step, bool) { return Step{}, false }

// Pick is a Work that sends one of several requests at random. Each has one answer.
type Pick [][]byte

// Begin implements Work.
func (p Pick) Begin() Step { return Step{Bytes: p[rand.IntN(len(p))], Answers: 1} }

// Then implements Work.
func (Pick) Then([]ID) (Step, bool) { return Step{}, false }
