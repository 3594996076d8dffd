// Package server is nextid's server: it reads the configuration, builds the
// store, the generators, the SQL layer and the protocols, and ties them
// together.
//
//	serve.go                Main: build, serve, drain
//	access.go, private.go   users, rules and certificates; files that only their owner may read
//	wiring.go               which stores and generator kinds this build has
//	config.go, setting.go   what can be configured; one table for all sources
//	load.go, file.go        defaults < file < environment < flags; quota.go: the list of quotas
//	reload.go               reading the configuration again
//	status.go, metrics.go   what the server says about itself over HTTP
package server
