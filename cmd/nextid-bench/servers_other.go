//go:build !unix

package main

import "github.com/spf13/cobra"

// serverCommands are those that start servers: none, since servers are started
// and stopped with the users and signals of Unix.
var serverCommands []func(*program) *cobra.Command
