package compare

import (
	"fmt"
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
	var growers []*grower
	for i := range servers {
		g := s.grower(c, table, i)
		defer g.close()
		growers = append(growers, g)
	}
	before, done := machine.UsageOf(servers...), 0
	for begin := time.Now(); done < rows && time.Since(begin) < r.Plan.GrowthLimit; done += statementRows {
		growers[done/statementRows%len(growers)].insert()
	}
	f.growth = s.size(c)
	f.growth.rows, f.growth.whole = done, done >= rows
	f.growth.written = machine.UsageOf(servers...).Sub(before).Written
}

// grower writes many rows to one server.
type grower struct {
	s     *stage
	c     *contestant
	table string
	links []*load.Link
	rows  int
	ids   []load.ID
	sql   []byte
}

func (s *stage) grower(c *contestant, table string, i int) *grower {
	return &grower{s: s, c: c, table: table, links: s.links(c, i)}
}

func (g *grower) close() { load.Clients{{Links: g.links}}.Close() }

// exec runs a statement on the table's server, or on the source of ids.
func (g *grower) exec(link int, sql string) []load.ID {
	ids, err := g.links[link].Exec(g.s.Ctx, sql)
	g.s.Must(err)
	return ids
}

func (g *grower) insert() {
	g.draw()
	g.sql = g.c.appendInsert(g.sql[:0], g.table, statementRows, func(i int) load.ID { return g.ids[i] }, uint64(g.rows))
	g.exec(0, string(g.sql))
	g.rows += statementRows
}

// draw gets the ids of one statement, if it needs any.
func (g *grower) draw() {
	g.ids = g.ids[:0]
	from := g.c.from
	switch {
	case g.c.generated():
		return
	case g.c.inApp != nil:
		for range statementRows {
			g.ids = append(g.ids, g.c.inApp())
		}
	case from.several == "":
		for range statementRows {
			g.ids = append(g.ids, g.exec(1, from.one)...)
		}
	default:
		g.ids = append(g.ids, g.exec(1, fmt.Sprintf(from.several, statementRows))...)
		if from.run && len(g.ids) == 1 {
			last := g.ids[0].Lo
			g.ids = g.ids[:0]
			for i := range uint64(statementRows) {
				g.ids = append(g.ids, load.ID{Lo: last - statementRows + 1 + i})
			}
		}
	}
	if len(g.ids) != statementRows {
		g.s.Fatal("the source gave too few ids")
	}
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
