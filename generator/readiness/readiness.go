// Package readiness says whether a server should get new clients.
//
// A server whose store is away goes on issuing what it has reserved. Taking
// it out of service at once would turn a short pause of the store into an
// outage of every server, all at the same moment; keeping it until nothing is
// left would send clients into errors. So it stays ready until what its
// busiest generator has in hand lasts for no more than the margin.
package readiness

import (
	"fmt"
	"math"
	"time"

	"nextid/generator"
)

// margin is what load balancers get to notice: three probes five seconds
// apart.
const margin = 15 * time.Second

// Margin is the margin of a server that reserves slices of time of a length.
func Margin(slice time.Duration) time.Duration { return min(margin, slice/4) }

// Check says why a server should get no new clients, nil if it should.
func Check(store generator.Store, registry *generator.Registry, margin time.Duration) error {
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
