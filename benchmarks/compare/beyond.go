package compare

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"nextid/benchmarks/load"
	"nextid/benchmarks/report"
	"nextid/benchmarks/rig"
)

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
func (s *stage) measureBeyondMemory(ctx context.Context, rows int, most time.Duration, n *notebook) (all []beyondMemory) {
	server, err := s.rig.MariaDB(ctx, fmt.Sprintf("--innodb-buffer-pool-size=%d", poolSize), "--innodb-flush-method=O_DIRECT")
	if err != nil {
		if ctx.Err() == nil {
			n.once("a table larger than memory: %v", err)
		}
		return nil
	}
	defer server.Kill()
	stage := *s
	stage.servers = map[engine][]*rig.Server{mariadb: {server}}
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
		b, err := stage.fillBeyond(ctx, c, beyondFactor*rows, 2*most)
		if ctx.Err() != nil {
			return all
		}
		if err != nil {
			n.once("a table larger than memory, %s: %v", c.name, err)
			continue
		}
		all = append(all, b)
	}
	return all
}

// fillBeyond fills a table, and looks at the last tenth of its rows.
func (s *stage) fillBeyond(ctx context.Context, c *contestant, rows int, most time.Duration) (b beyondMemory, err error) {
	b = beyondMemory{name: c.name, ours: c.ours}
	server := s.servers[mariadb][0]
	if err := s.exec(ctx, server.URL, "DROP TABLE IF EXISTS "+table, "CREATE TABLE "+table+" (id "+c.column+" PRIMARY KEY, customer bigint NOT NULL, note varchar(100) NOT NULL)"); err != nil {
		return b, err
	}
	links, err := s.links(ctx, c, 0)
	if err != nil {
		return b, err
	}
	defer load.Client{Links: links}.Close()
	type look struct {
		rows  int
		at    time.Time
		usage rig.Usage
	}
	now := func() look { return look{b.rows, time.Now(), rig.UsageOf(server)} }
	begin := now()
	looks := []look{begin}
	g := grower{c: c, table: table}
	for b.rows < rows && time.Since(begin.at) < most {
		if err := g.insert(ctx, links, uint64(b.rows)); err != nil {
			return b, err
		}
		b.rows += statementRows
		if time.Since(looks[len(looks)-1].at) > most/20 {
			looks = append(looks, now())
		}
	}
	end := now()
	i := slices.IndexFunc(looks, func(l look) bool { return l.rows >= b.rows*9/10 })
	from := looks[max(i, 0)]
	if i < 0 || from.rows == end.rows {
		from = looks[max(len(looks)-2, 0)]
	}
	n, used := float64(end.rows-from.rows), end.usage.Sub(from.usage)
	b.perSecond = n / end.at.Sub(from.at).Seconds()
	b.read, b.written = float64(used.Read)/n, float64(used.Written)/n
	return b, nil
}

func (r *run) beyondSection() report.Section {
	t := report.Table{First: "ids from", Columns: []report.Column{
		{Name: "rows"}, {Name: "rows/s at the end", Better: "more"}, {Name: "read bytes a row", Better: "less"}, {Name: "written bytes a row", Better: "less"},
	}}
	panel := report.Panel{}
	for _, b := range r.beyond {
		if b.rows*rowSize < poolSize {
			few := report.Text("too few rows")
			t.Rows = append(t.Rows, report.Row{Name: b.name, Ours: b.ours, Cells: []report.Cell{report.Number(float64(b.rows)), few, few, few}})
			continue
		}
		t.Rows = append(t.Rows, report.Row{Name: b.name, Ours: b.ours, Cells: []report.Cell{
			report.Number(float64(b.rows)), report.Number(math.Round(b.perSecond)), report.Number(math.Round(b.read)), report.Number(math.Round(b.written)),
		}})
		panel.Bars = append(panel.Bars, report.Bar{Name: b.name, Value: math.Round(b.perSecond), Ours: b.ours})
	}
	return report.Section{
		Title: "A table larger than memory",
		Text: fmt.Sprintf("One MariaDB with a buffer pool of %d MB and O_DIRECT, so that neither it nor the kernel keeps more of a table in memory; %d rows take about %d MB, "+
			"and more where keys are random, since pages are then part empty. The last tenth of the rows, by INSERTs of %d: random keys lie on pages that must be read first, "+
			"and each is written with few new rows on it. What a page costs is up to the disk; a virtual one may keep pages in its host's memory.",
			poolSize>>20, beyondFactor*r.Plan.GrowthRows, beyondFactor*r.Plan.GrowthRows*rowSize>>20, statementRows),
		Table:  t,
		Charts: []report.Chart{{Title: "A table larger than memory", Unit: "rows a second", Better: "more", Panels: []report.Panel{panel}}},
	}
}
