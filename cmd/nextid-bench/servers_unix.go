//go:build unix

package main

import "github.com/spf13/cobra"

// serverCommands are those that start servers.
var serverCommands = []func(*program) *cobra.Command{
	(*program).compareCommand,
	(*program).sqlCommand,
	(*program).floorCommand,
	(*program).tortureCommand,
	(*program).attackCommand,
}
