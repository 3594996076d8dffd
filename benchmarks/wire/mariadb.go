package main

import (
	"fmt"
	"strings"

	"nextid/benchmarks/rig"
)

// mysqlTable measures nextid and MariaDB's sequences over the MySQL protocol.
func (b *bench) mysqlTable(conns string) error {
	p, err := rig.StartMariaDB(b.dir, "CREATE DATABASE t; CREATE SEQUENCE t.s CACHE 1000; CREATE USER b@localhost; GRANT ALL ON t.* TO b@localhost")
	if err != nil {
		return err
	}
	defer p.Stop()
	contestants := []*server{b.mysql, {p.Process, "mariadb", "SELECT NEXT VALUE FOR s"}}
	fmt.Printf("%s, sequence with CACHE 1000\n\n", p.Version)
	fmt.Println("| MySQL protocol | conns | depth | nextid q/s · µs CPU · p99 µs | MariaDB q/s · µs CPU · p99 µs | nextid : MariaDB throughput | CPU MariaDB : nextid |")
	fmt.Println("|---|---|---|---|---|---|---|")
	for _, depth := range []string{"1", "16"} {
		for n := range strings.SplitSeq(conns, ",") {
			results := make([][]result, len(contestants))
			for round := range b.rounds {
				for i := range contestants {
					k := (round + i) % len(contestants)
					r, err := b.load(contestants[k], "mysql", n, depth)
					if err != nil {
						return err
					}
					results[k] = append(results[k], r)
				}
			}
			ours, theirs := results[0], results[1]
			fmt.Printf("| query | %s | %s | %.0f · %.2f · %.0f | %.0f · %.2f · %.0f | %s | %s |\n", n, depth,
				mid(ours, qps), mid(ours, cpu), mid(ours, p99), mid(theirs, qps), mid(theirs, cpu), mid(theirs, p99),
				ratios(ours, theirs, qps), ratios(theirs, ours, cpu))
		}
	}
	fmt.Println()
	return nil
}
