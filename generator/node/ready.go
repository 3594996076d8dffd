package node

import (
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

// Ready says why a server should get no new clients, nil if it should.
//
// A server whose store is away goes on issuing what it has reserved. Taking
// it out of service at once would turn a short pause of the store into an
// outage of every server, all at the same moment; keeping it until nothing is
// left would send clients into errors. So it stays ready until what its
// busiest generator has in hand lasts for no more than the margin.
func Ready(store generator.Store, registry *generator.Registry, margin time.Duration) error {
	p, ok := store.(generator.Prober)
	if !ok {
		return nil
	}
	err := p.Probe()
	if err == nil {
		return nil
	}
	least, name := time.Duration(math.MaxInt64), ""
	registry.Running(func(d generator.Definition, g generator.Generator) bool {
		var lasts time.Duration
		if r, ok := g.(generator.Reporter); ok {
			lasts = r.Stats().Lasts
		}
		if lasts < least {
			least, name = lasts, d.Name
		}
		return true
	})
	switch {
	case name == "":
		return fmt.Errorf("nothing is reserved, and %w", err)
	case least <= margin:
		return fmt.Errorf("what is reserved of generator %q lasts for %s, and %w", name, least.Round(100*time.Millisecond), err)
	}
	return nil
}
