package rig

import "syscall"

// endWithParent sends a signal when this process dies.
func endWithParent(attributes *syscall.SysProcAttr, signal syscall.Signal) {
	attributes.Pdeathsig = signal
}
