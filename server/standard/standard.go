// Package standard lists the kinds of generators and the stores of the nextid
// program. A program that builds its own server passes Options to server.NewBuild
// or cmd.Main, and adds options of its own. It is a package so that a server can be
// built without them.
package standard

import (
	_ "time/tzdata" // time zones where the machine has none

	"nextid/generator"
	"nextid/generator/code"
	"nextid/generator/counter"
	"nextid/generator/ring"
	"nextid/generator/segment"
	"nextid/generator/snowflake"
	"nextid/generator/store/etcd"
	"nextid/generator/store/mysql"
	"nextid/generator/store/postgres"
	"nextid/generator/store/redis"
	"nextid/generator/store/zookeeper"
	"nextid/generator/ticket"
	"nextid/generator/uuid"
	"nextid/server"
)

// Options returns all kinds and stores. Kinds of numbers get text forms and scatter
// from package code.
func Options() []server.Option {
	return []server.Option{
		server.WithKind(
			numbers(func(p server.Parts) generator.Kind { return snowflake.Kind(p.Pools, p.Layout) }),
			numbers(func(p server.Parts) generator.Kind { return ring.Kind(p.Pools) }),
			numbers(func(p server.Parts) generator.Kind { return segment.Kind(p.Keep, p.Clock, p.Owner) }),
			numbers(func(p server.Parts) generator.Kind {
				return segment.AutoRandom(p.Store, segment.Kind(p.Keep, p.Clock, p.Owner))
			}),
			numbers(func(p server.Parts) generator.Kind { return counter.Kind(p.Store, p.Clock, p.Owner) }),
			numbers(func(p server.Parts) generator.Kind {
				return ticket.Kind(ticket.Config{Store: p.Keep, Runtime: p.Clock, Owner: p.Owner, Passwords: p.Passwords, Logger: p.Logger})
			}),
			func(p server.Parts) generator.Kind { return counter.Dated(p.Store, p.Clock, p.Owner) },
		),
		server.WithKind(texts()...),
		server.WithStore(postgres.Driver(), mysql.Driver(), redis.Driver(), etcd.Driver(), zookeeper.Driver()),
	}
}

// numbers adds text forms and scatter to a kind whose ids are numbers.
func numbers(newKind func(server.Parts) generator.Kind) func(server.Parts) generator.Kind {
	return func(p server.Parts) generator.Kind { return code.Wrap(newKind(p), p.Store) }
}

// texts returns the kinds whose ids are texts.
func texts() []func(server.Parts) generator.Kind {
	var all []func(server.Parts) generator.Kind
	for i := range uuid.Kinds(nil) {
		all = append(all, func(p server.Parts) generator.Kind { return uuid.Kinds(p.Clock)[i] })
	}
	return all
}
