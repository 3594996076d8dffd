package worker

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"nextid/generator"
	"nextid/generator/kinds"
)

// Strict is a worker id whose time is reserved for each request. It keeps nothing
// in memory. A grant serves the requests made before its reservation began; the
// rest of it is lost. So a process that was cloned or restored from a snapshot
// while it ran holds no time that its twin holds, too.
//
// It is a worker id apart from that of the other generators, whose slice reaches
// far ahead.
type Strict struct {
	*Pool       // its clock, its wish and its width; it has no lease
	grid  int64 // ms; a grant is a number of whole steps of this length
	phase int64 // ms; offset of the steps
	most  int64 // greatest number of steps of one grant

	worker atomic.Int64 // None before the first claim

	rounds kinds.Batches[grant, *Lease]
	end    int64 // ms; least begin of the next grant; owned by rounds
}

// grant is a request for a number of steps from a moment (Unix ms) on.
type grant struct{ steps, from int64 }

// strictKey identifies a Strict of a process. Grants are whole ticks, so the unit
// belongs to it.
type strictKey struct {
	bits        uint8
	grid, phase int64
}

const (
	// strictAhead bounds how far the time line of a Strict may be ahead of the clock. It
	// limits the rounds to about one a tick.
	strictAhead = 5 * time.Millisecond
	// maxSteps is the greatest number of steps of one round. The length of a slice
	// bounds it, too (see Pool.Furthest). Requests for more take part in several
	// rounds.
	maxSteps = 1000
)

// Strict returns the worker id for strict generators of a width. Their ticks are
// unit long and begin at epoch.
func (p *Pools) Strict(ctx context.Context, width Width, unit time.Duration, epoch time.Time) (*Strict, error) {
	if err := p.fits(unit); err != nil {
		return nil, err
	}
	wish, err := p.wish(ctx, width)
	if err != nil {
		return nil, err
	}
	key := strictKey{bits: width.Bits(), grid: 1}
	if unit%time.Millisecond == 0 && epoch.UnixMicro()%1000 == 0 {
		key.grid = unit.Milliseconds()
		key.phase = generator.Modulo(epoch.UnixMilli(), key.grid)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, generator.ShutdownError("")
	}
	if wish.Firm && p.pools[poolKey{key.bits, wish.ID}] != nil {
		return nil, errBothWays(wish.ID)
	}
	s := p.stricts[key]
	if s == nil {
		s = &Strict{Pool: newPool(p, width, wish), grid: key.grid, phase: key.phase}
		s.most = max(min(maxSteps, p.cfg.Slice.Milliseconds()/key.grid), 1)
		s.used = p.usedLocked(key.bits)
		s.worker.Store(None)
		s.rounds = kinds.Batches[grant, *Lease]{Clock: p.cfg.Clock, Before: s.await, Fill: s.carryOut, Closed: generator.ShutdownError("")}
		p.stricts[key] = s
	}
	return s, nil
}

// errBothWays refuses to use one planned worker id both for strict and for other
// generators.
func errBothWays(id int64) error {
	return generator.Errorf(generator.ErrOption, "",
		"This server was given one worker id, "+Fixed{ID: id}.String()+". Use --worker-id auto, make all snowflakes strict, or none.",
		"strict generators and others cannot share one worker id")
}

// MaxSpan returns the greatest length of a grant.
func (s *Strict) MaxSpan() time.Duration { return time.Duration(s.grid*s.most) * time.Millisecond }

// Grant returns time that was reserved for this process after the call began. It is
// at least span long, at most MaxSpan, and begins at from (Unix ms) or later.
// Concurrent calls may get the same grant; package snowflake keeps the ids of each
// name apart.
func (s *Strict) Grant(ctx context.Context, span time.Duration, from int64) (*Lease, error) {
	return s.rounds.Do(ctx, grant{min(max((span.Milliseconds()+s.grid-1)/s.grid, 1), s.most), from})
}

// await waits until the clock is close to the end of the line. Requests made
// meanwhile belong to the next round.
func (s *Strict) await() {
	if ahead := time.Duration(s.end*1000-s.Now())*time.Microsecond - strictAhead; ahead > 0 {
		_ = s.Sleep(s.pools.ctx, ahead) // a canceled context shows in the reservation
	}
}

// carryOut makes one round trip, and more only if the worker id changes.
func (s *Strict) carryOut(asked []grant) ([]*Lease, error) {
	var all grant
	for _, g := range asked {
		all = grant{max(all.steps, g.steps), max(all.from, g.from)}
	}
	deadline := s.Monotonic() + s.pools.cfg.StartWait
	for {
		id := s.worker.Load()
		if id == None {
			var err error
			if id, err = s.find(); err != nil {
				return nil, err
			}
		}
		if _, err := s.catchUp(s.worker.Load() != None); err != nil {
			return nil, err
		}
		now := s.Now()
		lo := s.align(max(s.end, all.from, now/1000))
		n := all.steps * s.grid
		got, hi, err := s.ask(id, lo, n)
		s.end = max(s.end, lo+n) // granted or not, it may not be used
		if err != nil {
			return nil, err
		}
		if got == lo {
			if s.worker.Swap(id) != id {
				s.pools.time.advance(lo*1000, now, true)
				s.report(id, lo)
			}
			return slices.Repeat([]*Lease{{Worker: id, Lo: got, Hi: hi}}, len(asked)), nil
		}
		// Another process issues ids with this worker id, possibly a clone of this one.
		s.giveBack(id, got, hi)
		s.worker.Store(None)
		if s.Monotonic() > deadline {
			return nil, errContended()
		}
	}
}

func errContended() error {
	return generator.Errorf(generator.ErrRetry, "", "Try again.", "other servers take each worker id that this one claims")
}

// find finds a free worker id. It reserves nothing yet.
func (s *Strict) find() (int64, error) {
	wish, wishes := s.wish, 1
	m, now, err := s.look(s.pools.ctx, &wish, &wishes)
	if err != nil {
		return 0, err
	}
	if wish.Firm { // another process with this worker id may have used it up to there
		now += strictAhead.Milliseconds()
	}
	id, free := s.choose(m, wish, now)
	if !free {
		return 0, s.noneFree(id, m)
	}
	if s.Exclusive() {
		s.end = max(s.end, s.align(m.greatest)) // ids keep growing after a crash
	} else if hi, used := m.hi[id]; used {
		s.end = max(s.end, s.align(hi))
	}
	return id, nil
}

// align returns the first step of the grid at or after a Unix millisecond.
func (s *Strict) align(ms int64) int64 { return ms + generator.Gap(s.phase, s.grid, ms) }
