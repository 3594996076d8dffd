// Command ids is nextid with an additional kind, store, layout and SQL function.
package main

import (
	"os"
	"time"

	"example.com/ids/checked"
	"example.com/ids/directory"

	"nextid/cmd"
	"nextid/generator"
	"nextid/generator/layout"
	"nextid/server"
	"nextid/server/standard"
)

func main() {
	acme, err := layout.New("acme", []layout.Field{{Kind: layout.Time, Bits: 41}, {Kind: layout.Worker, Bits: 8}, {Kind: layout.Sequence, Bits: 14}},
		time.UnixMilli(1735689600000), time.Millisecond)
	if err != nil {
		panic(err)
	}
	os.Exit(cmd.Main(append(standard.Options(),
		server.WithKind(func(p server.Parts) generator.Kind { return checked.Kind(p.Keep, p.Owner) }),
		server.WithStore(directory.Driver()),
		server.WithLayout(acme),
		server.WithFunction(checked.Function),
	)...))
}
