package rig

import "syscall"

// EndWithParent sends a signal when this process dies.
func EndWithParent(attributes *syscall.SysProcAttr, signal syscall.Signal) {
	attributes.Pdeathsig = signal
}
