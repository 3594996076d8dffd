package compare

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nextid/benchmarks/load"
	"nextid/benchmarks/rig"
)

// growthPoint is a table of some size. All sizes are in bytes.
type growthPoint struct {
	rows    int
	data    int64 // PostgreSQL: the heap; MariaDB: the primary key's tree, which holds the rows
	indexes int64
	written int64 // handed to the disk for it, by all servers that hold it
}

// table is the name of the tables that begin empty.
const table = "orders"

// statementRows is how many rows one INSERT of the large table has.
const statementRows = 500

// measureGrowth fills a table with up to so many rows, for at most a while,
// and looks at its size ten times on the way.
func (s *stage) measureGrowth(ctx context.Context, c *contestant, rows int, most time.Duration, f *figures) error {
	if err := s.create(ctx, c, table); err != nil {
		return err
	}
	servers := s.tables(c)
	var links [][]*load.Link
	defer func() {
		for _, l := range links {
			load.Client{Links: l}.Close()
		}
	}()
	for i := range servers {
		l, err := s.links(ctx, c, i)
		if err != nil {
			return err
		}
		links = append(links, l)
	}
	before := rig.UsageOf(servers...)
	points := []growthPoint{{}}
	g := grower{c: c, table: table}
	for done, begin := 0, time.Now(); done < rows && time.Since(begin) < most; {
		if err := g.insert(ctx, links[done/statementRows%len(links)], uint64(done)); err != nil {
			return err
		}
		done += statementRows
		if done%(rows/10) != 0 && done < rows && time.Since(begin) < most {
			continue
		}
		point, err := s.size(ctx, c)
		if err != nil {
			return err
		}
		point.rows, point.written = done, rig.UsageOf(servers...).Sub(before).Written
		points = append(points, point)
	}
	f.growth = points
	return nil
}

// grower writes many rows.
type grower struct {
	c     *contestant
	table string
	ids   []load.ID
	sql   []byte
}

func (g *grower) insert(ctx context.Context, links []*load.Link, n uint64) error {
	if err := g.draw(ctx, links); err != nil {
		return err
	}
	g.sql = g.c.appendInsert(g.sql[:0], g.table, statementRows, func(i int) load.ID { return g.ids[i] }, n)
	_, err := links[0].Exec(ctx, string(g.sql))
	return err
}

// draw gets the ids of one statement, if it needs any.
func (g *grower) draw(ctx context.Context, links []*load.Link) error {
	g.ids = g.ids[:0]
	from := g.c.from
	switch {
	case g.c.inApp != nil:
		for range statementRows {
			g.ids = append(g.ids, g.c.inApp())
		}
	case from == nil:
	case from.several == "":
		for range statementRows {
			ids, err := links[1].Exec(ctx, from.one)
			if err != nil {
				return err
			}
			g.ids = append(g.ids, ids...)
		}
	default:
		ids, err := links[1].Exec(ctx, fmt.Sprintf(from.several, statementRows))
		if err != nil {
			return err
		}
		g.ids = append(g.ids, ids...)
		if from.run && len(ids) == 1 {
			last := ids[0].Lo
			g.ids = g.ids[:0]
			for i := range uint64(statementRows) {
				g.ids = append(g.ids, load.ID{Lo: last - statementRows + 1 + i})
			}
		}
	}
	if from != nil && len(g.ids) != statementRows {
		return errors.New("the source gave too few ids")
	}
	return nil
}

// size is the size of the table on all its servers, after what is in memory
// was written.
func (s *stage) size(ctx context.Context, c *contestant) (p growthPoint, err error) {
	for _, server := range s.tables(c) {
		link, err := load.Dial(ctx, server.URL)
		if err != nil {
			return p, err
		}
		defer link.Close()
		one := func(sql string) (n int64) {
			if err != nil {
				return 0
			}
			var ids []load.ID
			if ids, err = link.Exec(ctx, sql); err == nil && len(ids) == 1 {
				return int64(ids[0].Lo)
			}
			return 0
		}
		if c.engine == postgres {
			if s.own { // others may be too large for that, and it takes rights
				one("CHECKPOINT")
			}
			p.data += one("SELECT pg_relation_size('" + table + "')")
			p.indexes += one("SELECT pg_indexes_size('" + table + "')")
		} else {
			if s.own {
				one("FLUSH TABLES " + table + " FOR EXPORT") // writes its pages
				one("UNLOCK TABLES")
			}
			one("ANALYZE TABLE " + table)
			const lengths = "_length FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = '" + table + "'"
			p.data += one("SELECT data" + lengths)
			p.indexes += one("SELECT index" + lengths)
		}
		if err != nil {
			return p, err
		}
	}
	return p, nil
}
