package node

import (
	"errors"
	"fmt"
	"math"
	"time"

	"nextid/generator"
)

// readyMargin is what load balancers get to notice: three probes five seconds
// apart.
const readyMargin = 15 * time.Second

// ReadyMargin is the margin of a server that reserves slices of time of a length.
func ReadyMargin(slice time.Duration) time.Duration { return min(readyMargin, slice/4) }

// Ready says why a server should get no new clients, nil if it should. now is
// the wall clock.
//
// A server whose store is away goes on issuing what it has reserved. Taking
// it out of service at once would turn a short pause of the store into an
// outage of every server, all at the same moment; keeping it until nothing is
// left would send clients into errors. So it stays ready until what its
// busiest generator has in hand lasts for no more than the margin.
//
// Generators that ask the store for every id, such as counters, do not take a
// server out of service on which others go on: all servers have the same
// store. Where there are no others the server stays ready for a grace, which
// a store that only restarts does not outlast.
func Ready(store generator.Store, registry *generator.Registry, margin time.Duration, now time.Time) error {
	if err := ended(registry); err != nil {
		return err
	}
	err := outage(store)
	if err == nil {
		return nil
	}
	least, name := time.Duration(math.MaxInt64), ""
	registry.Running(func(d generator.Definition, g generator.Generator) bool {
		var s generator.Stats
		if r, ok := g.(generator.Reporter); ok {
			s = r.Stats()
		}
		if !s.Direct && s.Lasts < least {
			least, name = s.Lasts, d.Name
		}
		return true
	})
	down, known := errors.AsType[*generator.StoreDown](err)
	switch {
	case name == "" && known && now.Sub(down.Since) < margin/3:
		return nil
	case name == "":
		return fmt.Errorf("nothing is reserved, and %w", err)
	case least <= margin:
		return fmt.Errorf("what is reserved of generator %q lasts for %s, and %w", name, least.Round(100*time.Millisecond), err)
	}
	return nil
}

// Waiting lists the generators that issue nothing while the store is away,
// because they ask it for every id.
func Waiting(store generator.Store, registry *generator.Registry) (names []string) {
	if outage(store) == nil {
		return nil
	}
	registry.Running(func(d generator.Definition, g generator.Generator) bool {
		if r, ok := g.(generator.Reporter); ok && r.Stats().Direct {
			names = append(names, d.Name)
		}
		return true
	})
	return names
}

// outage is what the store says of itself.
func outage(store generator.Store) error {
	if p, ok := store.(generator.Prober); ok {
		return p.Probe()
	}
	return nil
}

// ended is the error of a server none of whose generators of times has ids
// left: its clock is wrong, or was.
func ended(registry *generator.Registry) error {
	over, going := "", false
	registry.Running(func(d generator.Definition, g generator.Generator) bool {
		_, stamps := generator.Unwrap(g).(generator.Stamper)
		r, reports := g.(generator.Reporter)
		if !stamps || !reports {
			return true
		}
		if r.Stats().Ended {
			over = d.Name
		} else {
			going = true
		}
		return true
	})
	if over == "" || going {
		return nil
	}
	return fmt.Errorf("the time of ids is beyond the last that generator %q can issue; set the clock right, and see nextid repair", over)
}
