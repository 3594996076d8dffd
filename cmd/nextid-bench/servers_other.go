//go:build !linux

package main

import "github.com/spf13/cobra"

// serverCommands returns none: the measurements need Linux.
func serverCommands() []*cobra.Command { return nil }
