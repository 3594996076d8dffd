//go:build unix

// Package attack measures what a well-behaved client notices while others
// attack the server: floods of connections, of TLS handshakes and of passwords,
// unfinished messages, large statements, readers that do not read.
//
// The attackers are a process of their own, which gives way to others: they
// stand for other machines.
package attack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"nextid/benchmarks/report"
	"nextid/benchmarks/rig"
)

// Config is what a run is told.
type Config struct {
	Binary   string        // nextid
	Self     string        // nextid-bench, for the attackers
	Length   time.Duration // of an attack, and of the calm before it
	Rounds   int
	Only     string // an attack's name, or a part of it; "": all
	Progress *report.Progress
}

// every is how often each well-behaved client asks.
const every = 2 * time.Millisecond

// clients are the well-behaved ones.
const clients = 4

// Run measures each attack.
func Run(ctx context.Context, cfg Config) (out *report.Report, err error) {
	began := time.Now()
	rigged, err := rig.New()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rigged.Close()) }()
	dir, err := os.MkdirTemp("", "nextid-attack")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	args, err := prepare(ctx, cfg.Binary, dir)
	if err != nil {
		return nil, err
	}
	if err := os.Setenv("PGPASSWORD", "bench"); err != nil { // for rig, which logs in as bench
		return nil, err
	}
	server, err := rigged.Nextid(ctx, cfg.Binary, args...)
	if err != nil {
		return nil, err
	}
	out = &report.Report{
		Title: "nextid-bench attack: what others notice of it", Began: began, Machine: report.ThisMachine(),
		Intro: fmt.Sprintf("%d connections ask for an id every %v each, first in peace, then during an attack from a process of its own. "+
			"Milliseconds; the median of the rounds.", clients, every),
		Settings: []string{fmt.Sprintf("%d rounds of %v in peace and %v of each attack", cfg.Rounds, cfg.Length, cfg.Length)},
	}
	table := report.Table{First: "attack", Columns: []report.Column{
		{Name: "p50 in peace"}, {Name: "p50", Better: "less"}, {Name: "p99 in peace"}, {Name: "p99", Better: "less"}, {Name: "p99, times", Better: "less"}, {Name: "done"},
	}}
	cfg.Progress.Part("attacks")
	chosen := slices.DeleteFunc(slices.Clone(attacks), func(a attack) bool { return !strings.Contains(a.name, cfg.Only) })
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no attack has %q in its name", cfg.Only)
	}
	cfg.Progress.Expect(2 * cfg.Length * time.Duration(cfg.Rounds*len(chosen)))
	for _, a := range chosen {
		var peace, war [2][]float64
		done := ""
		for range cfg.Rounds {
			cfg.Progress.Step(a.name)
			p50, p99, err := ask(ctx, server.URL, cfg.Length)
			if err != nil {
				return nil, err
			}
			peace[0], peace[1] = append(peace[0], p50), append(peace[1], p99)
			stop, err := begin(ctx, cfg.Self, a.name, server.URL)
			if err != nil {
				return nil, err
			}
			p50, p99, err = ask(ctx, server.URL, cfg.Length)
			done = stop()
			if err != nil {
				return nil, fmt.Errorf("during %s: %w", a.name, err)
			}
			war[0], war[1] = append(war[0], p50), append(war[1], p99)
			cfg.Progress.Did(2 * cfg.Length)
		}
		times := report.Number(report.Median(war[1]) / report.Median(peace[1]))
		times.Suffix = "x"
		table.Rows = append(table.Rows, report.Row{Name: a.name, Cells: []report.Cell{
			report.Number(peace[0]...), report.Number(war[0]...), report.Number(peace[1]...), report.Number(war[1]...), times, report.Text(done),
		}})
	}
	out.Sections = []report.Section{{Title: "A well-behaved client", Table: table}}
	out.Interrupted, out.Took = ctx.Err() != nil, time.Since(began).Seconds()
	return out, nil
}

// prepare makes users and a certificate, and returns the flags for them.
func prepare(ctx context.Context, binary, dir string) ([]string, error) {
	users, cert, key := filepath.Join(dir, "users"), filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	add := exec.CommandContext(ctx, binary, "passwd", "--users", users, "--admin", "bench")
	add.Stdin = strings.NewReader("bench\n")
	if said, err := add.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("nextid passwd: %w\n%s", err, said)
	}
	if err := rig.WriteCertificate(cert, key); err != nil {
		return nil, err
	}
	return []string{"--users", users, "--tls-cert", cert, "--tls-key", key}, nil
}

// ask draws for a while and returns two percentiles, in milliseconds.
func ask(ctx context.Context, url string, length time.Duration) (p50, p99 float64, err error) {
	ctx, cancel := context.WithTimeout(ctx, length+30*time.Second)
	defer cancel()
	var mu sync.Mutex
	var all []time.Duration
	var errs []error
	var work sync.WaitGroup
	for range clients {
		work.Go(func() {
			took, err := askOne(ctx, url, length)
			mu.Lock()
			defer mu.Unlock()
			all, errs = append(all, took...), append(errs, err)
		})
	}
	work.Wait()
	if err := errors.Join(errs...); err != nil || len(all) == 0 {
		return 0, 0, errors.Join(err, ctx.Err())
	}
	slices.Sort(all)
	at := func(share float64) float64 {
		return float64(all[int(float64(len(all)-1)*share)].Microseconds()) / 1000
	}
	return at(0.5), at(0.99), nil
}

func askOne(ctx context.Context, url string, length time.Duration) (took []time.Duration, err error) {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	next := time.NewTicker(every)
	defer next.Stop()
	for end := time.Now().Add(length); time.Now().Before(end); {
		began := time.Now()
		var id int64
		if err := conn.QueryRow(ctx, "SELECT next_id('orders')").Scan(&id); err != nil {
			return nil, err
		}
		took = append(took, time.Since(began))
		<-next.C
	}
	return took, nil
}

// begin starts the attackers. stop ends them and returns what they say they did.
func begin(ctx context.Context, self, name, url string) (stop func() string, err error) {
	cmd := exec.CommandContext(ctx, self, "attack", "--be", name, "--at", url)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	rig.EndWithParent(cmd.SysProcAttr, syscall.SIGKILL)
	var said strings.Builder
	cmd.Stdout = &said
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	yield(cmd.Process.Pid)
	time.Sleep(300 * time.Millisecond) // it has begun
	return func() string {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait() // its exit code says nothing
		return strings.TrimSpace(said.String())
	}, nil
}

// yield makes a process give way to this one: it stands for other machines.
func yield(pid int) {
	const less = 15
	if own, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0); err == nil {
		nice := 20 - own                                                       // getpriority(2): what the kernel returns is not negative
		_ = syscall.Setpriority(syscall.PRIO_PROCESS, pid, min(nice+less, 19)) // then it does not give way
	}
}
