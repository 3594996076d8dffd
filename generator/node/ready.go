package node

import (
	"errors"
	"fmt"
	"time"

	"nextid/generator"
)

// ReadyMargin returns the margin of Ready for servers whose time slices have this
// length. Load balancers get up to three probes, five seconds apart, to notice.
func ReadyMargin(slice time.Duration) time.Duration { return min(15*time.Second, slice/4) }

// Outage describes a store that does not answer, and what is left without it.
type Outage struct {
	Err   error     // of the store, a *generator.StoreDown where it knows since when
	Since time.Time // zero: unknown
	// Lasts has how long each open generator issues ids from its reservation. It
	// leaves out the generators that ask the store for every id.
	Lasts map[string]time.Duration
	// Direct lists the generators that ask the store for every id.
	Direct []string
}

// OutageOf returns the outage of a store, nil while the store answers.
func OutageOf(store generator.Store, registry *generator.Registry) *Outage {
	p, ok := store.(generator.Prober)
	if !ok {
		return nil
	}
	err := p.Probe()
	if err == nil {
		return nil
	}
	o := &Outage{Err: err, Lasts: map[string]time.Duration{}}
	if down, ok := errors.AsType[*generator.StoreDown](err); ok {
		o.Since = down.Since
	}
	registry.Running(func(d generator.Definition, g generator.Generator) bool {
		var s generator.Stats
		if r, ok := g.(generator.Reporter); ok {
			s = r.Stats()
		}
		if s.Direct {
			o.Direct = append(o.Direct, d.Name)
		} else {
			o.Lasts[d.Name] = s.Lasts
		}
		return true
	})
	return o
}

// Shortest returns the generator whose reservation ends first; "" if nothing is
// reserved.
func (o *Outage) Shortest() (name string, lasts time.Duration) {
	for n, d := range o.Lasts {
		if name == "" || d < lasts || d == lasts && n < name {
			name, lasts = n, d
		}
	}
	return name, lasts
}

// Ready returns why a server should get no new clients, or nil if it should. now is
// the wall clock.
//
// A server whose store does not answer still issues what it has reserved. Taking it
// out of service at once would turn a short pause of the store into an outage of all
// servers. Keeping it until nothing is left would send clients into errors. So it
// stays ready until the shortest reservation lasts no longer than margin.
//
// Generators that ask the store for every id, such as counters, do not take a server
// out of service on which others go on: all servers have the same store. A server
// with no others stays ready for a third of margin, longer than a store that only
// restarts.
func Ready(store generator.Store, registry *generator.Registry, margin time.Duration, now time.Time) error {
	if err := ended(registry); err != nil {
		return err
	}
	o := OutageOf(store, registry)
	if o == nil {
		return nil
	}
	switch name, lasts := o.Shortest(); {
	case name == "" && !o.Since.IsZero() && now.Sub(o.Since) < margin/3:
		return nil
	case name == "":
		return fmt.Errorf("nothing is reserved, and %w", o.Err)
	case lasts <= 0:
		return fmt.Errorf("what is reserved of generator %q is used up, and %w", name, o.Err)
	case lasts <= margin:
		return fmt.Errorf("what is reserved of generator %q lasts for %s, and %w", name, lasts.Round(100*time.Millisecond), o.Err)
	}
	return nil
}

// ended returns the error of a server whose generators of times have no ids left: its
// clock is wrong, or was.
func ended(registry *generator.Registry) error {
	over, going := "", false
	registry.Running(func(d generator.Definition, g generator.Generator) bool {
		_, holdsID := generator.Unwrap(g).(generator.WorkerIDHolder)
		r, reports := g.(generator.Reporter)
		if !holdsID || !reports {
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
