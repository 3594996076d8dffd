//go:build !linux

package rig

import "syscall"

// endWithParent does nothing: only Linux can.
func endWithParent(*syscall.SysProcAttr, syscall.Signal) {}
