//go:build !unix

package main

import "github.com/spf13/cobra"

// benchServers are those that start servers: none, since servers are started
// and stopped with the users and signals of Unix.
var benchServers []func(*program) *cobra.Command
