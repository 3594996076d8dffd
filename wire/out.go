package wire

// Out collects the answers of a connection.
type Out struct {
	B     []byte // append here
	to    flusher
	limit int
	err   error
}

// flusher is who sends what an Out has collected: a connection.
type flusher interface{ flush(b []byte) error }

// flushFunc is one that is no connection.
type flushFunc func(b []byte) error

func (f flushFunc) flush(b []byte) error { return f(b) }

// NewOut returns an Out whose Flush hands the bytes to flush; limit is when
// Room flushes.
func NewOut(limit int, flush func(b []byte) error) *Out {
	return &Out{to: flushFunc(flush), limit: limit}
}

// Flush sends what was collected. After an error everything is thrown away:
// the connection is broken.
func (o *Out) Flush() error {
	if len(o.B) > 0 && o.err == nil {
		o.err = o.to.flush(o.B)
	}
	o.B = o.B[:0]
	return o.err
}

// Err is why a Flush failed: nobody reads the answers any more.
func (o *Out) Err() error { return o.err }

// Room flushes when enough waits. Machines call it between rows and between
// messages, so that an answer of any size needs constant memory.
func (o *Out) Room() error {
	if len(o.B) < o.limit {
		return o.err
	}
	return o.Flush()
}

// Sender is a statement whose answer is being sent, see sqlfuncs.Portal.
type Sender interface {
	// Sent counts n bytes that were sent as work. It waits for a CPU slot
	// where the statement has become a long one.
	Sent(n int) error
}

// RowRoom flushes when enough waits, and tells the statement how much was
// sent. Each protocol calls it between the rows of an answer.
func (o *Out) RowRoom(s Sender) error {
	n := len(o.B)
	if err := o.Room(); err != nil || len(o.B) > 0 {
		return err
	}
	return s.Sent(n)
}
