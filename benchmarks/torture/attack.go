package torture

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

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
	load.Setup
	Length time.Duration // of each measurement: without an attack, control, and attack
	Rounds int
	Only   string // part of the names of the attacks to run; "": all
}

// The well-behaved clients, and their common rate.
const (
	politeClients = 4
	politeRate    = 2000 // draws per second
)

// attackWarm is the duration of an attack before its measurement.
const attackWarm = 500 * time.Millisecond

// Attack measures each attack on servers with TLS and users: each chosen one in each
// round without it, on another server, and on the server itself.
func Attack(ctx context.Context, cfg AttackConfig) (*report.Report, error) {
	return cfg.Measure(ctx, &report.Report{
		Title: "nextid-bench attack: what others notice of it",
		Intro: fmt.Sprintf("%d connections ask for %d ids a second: in peace, while another server is attacked, and while this one is, from a process of its own. "+
			"Milliseconds from the instant at which a request should have begun; the median of the rounds.", politeClients, politeRate),
		Settings: []string{fmt.Sprintf("%d rounds of %v in each state", cfg.Rounds, cfg.Length)},
	}, func(s *load.Stage) {
		chosen := slices.DeleteFunc(slices.Clone(badClients), func(b bad) bool { return b.attackers == 0 || !strings.Contains(b.name, cfg.Only) })
		if len(chosen) == 0 {
			s.Fatalf("no attack has %q in its name", cfg.Only)
		}
		table := report.Table{First: "attack", Columns: report.Columns("p50 in peace", "p50", "p99 in peace", "p99, another server attacked", "p99",
			": peace", ": other attacked", "done")}
		server, other := guarded(s), guarded(s)
		for _, b := range chosen {
			s.Progress.Part(b.name)
			var p50, p99 [3][]float64 // in peace, another server attacked, this one attacked
			done := ""
			for range cfg.Rounds {
				for i, target := range []*dbtest.Server{nil, other, server} {
					var latency load.Latency
					latency, done = cfg.under(s, b.name, target, server)
					p50[i], p99[i] = append(p50[i], float64(latency.Quantile(0.5))/1e6), append(p99[i], float64(latency.Quantile(0.99))/1e6)
				}
			}
			times := func(a, b []float64) report.Cell {
				return report.Ratio([]float64{report.Median(a)}, []float64{report.Median(b)})
			}
			table.Rows = append(table.Rows, row(b.name,
				report.Number(p50[0]...), report.Number(p50[2]...), report.Number(p99[0]...), report.Number(p99[1]...), report.Number(p99[2]...),
				times(p99[2], p99[0]), times(p99[2], p99[1]), report.Text(done)))
		}
		s.Report.Sections = []report.Section{{Title: "A well-behaved client", Table: table}}
	})
}

// guarded starts a server with TLS and users.
func guarded(s *load.Stage) *dbtest.Server {
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
	return s.Server("--users", dir+"/users", "--tls-cert", cert, "--tls-key", key).Start(s)
}

// under draws from the server at a fixed rate, while an attack runs on target, nil
// for none. done is the attackers' own report.
func (cfg AttackConfig) under(s *load.Stage, name string, target, server *dbtest.Server) (latency load.Latency, done string) {
	if target != nil {
		cmd := dbtest.Supervised(s.Self, "attackers", name, target.URL, target.HTTP)
		var out strings.Builder
		cmd.Stdout = &out
		s.Must(cmd.Start())
		defer func() {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			_ = cmd.Wait() // SIGTERM makes it an error
			done = strings.TrimSpace(out.String())
		}()
	}
	s.With(politeClients, func(_ int, c *load.Client) {
		c.Work = load.Repeat{{Bytes: s.Dial(c, server.URL).Query(nil, "SELECT next_id('orders')"), Answers: 1}}
	}, func(clients []load.Client) {
		latency = s.Run(load.Config{Clients: clients, Warm: attackWarm, Length: cfg.Length, Rate: politeRate}).Latency
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
	u, err := url.Parse(at)
	if err != nil {
		return "", err
	}
	v := &victim{url: at, pg: u.Host, http: overHTTP}
	var done, failed atomic.Int64
	var work sync.WaitGroup
	for _, b := range badClients {
		if b.name != name {
			continue
		}
		for range b.attackers {
			work.Go(func() {
				for ; ctx.Err() == nil; load.Rest(ctx, b.pause) {
					if err := b.do(ctx, v); err != nil {
						failed.Add(1)
						load.Rest(ctx, 10*time.Millisecond)
					} else {
						done.Add(1)
					}
				}
			})
		}
	}
	work.Wait()
	return fmt.Sprintf("%d, %d refused", done.Load(), failed.Load()), nil
}

// yield gives this process the policy SCHED_IDLE (sched(7)), with which it runs only
// when no other process needs the processor. A policy belongs to a thread. So yield
// executes the program again in the present thread, and all new threads inherit the
// policy.
func yield() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	had, err := unix.SchedGetAttr(0, 0)
	if err != nil || had.Policy == unix.SCHED_IDLE {
		return err
	}
	if err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return unix.Exec(self, os.Args, os.Environ())
}
