package wire

import "net/netip"

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
