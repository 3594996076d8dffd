//go:build linux && !goroutines

package wire

import (
	"container/heap"
	"testing"
	"time"
)

// What the steps of the loop take, about as measured on the machines of the
// reports; the model is about how they add up on processors we do not have.
const (
	modelPoll    = 300 * time.Nanosecond  // epoll_pwait,
	modelEvent   = 30 * time.Nanosecond   // and for each socket that it reports
	modelQuery   = 3 * time.Microsecond   // read, answer, write
	modelStart   = 1500 * time.Nanosecond // to wake another processor, for the one that wakes it
	modelLatency = 5 * time.Microsecond   // until that one begins
	modelClient  = 20 * time.Microsecond  // from an answer to the next query
)

// readiness is when connections have their next query, the earliest first.
type readiness []time.Duration

func (r readiness) Len() int           { return len(r) }
func (r readiness) Less(i, j int) bool { return r[i] < r[j] }
func (r readiness) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }
func (r *readiness) Push(x any)        { *r = append(*r, x.(time.Duration)) }
func (r *readiness) Pop() any {
	last := (*r)[len(*r)-1]
	*r = (*r)[:len(*r)-1]
	return last
}

// model runs the poller's own decisions against clients that ask again and
// again, in a time of its own, and returns queries a second.
func model(procs, conns int) float64 {
	const length = 100 * time.Millisecond
	p := &poller{}
	p.prepare(procs)
	clients := make(readiness, conns)            // all have asked
	until := map[*batch]time.Duration{p.main: 0} // who works, and until when
	now, answered := time.Duration(0), 0
	p.ask = func(b *batch, most, timeout int) int {
		if timeout == forever && clients[0] > now {
			now = clients[0] + modelLatency
		}
		now += modelPoll
		n := 0
		for ; n < most && len(clients) > 0 && clients[0] <= now; n++ {
			now += modelEvent
			heap.Pop(&clients)
		}
		if n > 0 {
			b.n = n
		}
		return n
	}
	answer := func(b *batch, from time.Duration) {
		for range b.n {
			from += modelQuery
			heap.Push(&clients, from+modelClient)
		}
		until[b] = from
		answered += b.n
	}
	p.start = func(helper *batch) {
		now += modelStart
		answer(helper, now+modelLatency)
	}
	for now < length {
		b := p.main // who is the first to be done
		for other, end := range until {
			if end < until[b] {
				b = other
			}
		}
		if now = until[b]; p.more(b) {
			answer(b, now)
		} else {
			delete(until, b)
		}
	}
	return float64(answered) / now.Seconds()
}

// TestBatchesAreSplitAmongProcessors says what more processors bring where there is work
// for them: the machines that nextid was measured on have two.
func TestBatchesAreSplitAmongProcessors(t *testing.T) {
	for _, procs := range []int{2, 4, 8, 16} {
		conns := 64 * procs
		if times := model(procs, conns) / model(1, conns); times < 0.95*float64(procs) {
			t.Errorf("%d processors answer %d connections %.2f times as fast as one", procs, conns, times)
		}
		if times := model(procs, 8) / model(1, 8); times < 0.95 {
			t.Errorf("%d processors answer 8 connections %.2f times as fast as one", procs, times)
		}
	}
}
