// Package server runs a nextid server: it reads the configuration, opens the
// store, and serves ids over the wire protocols and HTTP.
//
// A Build lists the parts of a server: kinds of generators, shared stores and SQL
// functions. Flags and LoadFile read a Config for a Build. New checks the Config
// and returns a Server. Server.Run serves until its context ends.
//
// Run opens the HTTP status, the listeners and the engine, and closes them in the
// reverse order. The engine holds the store and everything that uses it. Only the
// goroutine of Run changes the configuration, on a reload.
//
//	serve.go                 Server and Run: open, serve, drain, close
//	engine.go, store.go      the engine: the store and what uses it, below the protocols
//	build.go                 Build and its options
//	config.go, setting.go    what can be configured; one table for all sources
//	load.go, file.go         defaults < file < environment < flags
//	value.go                 how a text becomes a value
//	access.go                users, rules and certificates; changing users
//	private.go               files with secrets
//	reload.go                reading the configuration again
//	endpoint.go              the wire protocols, before and after there is a store
//	status.go, metrics.go    health checks, the page and /metrics
//	forecast.go, feeder.go   background work: what runs out; sequences in databases
//	copy.go, repair.go       copying an embedded store to a shared one; repairing it
//	parse.go                 taking an id apart without a server
package server
