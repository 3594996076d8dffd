package auth

import (
	"net/netip"
	"testing"
	"time"

	"nextid/wire"
)

func TestFailuresCostTime(t *testing.T) {
	var f failures
	now := time.Unix(1_700_000_000, 0)
	ip := netip.MustParseAddr("192.0.2.1")
	for i := range failureBurst {
		if d := f.add(ip, now); d != failureDelay {
			t.Fatalf("failure %d waits %v", i, d)
		}
	}
	var last time.Duration
	for range 100 { // in the same instant
		d := f.add(ip, now)
		if d < last || d > failureMost {
			t.Fatalf("%v after %v", d, last)
		}
		last = d
	}
	if last != failureMost {
		t.Errorf("a flood waits %v, want %v", last, failureMost)
	}
	if d := f.add(netip.MustParseAddr("192.0.2.2"), now); d != failureDelay {
		t.Errorf("another address waits %v", d)
	}
	if d := f.add(ip, now.Add(failureBurst*failureEvery+failureMost)); d != failureDelay {
		t.Errorf("after a while it waits %v", d)
	}
}

// A network that goes on guessing has one guess a second.
func TestGuessesAMinute(t *testing.T) {
	var f failures
	start := time.Unix(1_700_000_000, 0)
	now, guesses := start, 0
	for now.Sub(start) < 10*time.Minute {
		now = now.Add(f.add(netip.MustParseAddr("2001:db8::1"), now))
		guesses++
	}
	if most := failureBurst + int(10*time.Minute/failureEvery) + 10; guesses > most {
		t.Errorf("%d guesses in ten minutes, want at most %d", guesses, most)
	}
}

func TestAddressesOfOneHostCountTogether(t *testing.T) {
	for a, b := range map[string]string{"2001:db8::1": "2001:db8::ffff:1", "192.0.2.1": "192.0.2.1"} {
		if wire.Network(netip.MustParseAddr(a)) != wire.Network(netip.MustParseAddr(b)) {
			t.Errorf("%s and %s count apart", a, b)
		}
	}
	if wire.Network(netip.MustParseAddr("192.0.2.1")) == wire.Network(netip.MustParseAddr("192.0.2.2")) {
		t.Error("two addresses count as one")
	}
	_ = wire.Network(netip.Addr{}) // a Unix socket
}

func TestFailuresAreBounded(t *testing.T) {
	var f failures
	now := time.Unix(1_700_000_000, 0)
	a := [4]byte{10}
	for i := range failureAddresses + 1000 {
		a[1], a[2], a[3] = byte(i>>16), byte(i>>8), byte(i)
		f.add(netip.AddrFrom4(a), now)
		now = now.Add(time.Microsecond)
	}
	if n := len(f.used); n > failureAddresses {
		t.Errorf("%d addresses are remembered", n)
	}
	now = now.Add(time.Hour)
	f.add(netip.MustParseAddr("192.0.2.1"), now)
	if n := len(f.used); n > 1 {
		t.Errorf("%d addresses are remembered after an hour", n)
	}
}
