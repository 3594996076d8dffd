package wire

import "net/netip"

// Places limits connections that any client can open, such as connections that have
// not logged in. A new connection always gets a place. When all places are taken, it
// evicts another connection: the oldest from the address with the most places in the
// network with the most places. So a client that opens many connections evicts its
// own first. Clients that never log in do not keep others out. Not safe for
// concurrent use.
type Places[C comparable] struct {
	size   int
	held   map[C]place
	counts census
	serial uint64
}

type place struct {
	ip  netip.Addr
	age uint64 // less: older
}

// NewPlaces returns Places for size connections.
func NewPlaces[C comparable](size int) *Places[C] {
	return &Places[C]{size: size, held: map[C]place{}, counts: newCensus()}
}

// Take gives c a place. full reports that all places were taken; then evicted is the
// connection that has lost its place.
func (p *Places[C]) Take(c C, ip netip.Addr) (evicted C, full bool) {
	if full = len(p.held) >= p.size; full {
		evicted = p.victim(ip)
		p.Leave(evicted)
	}
	p.serial++
	p.held[c] = place{ip, p.serial}
	p.counts.add(ip, 1)
	return evicted, full
}

// Leave takes the place of c back. It reports whether c had one.
func (p *Places[C]) Leave(c C) bool {
	held, ok := p.held[c]
	if ok {
		delete(p.held, c)
		p.counts.add(held.ip, -1)
	}
	return ok
}

// Len returns the number of places taken.
func (p *Places[C]) Len() int { return len(p.held) }

// victim returns the connection to evict for a new one from the address ip. The new
// one counts as if it had a place.
func (p *Places[C]) victim(ip netip.Addr) (worst C) {
	p.counts.add(ip, 1)
	defer p.counts.add(ip, -1)
	var most place
	var network, address int
	for c, held := range p.held {
		n, a := p.counts.networks[Network(held.ip)], p.counts.addresses[held.ip]
		if n > network || n == network && (a > address || a == address && held.age < most.age) {
			worst, most, network, address = c, held, n, a
		}
	}
	return worst
}
