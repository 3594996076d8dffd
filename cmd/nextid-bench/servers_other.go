//go:build !linux

package main

import "github.com/spf13/cobra"

// serverCommands start and measure servers in ways that only Linux has.
func serverCommands() []*cobra.Command { return nil }
