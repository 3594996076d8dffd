package server

import (
	"nextid/generator"
	"nextid/generator/code"
	"nextid/generator/segment"
	"nextid/generator/snowflake"
	"nextid/generator/store/etcd"
	"nextid/generator/store/mysql"
	"nextid/generator/store/postgres"
	"nextid/generator/store/redis"
	"nextid/generator/ticket"
)

// testBuild has a kind of each sort.
var testBuild = NewBuild(
	WithKind(
		func(p Parts) generator.Kind { return code.Wrap(snowflake.Kind(p.Pools, p.Layout), p.Store) },
		func(p Parts) generator.Kind { return code.Wrap(segment.Kind(p.Keep, p.Clock, p.Owner), p.Store) },
		func(p Parts) generator.Kind { return ticket.Kind(ticket.Config{Store: p.Keep, Runtime: p.Clock}) },
	),
	WithStore(postgres.Driver(), mysql.Driver(), redis.Driver(), etcd.Driver()),
)
