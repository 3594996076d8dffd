package wire

import "net/netip"

// Places are a limited number of places for connections that anybody can open,
// such as those on their way to a login. A new connection always gets one. When
// all are taken another yields its place: of those from the network that holds
// the most, and in it from the address that holds the most, the oldest. So
// whoever takes many keeps out themselves first, and one who logs in
// quickly is not kept out by others who never do. Not safe for concurrent use.
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

// NewPlaces returns size places.
func NewPlaces[C comparable](size int) *Places[C] {
	return &Places[C]{size: size, held: map[C]place{}, counts: newCensus()}
}

// Take gives c a place. If another connection has to make room for it, Take
// returns that one and true; it holds no place any more.
func (p *Places[C]) Take(c C, ip netip.Addr) (yields C, full bool) {
	if full = len(p.held) >= p.size; full {
		yields = p.victim(ip)
		p.Leave(yields)
	}
	p.serial++
	p.held[c] = place{ip, p.serial}
	p.counts.add(ip, 1)
	return yields, full
}

// Leave gives a place back. It reports whether c still held one.
func (p *Places[C]) Leave(c C) bool {
	held, ok := p.held[c]
	if ok {
		delete(p.held, c)
		p.counts.add(held.ip, -1)
	}
	return ok
}

// Len is how many places are taken.
func (p *Places[C]) Len() int { return len(p.held) }

// victim finds who yields. The newcomer's address counts with its new connection.
func (p *Places[C]) victim(newcomer netip.Addr) (worst C) {
	p.counts.add(newcomer, 1)
	defer p.counts.add(newcomer, -1)
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
