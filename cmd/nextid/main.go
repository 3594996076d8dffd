// Command nextid hands out unique ids in SQL over the PostgreSQL and the MySQL
// wire protocol.
package main

import (
	"os"

	"nextid/cmd"
	"nextid/server/standard"
)

func main() { os.Exit(cmd.Main(standard.Options()...)) }
