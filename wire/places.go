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

// ClientAddress returns an address in the form in which rules and limits compare
// it. IPv4 inside IPv6 (RFC 4291, 2.5.5.2) becomes IPv4. An IPv6 zone is dropped:
// netip.Prefix.Contains never matches an address with a zone.
func ClientAddress(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// Network returns the network of an address. Connections are limited by network,
// too: one host often has a whole /64 of IPv6. The network of an IPv4 address is the
// address itself.
func Network(ip netip.Addr) netip.Prefix {
	bits := ip.BitLen()
	if ip.Is6() {
		bits = 64
	}
	p, _ := ip.Prefix(bits) // the length is right; of the zero address it is the zero prefix
	return p
}

// census counts connections by address and by network. Unix sockets all have
// the zero address.
type census struct {
	total     int
	addresses map[netip.Addr]int
	networks  map[netip.Prefix]int
}

func newCensus() census {
	return census{addresses: map[netip.Addr]int{}, networks: map[netip.Prefix]int{}}
}

// add counts n connections of an address; n is negative when they end.
func (c *census) add(ip netip.Addr, n int) {
	c.total += n
	bump(c.addresses, ip, n)
	bump(c.networks, Network(ip), n)
}

func bump[K comparable](counts map[K]int, key K, n int) {
	if counts[key] += n; counts[key] == 0 {
		delete(counts, key)
	}
}
