package torture

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"nextid/benchmarks/load"
	"nextid/benchmarks/report"
	"nextid/dbtest"
)

// AttackConfig configures Attack, which measures the latency of well-behaved clients
// while bad clients attack the server.
//
// The attackers represent other machines. They run in a process of their own, on
// processor time that no other process needs. But all use the same kernel. A control
// shows the effect of that: the same attack on another server, while the clients
// draw from the first one.
type AttackConfig struct {
	Binary   string        // nextid
	Self     string        // nextid-bench, which runs the attackers
	Length   time.Duration // of each measurement: without an attack, control, and attack
	Rounds   int
	Only     string // part of the names of the attacks to run; "": all
	Progress *report.Progress
}

// The well-behaved clients, and their common rate.
const (
	politeClients = 4
	politeRate    = 2000 // draws per second
)

// attackWarm is the duration of an attack before its measurement.
const attackWarm = 500 * time.Millisecond

// Attack measures each attack on servers with TLS and users.
func Attack(ctx context.Context, cfg AttackConfig) (*report.Report, error) {
	out := &report.Report{
		Title: "nextid-bench attack: what others notice of it", Began: time.Now(), Machine: report.ThisMachine(),
		Intro: fmt.Sprintf("%d connections ask for %d ids a second: in peace, while another server is attacked, and while this one is, from a process of its own. "+
			"Milliseconds from the instant at which a request should have begun; the median of the rounds.", politeClients, politeRate),
		Settings: []string{fmt.Sprintf("%d rounds of %v in each state", cfg.Rounds, cfg.Length)},
	}
	rig := dbtest.NewRig()
	defer func() { _ = rig.Close() }()
	s := &attackers{load.Stage{Rig: rig, Ctx: ctx, Nextid: cfg.Binary}, cfg}
	err := rig.Do(func(testing.TB) { s.attack(out) })
	out.Interrupted, out.Took = ctx.Err() != nil, time.Since(out.Began).Seconds()
	return out, err
}

type attackers struct {
	load.Stage
	AttackConfig
}

// attack measures each chosen attack in each round: without it, on another server,
// and on the server itself.
func (s *attackers) attack(out *report.Report) {
	chosen := slices.DeleteFunc(slices.Clone(badClients), func(b bad) bool { return b.attackers == 0 || !strings.Contains(b.name, s.Only) })
	if len(chosen) == 0 {
		s.Fatalf("no attack has %q in its name", s.Only)
	}
	table := report.Table{First: "attack", Columns: report.Columns("p50 in peace", "p50", "p99 in peace", "p99, another server attacked", "p99",
		": peace", ": other attacked", "done")}
	server, other := s.guarded(), s.guarded()
	for _, b := range chosen {
		s.Progress.Part(b.name)
		var p50, p99 [3][]float64 // in peace, another server attacked, this one attacked
		done := ""
		for range s.Rounds {
			for i, target := range []*dbtest.Server{nil, other, server} {
				var latency load.Latency
				latency, done = s.during(b.name, target, server)
				p50[i], p99[i] = append(p50[i], float64(latency.Quantile(0.5))/1e6), append(p99[i], float64(latency.Quantile(0.99))/1e6)
			}
		}
		times := func(a, b []float64) report.Cell {
			return report.Ratio([]float64{report.Median(a)}, []float64{report.Median(b)})
		}
		table.Rows = append(table.Rows, report.Row{Name: b.name, Cells: []report.Cell{
			report.Number(p50[0]...), report.Number(p50[2]...), report.Number(p99[0]...), report.Number(p99[1]...), report.Number(p99[2]...),
			times(p99[2], p99[0]), times(p99[2], p99[1]), report.Text(done),
		}})
	}
	out.Sections = []report.Section{{Title: "A well-behaved client", Table: table}}
}

// guarded starts a server with TLS and users.
func (s *attackers) guarded() *dbtest.Server {
	dir, err := os.MkdirTemp("", "nextid-attack")
	s.Must(err)
	s.Cleanup(func() { _ = os.RemoveAll(dir) })
	add := exec.CommandContext(s.Ctx, s.Nextid, "passwd", "--users", dir+"/users", "--admin", "bench")
	add.Stdin = strings.NewReader("bench\n")
	if out, err := add.CombinedOutput(); err != nil {
		s.Fatalf("nextid passwd: %w\n%s", err, out)
	}
	s.Must(os.Setenv("PGPASSWORD", "bench")) // for all clients of this process, and the attackers
	cert, key, _ := dbtest.Certificate(s, dir)
	return dbtest.Nextid{Binary: s.Nextid, Args: []string{"--users", dir + "/users", "--tls-cert", cert, "--tls-key", key}}.Start(s)
}

// during draws from the server at a fixed rate, while an attack runs on target, nil
// for none. done is the attackers' own report.
func (s *attackers) during(name string, target, server *dbtest.Server) (latency load.Latency, done string) {
	if target != nil {
		cmd := dbtest.Supervised(s.Self, "attack", "--be", name, "--at", target.URL, "--http", target.HTTP)
		var out strings.Builder
		cmd.Stdout = &out
		s.Must(cmd.Start())
		defer func() {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			_ = cmd.Wait() // SIGTERM makes it an error
			done = strings.TrimSpace(out.String())
		}()
	}
	ask := func(_ int, link *load.Link) load.Work {
		return &load.Repeat{Bytes: link.Query(nil, "SELECT next_id('orders')"), Answers: 1}
	}
	s.With(politeClients, func(int) string { return server.URL }, ask, func(clients load.Clients) {
		latency = s.Run(load.Config{Clients: clients, Warm: attackWarm, Length: s.Length, Rate: politeRate}).Latency
	})
	return latency, ""
}

// Be runs the attackers of one name until ctx ends. The server is given by its URL
// and its address of HTTP. The result is the number of runs, and of those that
// failed.
func Be(ctx context.Context, name, at, overHTTP string) (string, error) {
	if err := yield(); err != nil {
		return "", err
	}
	cfg, err := pgx.ParseConfig(at)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(at)
	if err != nil {
		return "", err
	}
	v := &victim{config: cfg, address: func(over protocol) (string, string) {
		return "tcp", map[bool]string{true: overHTTP, false: u.Host}[over == web]
	}}
	var done, failed atomic.Int64
	var work sync.WaitGroup
	for _, b := range badClients {
		if b.name != name {
			continue
		}
		for range b.attackers {
			work.Go(func() {
				for ctx.Err() == nil {
					if err := b.do(ctx, v); err != nil {
						failed.Add(1)
						rest(ctx, 10*time.Millisecond)
					} else {
						done.Add(1)
					}
					rest(ctx, b.pause)
				}
			})
		}
	}
	work.Wait()
	return fmt.Sprintf("%d, %d refused", done.Load(), failed.Load()), nil
}
