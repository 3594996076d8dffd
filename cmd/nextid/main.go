// Command nextid hands out unique ids in SQL over the PostgreSQL and the MySQL
// wire protocol. It has the commands; package server is what serve runs.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
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
