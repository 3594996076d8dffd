// Command nextid issues unique ids in SQL, over the wire protocols of PostgreSQL
// and MySQL. Package cmd holds its commands.
package main

import (
	"os"

	"nextid/cmd"
	"nextid/server/standard"
)

func main() { os.Exit(cmd.Main(standard.Options()...)) }
