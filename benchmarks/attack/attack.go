//go:build unix

// Package attack measures what a well-behaved client notices while others
// attack the server: floods of connections, of TLS handshakes and of passwords,
// unfinished messages, large statements, readers that do not read.
//
// The attackers stand for other machines: they are a process of their own that
// has only what processors others leave. What the machine itself contributes,
// for its kernel carries everybody's packets, shows in the control: the same
// attack on another server, while the client asks the first one.
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
	"syscall"
	"time"

	"nextid/benchmarks/load"
	"nextid/benchmarks/report"
	"nextid/benchmarks/rig"
)

// Config is what a run is told.
type Config struct {
	Binary   string        // nextid
	Self     string        // nextid-bench, for the attackers
	Length   time.Duration // of an attack, of its control and of the peace before them
	Rounds   int
	Only     string // an attack's name, or a part of it; "": all
	Progress *report.Progress
}

// The well-behaved clients, and how often all of them together ask.
const (
	clients = 4
	rate    = 2000 // a second
)

// warm is how long an attack goes on before it is measured.
const warm = 500 * time.Millisecond

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
	other, err := rigged.Nextid(ctx, cfg.Binary, args...)
	if err != nil {
		return nil, err
	}
	out = &report.Report{
		Title: "nextid-bench attack: what others notice of it", Began: began, Machine: report.ThisMachine(),
		Intro: fmt.Sprintf("%d connections ask for %d ids a second: in peace, while another server is attacked, and while this one is, from a process of its own. "+
			"Milliseconds from the instant at which a request should have begun; the median of the rounds.", clients, rate),
		Settings: []string{fmt.Sprintf("%d rounds of %v in each state", cfg.Rounds, cfg.Length)},
	}
	table := report.Table{First: "attack", Columns: []report.Column{
		{Name: "p50 in peace"},
		{Name: "p50", Better: "less"},
		{Name: "p99 in peace"},
		{Name: "p99, another server attacked"},
		{Name: "p99", Better: "less"},
		{Name: ": peace", Better: "less"},
		{Name: ": other attacked", Better: "less"},
		{Name: "done"},
	}}
	cfg.Progress.Part("attacks")
	chosen := slices.DeleteFunc(slices.Clone(attacks), func(a attack) bool { return !strings.Contains(a.name, cfg.Only) })
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no attack has %q in its name", cfg.Only)
	}
	cfg.Progress.Expect(3 * cfg.Length * time.Duration(cfg.Rounds*len(chosen)))
	for _, a := range chosen {
		var p50, p99 [3][]float64 // in peace, another server attacked, this one attacked
		done := ""
		for range cfg.Rounds {
			cfg.Progress.Step(a.name)
			for i, target := range []*rig.Nextid{nil, other, server} {
				latency, did, err := cfg.during(ctx, a.name, target, server)
				if err != nil {
					return nil, fmt.Errorf("during %s: %w", a.name, err)
				}
				p50[i], p99[i] = append(p50[i], milliseconds(latency.Quantile(0.5))), append(p99[i], milliseconds(latency.Quantile(0.99)))
				done = did
				cfg.Progress.Did(cfg.Length)
			}
		}
		table.Rows = append(table.Rows, report.Row{Name: a.name, Cells: []report.Cell{
			report.Number(p50[0]...), report.Number(p50[2]...), report.Number(p99[0]...), report.Number(p99[1]...), report.Number(p99[2]...),
			times(p99[2], p99[0]), times(p99[2], p99[1]), report.Text(done),
		}})
	}
	out.Sections = []report.Section{{Title: "A well-behaved client", Table: table}}
	out.Interrupted, out.Took = ctx.Err() != nil, time.Since(began).Seconds()
	return out, nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// times is how many times as long something takes.
func times(a, b []float64) report.Cell {
	c := report.Number(report.Median(a) / report.Median(b))
	c.Suffix = "x"
	return c
}

// during asks the server while an attack goes to a target, if there is one,
// and returns what the attackers say they did.
func (c *Config) during(ctx context.Context, name string, target, server *rig.Nextid) (_ *load.Latency, done string, err error) {
	if target != nil {
		stop, err := begin(ctx, c.Self, name, target.URL)
		if err != nil {
			return nil, "", err
		}
		defer func() { done = stop() }()
	}
	latency, err := ask(ctx, server.URL, c.Length)
	return latency, "", err
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

// ask draws at a fixed rate. The client is cheap: it must not measure itself.
func ask(ctx context.Context, url string, length time.Duration) (*load.Latency, error) {
	ctx, cancel := context.WithTimeout(ctx, length+30*time.Second)
	defer cancel()
	asking := load.Config{Warm: warm, Length: length, Rate: rate}
	for range clients {
		link, err := load.Dial(ctx, url)
		if err != nil {
			return nil, err
		}
		defer link.Close()
		asking.Clients = append(asking.Clients, load.Client{
			Links: []*load.Link{link}, Work: &load.Repeat{Bytes: link.Query(nil, "SELECT next_id('orders')"), Answers: 1},
		})
	}
	result, err := load.Run(ctx, asking)
	return &result.Latency, err
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
	return func() string {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait() // its exit code says nothing
		return strings.TrimSpace(said.String())
	}, nil
}
