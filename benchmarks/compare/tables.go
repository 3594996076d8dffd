package compare

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"nextid/benchmarks/load"
	"nextid/benchmarks/machine"
	"nextid/dbtest"
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
	before := machine.UsageOf(servers...)
	points := []growthPoint{{}}
	for done, begin := 0, time.Now(); done < rows && time.Since(begin) < r.Plan.GrowthLimit; {
		growers[done/statementRows%len(growers)].insert()
		done += statementRows
		if done%(rows/10) != 0 && done < rows && time.Since(begin) < r.Plan.GrowthLimit {
			continue
		}
		point := s.size(c)
		point.rows, point.written = done, machine.UsageOf(servers...).Sub(before).Written
		points = append(points, point)
	}
	f.growth = points
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
func (s *stage) size(c *contestant) (p growthPoint) {
	const lengths = "_length FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = '" + table + "'"
	write := []string{"FLUSH TABLES " + table + " FOR EXPORT", "UNLOCK TABLES"}
	data, indexes := []string{"ANALYZE TABLE " + table, "SELECT data" + lengths}, "SELECT index"+lengths
	if c.engine == postgres {
		write = []string{"CHECKPOINT"}
		data, indexes = []string{"SELECT pg_relation_size('" + table + "')"}, "SELECT pg_indexes_size('"+table+"')"
	}
	for _, server := range s.tables(c) {
		if s.own { // others may be too large for that, and it takes rights
			s.Exec(server.URL, write...)
		}
		p.data += int64(s.Exec(server.URL, data...)[0].Lo)
		p.indexes += int64(s.Exec(server.URL, indexes)[0].Lo)
	}
	return p
}

// beyondMemory is a table that its server cannot hold in memory, as its last
// rows were written.
type beyondMemory struct {
	name          string
	ours          bool
	rows          int
	perSecond     float64
	read, written float64 // bytes a row, from and to the disk
}

// poolSize is the buffer pool of MariaDB here: near the least that it takes.
const poolSize = 8 << 20

// rowSize is about what a row of such a table takes, in bytes.
const rowSize = 110

// beyondFactor is how many times as many rows these tables have as those of
// the section on growth.
const beyondFactor = 5

// measureBeyondMemory fills tables whose only index is the id's. With O_DIRECT
// the kernel keeps none of their pages either.
func (r *run) measureBeyondMemory() {
	server := dbtest.AsMariaDBWith("innodb-buffer-pool-size="+strconv.Itoa(poolSize), "innodb-flush-method=O_DIRECT")(r.stage)
	defer server.Kill()
	stage := *r.stage
	stage.servers = map[engine][]*dbtest.Server{mariadb: {server}}
	uuid4 := func() load.ID {
		id := newUUIDv7()
		id.Hi = id.Lo<<13 ^ id.Lo>>7 // random in all bits that an index looks at first
		return id
	}
	for _, c := range []*contestant{
		{name: "auto_increment", engine: mariadb, column: "bigint AUTO_INCREMENT"},
		{name: "next_id snowflake", ours: true, engine: mariadb, column: "bigint", from: snowflake(batch)},
		{name: "UUIDv7 of the application", engine: mariadb, column: "binary(16)", inApp: newUUIDv7},
		{name: "UUIDv4 of the application", engine: mariadb, column: "binary(16)", inApp: uuid4},
	} {
		r.part("", "a table larger than memory, "+c.name, func() {
			r.beyond = append(r.beyond, stage.fillBeyond(c, beyondFactor*r.Plan.GrowthRows, 2*r.Plan.GrowthLimit))
		})
	}
}

// fillBeyond fills a table, and looks at the last tenth of its rows.
func (s *stage) fillBeyond(c *contestant, rows int, most time.Duration) beyondMemory {
	server := s.servers[mariadb][0]
	s.Exec(server.URL, "DROP TABLE IF EXISTS "+table, "CREATE TABLE "+table+" (id "+c.column+" PRIMARY KEY, customer bigint NOT NULL, note varchar(100) NOT NULL)")
	g := s.grower(c, table, 0)
	defer g.close()
	type look struct {
		rows  int
		at    time.Time
		usage machine.Usage
	}
	now := func() look { return look{g.rows, time.Now(), machine.UsageOf(server)} }
	begin := now()
	looks := []look{begin}
	for g.rows < rows && time.Since(begin.at) < most {
		if g.insert(); time.Since(looks[len(looks)-1].at) > most/20 {
			looks = append(looks, now())
		}
	}
	end := now()
	i := slices.IndexFunc(looks, func(l look) bool { return l.rows >= g.rows*9/10 })
	from := looks[max(i, 0)]
	if i < 0 || from.rows == end.rows {
		from = looks[max(len(looks)-2, 0)]
	}
	n, used := float64(end.rows-from.rows), end.usage.Sub(from.usage)
	return beyondMemory{c.name, c.ours, g.rows, n / end.at.Sub(from.at).Seconds(), float64(used.Read) / n, float64(used.Written) / n}
}

// relayTo starts a relay before the server of a URL, and returns the URL through
// it.
func relayTo(t testing.TB, target string) (*dbtest.Proxy, string) {
	u := parse(t, target)
	relay := dbtest.Cut(t, u.Host)
	u.Host = relay.Addr
	return relay, u.String()
}
