package compare

import (
	"math"
	"time"

	"nextid/benchmarks/load"
	"nextid/benchmarks/machine"
)

// growth holds the size of a table that was filled. All sizes are in bytes.
type growth struct {
	rows     int
	whole    bool  // it has as many rows as the others
	data     int64 // PostgreSQL: the heap; MariaDB: the primary key's tree, which holds the rows
	indexes  int64
	searched int64 // all indexes; MariaDB: with the rows
	written  int64 // handed to the disk for it, by all servers that hold it
}

// perRow divides a size by the rows, rounded; none of a table that is smaller than others.
func (g *growth) perRow(size int64) []float64 {
	if !g.whole {
		return nil
	}
	return []float64{math.Round(float64(size) / float64(g.rows))}
}

// table is the name of the tables that begin empty.
const table = "orders"

// statementRows counts the rows in one INSERT of the large table.
const statementRows = 500

// measureGrowth fills a table with up to so many rows, for at most a while.
func (r *run) measureGrowth(c *contestant, f *figures) {
	s, rows := r.stage, r.Plan.GrowthRows
	s.create(c, table)
	servers := s.tables(c)
	growers := s.growers(c, table)
	defer growers.Close()
	before, done := machine.UsageOf(servers...), 0
	for begin := time.Now(); done < rows && time.Since(begin) < r.Plan.GrowthLimit; done += statementRows {
		s.Must(load.Once(s.Ctx, growers[done/statementRows%len(growers):][:1]))
	}
	f.growth = s.size(c)
	f.growth.rows, f.growth.whole = done, done >= rows
	f.growth.written = machine.UsageOf(servers...).Sub(before).Written
}

// growers write many rows with each statement, one to each server.
func (s *stage) growers(c *contestant, table string) (all load.Clients) {
	for i := range s.tables(c) {
		links := s.links(c, i)
		all = append(all, load.Client{Links: links, Work: &inserter{c: c, journal: &journal{}, table: table, links: links, rows: statementRows}})
	}
	return all
}

// size is the size of the table on all its servers, after what is in memory
// was written.
func (s *stage) size(c *contestant) (g growth) {
	const lengths = "_length FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = '" + table + "'"
	write := []string{"FLUSH TABLES " + table + " FOR EXPORT", "UNLOCK TABLES"}
	data, indexes := []string{"ANALYZE TABLE " + table, "SELECT data" + lengths}, "SELECT index"+lengths
	if c.engine == postgres {
		write = []string{"CHECKPOINT"}
		data, indexes = []string{"SELECT pg_relation_size('" + table + "')"}, "SELECT pg_indexes_size('"+table+"')"
	}
	for _, server := range s.tables(c) {
		s.Exec(server.URL, write...)
		g.data += int64(s.Exec(server.URL, data...)[0].Lo)
		g.indexes += int64(s.Exec(server.URL, indexes)[0].Lo)
	}
	if g.searched = g.indexes; c.engine == mariadb {
		g.searched += g.data
	}
	return g
}
