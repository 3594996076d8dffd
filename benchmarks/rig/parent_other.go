//go:build !linux

package rig

import "syscall"

// EndWithParent does nothing: only Linux can.
func EndWithParent(*syscall.SysProcAttr, syscall.Signal) {}
