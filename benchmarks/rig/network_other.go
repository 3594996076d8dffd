//go:build !linux

package rig

// OwnNetwork does nothing: network namespaces are Linux's.
func OwnNetwork() (done bool, err error) { return false, nil }

// Network names the network that measurements use.
func Network() string { return "the machine's network" }
