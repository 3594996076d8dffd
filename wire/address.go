package wire

import "net/netip"

// ClientAddress is an address in the one form in which rules and limits compare
// it: IPv4 as IPv4, also where the system reports it inside IPv6 (RFC 4291,
// 2.5.5.2), and without an IPv6 zone, which names an interface of this machine
// and which netip.Prefix.Contains never matches.
func ClientAddress(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// Network is whose connections count together beyond those of one address: an
// IPv6 host commonly has a whole /64 to itself. Of IPv4 it is the address.
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
