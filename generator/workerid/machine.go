package workerid

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"nextid/generator/worker"
)

// hardware is MyBatis-Plus's way (class Sequence). The datacenter comes from the
// network card's address, the worker from the datacenter and the process id. In
// containers the process id is mostly 1, so that at most 32 pairs exist. Then two
// of six servers have the same pair with a probability of 39 %.
type hardware struct {
	mac net.HardwareAddr // nil: no network card; empty: one without an address
	pid int
}

// newHardware uses the first network card that is up and not the loopback.
func newHardware(pid int) (hardware, error) {
	cards, err := net.Interfaces()
	if err != nil {
		return hardware{}, fmt.Errorf("the network cards: %w", err)
	}
	h := hardware{pid: pid}
	for _, card := range cards {
		if card.Flags&net.FlagLoopback == 0 && card.Flags&net.FlagUp != 0 {
			h.mac = append(net.HardwareAddr{}, card.HardwareAddr...)
			if len(h.mac) > 0 {
				break
			}
		}
	}
	return h, nil
}

func (h hardware) Wish(_ context.Context, w worker.Width) (worker.Wish, error) {
	datacenter := h.datacenter(1 << w.Datacenter)
	return worker.Wish{
		ID:   datacenter<<w.Worker | h.worker(datacenter, 1<<w.Worker),
		Note: "with MyBatis-Plus's rule both servers would have issued the same ids",
	}, nil
}

// datacenter computes MyBatis-Plus's getDatacenterId.
func (h hardware) datacenter(ids int64) int64 {
	switch n := len(h.mac); {
	case h.mac == nil:
		return 1 % ids
	case n < 2:
		return 0
	default:
		return (int64(h.mac[n-2]) | int64(h.mac[n-1])<<8) >> 6 % ids
	}
}

// worker computes MyBatis-Plus's getMaxWorkerId.
func (h hardware) worker(datacenter, ids int64) int64 {
	return int64(hashCode(strconv.FormatInt(datacenter, 10)+strconv.Itoa(h.pid))&0xffff) % ids
}

// hashCode computes Java's String.hashCode for ASCII.
func hashCode(s string) int32 {
	var h int32
	for i := range len(s) {
		h = 31*h + int32(s[i])
	}
	return h
}

// address is sonyflake's way: the low 16 bits of the host's IPv4 address.
type address [4]byte

func newAddress() (address, error) {
	ip, err := ownAddress()
	if err != nil {
		return address{}, err
	}
	return address(ip), nil
}

// ownAddress returns the first IPv4 address of this host except the loopback.
func ownAddress() (net.IP, error) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("the addresses of this host: %w", err)
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && n.IP.To4() != nil {
			return n.IP.To4(), nil
		}
	}
	return nil, errors.New("this host has no IPv4 address but the loopback")
}

func (a address) Wish(_ context.Context, w worker.Width) (worker.Wish, error) {
	return worker.Wish{
		ID:   (int64(a[2])<<8 | int64(a[3])) % w.IDs(),
		Note: "with sonyflake's rule both servers would have issued the same ids",
	}, nil
}
