//go:build linux && !goroutines

package wire

import (
	"container/heap"
	"testing"
	"time"
)

// The durations of the loop's steps, about as measured on the machines of the
// reports. The model adds them up for numbers of processors that those machines do
// not have.
const (
	modelPoll    = 300 * time.Nanosecond  // epoll_pwait,
	modelEvent   = 30 * time.Nanosecond   // and for each socket that it reports
	modelQuery   = 3 * time.Microsecond   // read, answer, write
	modelStart   = 1500 * time.Nanosecond // cost of waking another processor
	modelLatency = 5 * time.Microsecond   // until the woken processor begins
	modelClient  = 20 * time.Microsecond  // from an answer to the next query
)

// readiness is a heap of the times of the connections' next queries.
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

// model runs the poller's decisions in virtual time. Each client sends its next
// query modelClient after an answer. model returns queries a second.
func model(procs, conns int) float64 {
	const length = 100 * time.Millisecond
	p := &poller{}
	p.prepare(procs)
	clients := make(readiness, conns)                  // all have a query
	until := map[*batch]time.Duration{p.batches[0]: 0} // the ends of the batches that are worked on
	now, answered := time.Duration(0), 0
	p.fetch = func(b *batch, most, timeout int) int {
		if timeout < 0 && clients[0] > now {
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
		b := p.batches[0] // the batch that ends first
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

// With enough connections the rate must grow with the processors. It is a model: the
// machines that nextid was measured on have two.
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
