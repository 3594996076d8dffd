package wire

import (
	"net/netip"
	"strconv"
	"strings"
	"testing"
)

func TestClientAddresses(t *testing.T) {
	for from, want := range map[string]string{
		"192.0.2.1":             "192.0.2.1",
		"::ffff:192.0.2.1":      "192.0.2.1",
		"::ffff:192.0.2.1%eth0": "192.0.2.1",
		"fe80::1%eth0":          "fe80::1",
		"2001:db8::1":           "2001:db8::1",
	} {
		if got := ClientAddress(netip.MustParseAddr(from)); got != netip.MustParseAddr(want) {
			t.Errorf("%s is %s, want %s", from, got, want)
		}
	}
	if got := ClientAddress(netip.Addr{}); got.IsValid() {
		t.Errorf("a Unix socket has the address %s", got)
	}
}

// The evicted connection is of the network with the most places, then of the address
// with the most places, then the oldest.
func TestPlacesEvictFromTheLargestNetwork(t *testing.T) {
	for _, tc := range []struct{ name, held, comes, evicted string }{
		{"the oldest", "192.0.2.1 192.0.2.2 192.0.2.3 192.0.2.4", "192.0.2.5", "0"},
		{"the address with the most", "192.0.2.1 192.0.2.2 192.0.2.2 192.0.2.3", "192.0.2.4", "1"},
		{"the address of the new connection, if it would then have the most", "192.0.2.1 192.0.2.2 192.0.2.3 192.0.2.4", "192.0.2.3", "2"},
		{"the /64 with the most", "192.0.2.1 192.0.2.1 2001:db8::1 2001:db8::2 2001:db8::3", "192.0.2.2", "2"},
		{"in a /64 the address with the most", "2001:db8::1 2001:db8::2 2001:db8::2 2001:db8:1::1", "192.0.2.2", "1"},
		{"Unix sockets are one address", "192.0.2.1 - - -", "192.0.2.2", "1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			held := fields(tc.held)
			p := NewPlaces[string](len(held))
			for i, ip := range held {
				if _, full := p.Take(strconv.Itoa(i), ip); full {
					t.Fatal("full too early")
				}
			}
			if got, full := p.Take("new", fields(tc.comes)[0]); !full || got != tc.evicted {
				t.Errorf("%q is evicted, want %q", got, tc.evicted)
			}
			if p.Leave(tc.evicted) {
				t.Error("the evicted connection still has a place")
			}
			if !p.Leave("new") || len(p.held) != len(held)-1 {
				t.Errorf("%d places are held", len(p.held))
			}
		})
	}
}

func TestPlacesForgetClosedConnections(t *testing.T) {
	p := NewPlaces[int](10)
	for i := range 100 {
		p.Take(i, netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}))
	}
	for i := range 100 {
		p.Leave(i)
	}
	if len(p.held) != 0 || p.counts.total != 0 || len(p.counts.addresses) != 0 || len(p.counts.networks) != 0 {
		t.Errorf("left behind: %d, %+v", len(p.held), p.counts)
	}
}

// fields parses addresses; "-" is a Unix socket.
func fields(text string) (ips []netip.Addr) {
	for f := range strings.FieldsSeq(text) {
		ip, _ := netip.ParseAddr(f)
		ips = append(ips, ip)
	}
	return ips
}
