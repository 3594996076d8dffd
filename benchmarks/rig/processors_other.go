//go:build !linux

package rig

// Apart does nothing on this system; see processors_linux.go.
func Apart(...*Server) (together func(), err error) { return func() {}, nil }
