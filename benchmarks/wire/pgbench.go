package wire

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"nextid/benchmarks/report"
)

// pgbenchConns are how many clients pgbench plays.
var pgbenchConns = []int{1, 8, 32}

// pgbenchTime is how long pgbench runs for a measurement, a whole number of
// seconds: in one it may count nothing.
func (c Config) pgbenchTime() time.Duration {
	return max(2*time.Second, c.Length.Truncate(time.Second))
}

// pgbench asks nextid and PostgreSQL with PostgreSQL's own client, which costs
// more than ours but is nobody's invention here.
func (c Config) pgbench(ctx context.Context, g *group, r *report.Report) {
	title := "With pgbench"
	c.Progress.Part(title)
	dir, err := os.MkdirTemp("", "nextid-pgbench")
	if err != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("%s: %v", title, err))
		return
	}
	defer os.RemoveAll(dir)
	section := report.Section{
		Title: title, Table: report.Table{First: "setting"},
		Text: "The same with PostgreSQL's own client (pgbench -M simple -j 1), which takes most of a processor itself.",
	}
	var names []string
	for _, contestant := range g.contestants {
		names = append(names, contestant.name)
		section.Table.Columns = append(section.Table.Columns, report.Column{Name: contestant.name + " /s", Better: "more"})
	}
	for _, name := range names[1:] {
		section.Table.Columns = append(section.Table.Columns, report.Column{Name: "nextid : " + name, Better: "more"})
	}
	for _, conns := range pgbenchConns {
		samples := make([][]float64, len(g.contestants))
		for round := range c.Rounds {
			for i := range g.contestants {
				k := (round + i) % len(g.contestants)
				c.Progress.Step(fmt.Sprintf("%d connections: %s", conns, names[k]))
				perSecond, err := g.contestants[k].pgbench(ctx, dir, conns, c.pgbenchTime())
				c.Progress.Did(c.pgbenchTime())
				if ctx.Err() != nil {
					return
				}
				if err != nil {
					r.Notes = append(r.Notes, fmt.Sprintf("%s: %v", title, err))
					return
				}
				samples[k] = append(samples[k], perSecond)
			}
		}
		row := report.Row{Name: setting{conns: conns, depth: 1}.String()}
		for k := range samples {
			row.Cells = append(row.Cells, report.Number(samples[k]...))
		}
		for _, other := range samples[1:] {
			row.Cells = append(row.Cells, report.Ratio(samples[0], other))
		}
		section.Table.Rows = append(section.Table.Rows, row)
	}
	r.Sections = append(r.Sections, section)
}

// pgbench runs pgbench for a time and returns its transactions a second.
func (c *contestant) pgbench(ctx context.Context, dir string, conns int, length time.Duration) (float64, error) {
	u, err := url.Parse(c.url)
	if err != nil {
		return 0, err
	}
	script := filepath.Join(dir, "script.sql")
	if err := os.WriteFile(script, []byte(c.sql+";\n"), 0o600); err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, "pgbench", "-n", "-M", "simple", "-c", strconv.Itoa(conns), "-j", "1",
		"-T", strconv.Itoa(int(length.Seconds())), "-f", script, "-h", u.Hostname(), "-p", u.Port(), "-U", u.User.Username(),
		strings.TrimPrefix(u.Path, "/"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("pgbench on %s: %w\n%s", c.name, err, out)
	}
	for line := range strings.Lines(string(out)) {
		if v, ok := strings.CutPrefix(line, "tps = "); ok {
			number, _, _ := strings.Cut(v, " ")
			return strconv.ParseFloat(number, 64)
		}
	}
	return 0, errors.New("pgbench on " + c.name + " said no tps")
}

// withPgbench picks those of a group that pgbench can compare, ours first; nil
// without pgbench or PostgreSQL.
func (g *group) withPgbench() *group {
	if _, err := exec.LookPath("pgbench"); err != nil {
		return nil
	}
	picked := &group{}
	for _, c := range g.contestants {
		switch c.name {
		case ours:
			picked.contestants = append([]contestant{c}, picked.contestants...)
		case cache1:
			picked.contestants = append(picked.contestants, c)
		}
	}
	if len(picked.contestants) < 2 {
		return nil
	}
	return picked
}
