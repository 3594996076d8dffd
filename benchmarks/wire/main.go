package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"nextid/benchmarks/rig"
)

func main() {
	seconds := flag.Float64("seconds", 1, "length of one measurement")
	rounds := flag.Int("rounds", 5, "measurements of each server in each setting")
	conns := flag.String("conns", "1,8,32", "connections")
	pgbench := flag.Bool("pgbench", true, "measure with pgbench, too")
	protocols := flag.String("protocols", "pg,mysql", "what to measure")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *seconds, *rounds, *conns, *protocols, *pgbench); err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, seconds float64, rounds int, conns, protocols string, pgbench bool) error {
	dir, err := rig.Dir()
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	b := &bench{ctx: ctx, dir: dir, seconds: seconds, rounds: rounds}
	defer b.stop()
	if err := b.build(); err != nil {
		return err
	}
	if err := b.start(); err != nil {
		return err
	}
	fmt.Printf("%s, %d CPUs, Go %s, %s; closed loop, %g s × %d rounds, medians\n\n",
		time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), runtime.Version(), b.postgresVersion, seconds, rounds)
	if strings.Contains(protocols, "pg") {
		if err := b.loadTable(conns); err != nil {
			return err
		}
		if pgbench {
			if err := b.pgbenchTable(conns); err != nil {
				return err
			}
		}
	}
	if strings.Contains(protocols, "mysql") {
		return b.mysqlTable(conns)
	}
	return nil
}

// bench is one comparison.
type bench struct {
	ctx             context.Context
	dir             string
	seconds         float64
	rounds          int
	servers         []*server
	postgresVersion string
	mysql           *server // nextid over the MySQL protocol
}

// server is one of the contestants.
type server struct {
	*rig.Process
	name string
	sql  string
}

func (b *bench) build() error {
	for _, name := range []string{"load", "floor"} {
		out, err := exec.CommandContext(b.ctx, "gcc", "-O2", "-w", "-o", filepath.Join(b.dir, name),
			filepath.Join("benchmarks", "wire", "c", name+".c"), "-lpthread").CombinedOutput()
		if err != nil {
			return fmt.Errorf("compile %s.c (run from the project's root, with gcc): %w\n%s", name, err, out)
		}
	}
	_, err := rig.BuildNextid(b.ctx, b.dir)
	return err
}

// result is one measurement.
type result struct{ qps, cpu, p50, p99 float64 }

// loadTable measures with the light client.
func (b *bench) loadTable(conns string) error {
	fmt.Println("| protocol | conns | depth | C floor q/s · µs CPU | nextid q/s · µs CPU · p99 µs | PostgreSQL q/s · µs CPU · p99 µs | nextid : PostgreSQL throughput | floor : PostgreSQL throughput | CPU PostgreSQL : nextid | CPU nextid : floor |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|")
	settings := []struct{ mode, depth string }{{"pgs", "1"}, {"pgp", "1"}, {"pgs", "16"}}
	for _, s := range settings {
		for n := range strings.SplitSeq(conns, ",") {
			if err := b.loadRow(s.mode, n, s.depth); err != nil {
				return err
			}
		}
	}
	fmt.Println()
	return nil
}

func (b *bench) loadRow(mode, conns, depth string) error {
	results := make([][]result, len(b.servers))
	for round := range b.rounds {
		for i := range b.servers {
			k := (round + i) % len(b.servers)
			r, err := b.load(b.servers[k], mode, conns, depth)
			if err != nil {
				return err
			}
			results[k] = append(results[k], r)
		}
	}
	floor, ours, pg := results[0], results[1], results[2]
	throughput := ratios(ours, pg, func(r result) float64 { return r.qps })
	ceiling := ratios(floor, pg, func(r result) float64 { return r.qps })
	cheaper := ratios(pg, ours, func(r result) float64 { return r.cpu })
	overFloor := ratios(ours, floor, func(r result) float64 { return r.cpu })
	fmt.Printf("| %s | %s | %s | %.0f · %.2f | %.0f · %.2f · %.0f | %.0f · %.2f · %.0f | %s | %s | %s | %s |\n",
		map[string]string{"pgs": "simple", "pgp": "prepared"}[mode], conns, depth,
		mid(floor, qps), mid(floor, cpu), mid(ours, qps), mid(ours, cpu), mid(ours, p99),
		mid(pg, qps), mid(pg, cpu), mid(pg, p99), throughput, ceiling, cheaper, overFloor)
	return nil
}

func qps(r result) float64 { return r.qps }
func cpu(r result) float64 { return r.cpu }
func p99(r result) float64 { return r.p99 }

func mid(rs []result, of func(result) float64) float64 {
	v := make([]float64, len(rs))
	for i, r := range rs {
		v[i] = of(r)
	}
	return median(v)
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

// ratios is the median of the per-round ratios, with the extremes.
func ratios(a, b []result, of func(result) float64) string {
	v := make([]float64, len(a))
	for i := range a {
		v[i] = of(a[i]) / of(b[i])
	}
	return fmt.Sprintf("**%.2f** [%.2f–%.2f]", median(v), slices.Min(v), slices.Max(v))
}

// load runs c/load.c once.
func (b *bench) load(s *server, mode, conns, depth string) (result, error) {
	out, err := exec.CommandContext(b.ctx, filepath.Join(b.dir, "load"), "-p", s.Port, "-c", conns, "-d", depth,
		"-t", strconv.FormatFloat(b.seconds, 'f', -1, 64), "-w", "0.3", "-m", mode, "-q", s.sql,
		"-P", strconv.Itoa(s.PID), "-l", s.name).CombinedOutput()
	if err != nil {
		return result{}, fmt.Errorf("load on %s: %w\n%s", s.name, err, out)
	}
	fields := map[string]float64{}
	for f := range strings.FieldsSeq(string(out)) {
		if k, v, ok := strings.Cut(f, "="); ok {
			fields[k], _ = strconv.ParseFloat(v, 64)
		}
	}
	if fields["err"] > 0 || fields["qps"] == 0 {
		return result{}, fmt.Errorf("load on %s: %s", s.name, out)
	}
	return result{fields["qps"], fields["srvcpu"], fields["p50"], fields["p99"]}, nil
}

// pgbenchTable measures nextid and PostgreSQL with pgbench.
func (b *bench) pgbenchTable(conns string) error {
	fmt.Println("| pgbench | conns | nextid tps | PostgreSQL tps | ratio |")
	fmt.Println("|---|---|---|---|---|")
	for _, mode := range []string{"simple", "extended", "prepared", "pipeline"} {
		for n := range strings.SplitSeq(conns, ",") {
			results := make([][]result, len(b.servers))
			for round := range b.rounds {
				for i := range b.servers[1:] {
					k := 1 + (round+i)%2
					r, err := b.pgbench(b.servers[k], mode, n)
					if err != nil {
						return err
					}
					results[k] = append(results[k], r)
				}
			}
			fmt.Printf("| %s | %s | %.0f | %.0f | %s |\n", mode, n, mid(results[1], qps), mid(results[2], qps),
				ratios(results[1], results[2], qps))
		}
	}
	return nil
}

// pipelineDepth is the number of queries between \startpipeline and \endpipeline.
const pipelineDepth = 20

func (b *bench) pgbench(s *server, mode, conns string) (result, error) {
	script := s.sql + ";\n"
	protocol, per := mode, 1.0
	if mode == "pipeline" {
		protocol, per = "prepared", pipelineDepth
		script = "\\startpipeline\n" + strings.Repeat(script, pipelineDepth) + "\\endpipeline\n"
	}
	file := filepath.Join(b.dir, "script.sql")
	if err := os.WriteFile(file, []byte(script), 0o644); err != nil {
		return result{}, err
	}
	seconds := strconv.Itoa(max(2, int(b.seconds))) // in one second it may count nothing
	cmd := exec.CommandContext(b.ctx, "pgbench", "-n", "-M", protocol, "-c", conns, "-j", "1", "-T", seconds, "-f", file,
		"-h", "127.0.0.1", "-p", s.Port, "-U", "postgres", "postgres")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return result{}, fmt.Errorf("pgbench on %s: %w\n%s", s.name, err, out)
	}
	for line := range strings.Lines(string(out)) {
		if v, ok := strings.CutPrefix(line, "tps = "); ok {
			number, _, _ := strings.Cut(v, " ")
			tps, err := strconv.ParseFloat(number, 64)
			return result{qps: tps * per}, err
		}
	}
	return result{}, fmt.Errorf("pgbench on %s said no tps:\n%s", s.name, out)
}
