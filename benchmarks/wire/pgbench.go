package wire

import (
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
var pgbenchConns = simple(1, 8, 32)

// pgbench asks nextid and PostgreSQL with PostgreSQL's own client, which costs
// more than ours but is nobody's invention here. It needs both of them.
func (r *run) pgbench(g *group) {
	var contestants []contestant // ours first
	for _, c := range g.contestants {
		switch c.name {
		case ours:
			contestants = append([]contestant{c}, contestants...)
		case cache1:
			contestants = append(contestants, c)
		}
	}
	if _, err := exec.LookPath("pgbench"); err != nil || len(contestants) < 2 {
		return
	}
	const title = "With pgbench"
	r.Progress.Part(title)
	// A whole number of seconds: in one pgbench may count nothing.
	length := max(2*time.Second, r.Length.Truncate(time.Second))
	r.Progress.Expect(time.Duration(len(contestants)*len(pgbenchConns)*r.Rounds) * length)
	section := report.Section{
		Title: title, Text: "The same with PostgreSQL's own client (pgbench -M simple -j 1), which takes most of a processor itself.",
		Table: report.Table{First: "setting", Columns: []report.Column{
			{Name: ours + " /s", Better: "more"}, {Name: cache1 + " /s", Better: "more"}, {Name: "nextid : " + cache1, Better: "more"},
		}},
	}
	for _, s := range pgbenchConns {
		samples := make([][]float64, len(contestants))
		r.inTurns(contestants, title, fmt.Sprintf("%d connections", s.conns), length, func(k int) {
			samples[k] = append(samples[k], r.transactions(contestants[k], s.conns, length))
		})
		section.Table.Rows = append(section.Table.Rows, report.Row{Name: s.String(), Cells: []report.Cell{
			report.Number(samples[0]...), report.Number(samples[1]...), report.Ratio(samples[0], samples[1]),
		}})
	}
	if r.Ctx.Err() == nil {
		r.report.Sections = append(r.report.Sections, section)
	}
}

// transactions runs pgbench for a time and returns its transactions a second.
// pgbench's time begins before its clients have connected. Where nothing is left
// of it, it runs again for twice as long.
func (r *run) transactions(c contestant, conns int, length time.Duration) float64 {
	const most = 16 * time.Second
	u, err := url.Parse(c.url)
	r.Must(err)
	script := filepath.Join(c.server.Dir, "script.sql")
	r.Must(os.WriteFile(script, []byte(c.sql+";\n"), 0o600))
	for ; ; length *= 2 {
		cmd := exec.CommandContext(r.Ctx, "pgbench", "-n", "-M", "simple", "-c", strconv.Itoa(conns), "-j", "1",
			"-T", strconv.Itoa(int(length.Seconds())), "-f", script, "-h", u.Hostname(), "-p", u.Port(), "-U", u.User.Username(),
			strings.TrimPrefix(u.Path, "/"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			r.Fatalf("pgbench: %w\n%s", err, out)
		}
		_, tps, told := strings.Cut(string(out), "\ntps = ")
		if !told && length < most {
			continue
		}
		if !told {
			r.Fatalf("pgbench told no tps:\n%s", out)
		}
		number, _, _ := strings.Cut(tps, " ")
		perSecond, err := strconv.ParseFloat(number, 64)
		r.Must(err)
		return perSecond
	}
}
