package compare

import (
	"math"
	"time"

	"nextid/benchmarks/load"
	"nextid/benchmarks/machine"
)

// growth holds the size of the large table. All sizes are in bytes.
type growth struct {
	rows     int
	whole    bool  // the table has all rows of the plan
	data     int64 // PostgreSQL: the heap; MariaDB: the tree of the primary key, which holds the rows
	indexes  int64 // PostgreSQL: all indexes; MariaDB: those except the primary key
	searched int64 // all indexes; MariaDB: with the rows
	written  int64 // bytes written to disk by all servers of the table
}

// perRow returns a size per row, rounded; nil if the table has fewer rows than
// planned.
func (g *growth) perRow(size int64) []float64 {
	if !g.whole {
		return nil
	}
	return []float64{math.Round(float64(size) / float64(g.rows))}
}

// table is the name of the large table.
const table = "orders"

// statementRows is the number of rows in one INSERT of the large table.
const statementRows = 500

// measureGrowth fills the large table with the plan's number of rows, as far as its
// time limit allows.
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

// growers returns one client for each server of a table. Each writes statementRows
// rows per statement.
func (s *stage) growers(c *contestant, table string) (all load.Clients) {
	for i := range s.tables(c) {
		links := s.links(c, i)
		all = append(all, load.Client{Links: links, Work: &inserter{c: c, journal: &journal{}, table: table, links: links, rows: statementRows}})
	}
	return all
}

// size returns the size of the table on all its servers, after a flush or
// checkpoint.
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
