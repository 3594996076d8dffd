//go:build unix

package main

import "github.com/spf13/cobra"

// benchServers are those that start servers.
var benchServers = []func(*program) *cobra.Command{
	(*program).benchCompareCommand,
	(*program).benchSQLCommand,
	(*program).benchFloorCommand,
	(*program).benchTortureCommand,
}
