// Command nextid hands out unique ids in SQL over the PostgreSQL wire
// protocol.
//
// This package is the only one that knows all others: it reads the
// configuration, builds the store, the generators, the SQL layer and the wire
// servers, and ties them together.
//
//	main.go, command.go     the commands
//	serve.go                Main: build, serve, drain
//	access.go, passwd.go    users, rules and certificates; the command passwd
//	private.go              files that nobody else may read
//	wiring.go               which stores and generator kinds this build has
//	config.go, setting.go   what can be configured; one table for all sources
//	load.go, file.go        defaults < file < environment < flags; quota.go: the list of quotas
//	reload.go               SIGHUP
//	check.go, parse.go, version.go    the small commands
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	quietLibraries()
	p := &program{
		args:    os.Args[1:],
		environ: os.Environ(),
		stdin:   os.Stdin,
		stdout:  os.Stdout,
		stderr:  os.Stderr,
		reload:  reloadSignals(),
	}
	os.Exit(p.run(stopContext()))
}

// stopContext ends with the first SIGTERM or SIGINT, which asks for a drain.
// The second one ends the process at once.
func stopContext() context.Context {
	ctx, stop := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-signals
		stop()
		<-signals
		os.Exit(exitFailed)
	}()
	return ctx
}

// reloadSignals delivers SIGHUP, which asks a server to read its configuration,
// users, rules and certificates again.
func reloadSignals() <-chan os.Signal {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	return signals
}
