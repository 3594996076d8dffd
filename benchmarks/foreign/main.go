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
	"time"

	"github.com/jackc/pgx/v5"

	"nextid/benchmarks/rig"
)

// contestants are the defaults that are compared. The first is what the
// others are measured by.
var contestants = []struct {
	name string
	call string
	slow bool // a round trip or more a row: measured in fewer rounds
}{
	{"sequence of its own (nextval)", "nextval('local')", false},
	{"batches of 10,000: next_id('orders', 10000)", "nextid.next_id('orders', 10000)", false},
	{"batches of 1,000: next_id('orders', 1000)", "nextid.next_id('orders', 1000)", false},
	{"batches of 100: next_id('orders', 100)", "nextid.next_id('orders', 100)", false},
	{"dblink: dblink_next_id('orders')", "nextid.dblink_next_id('orders')", true},
	{"postgres_fdw: next_id('orders')", "nextid.next_id('orders')", true},
}

func main() {
	rows := flag.Int("rows", 100_000, "rows of one INSERT … SELECT")
	rounds := flag.Int("rounds", 7, "measurements of each default")
	slowRounds := flag.Int("slow-rounds", 1, "measurements of the defaults that ask for each row")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *rows, *rounds, *slowRounds); err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, rows, rounds, slowRounds int) error {
	r, err := rig.New()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	dir, err := os.MkdirTemp("", "nextid")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary := filepath.Join(dir, "nextid")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/nextid")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build nextid (run from the project's root): %w\n%s", err, out)
	}
	nextid, err := r.Nextid(ctx, binary)
	if err != nil {
		return err
	}
	postgres, err := r.PostgreSQL(ctx)
	if err != nil {
		return err
	}
	dsn := postgres.URL
	up := exec.CommandContext(ctx, binary, "migrate", "foreign", "up", "--dsn", dsn,
		"--server", "postgres://app@127.0.0.1:"+nextid.Port+"/nextid")
	if out, err := up.CombinedOutput(); err != nil {
		return fmt.Errorf("migrate foreign up: %w\n%s", err, out)
	}
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, "CREATE SEQUENCE local"); err != nil {
		return err
	}
	fmt.Printf("%s, %d CPUs, Go %s, %s; INSERT … SELECT of %d rows into (id bigint PRIMARY KEY DEFAULT …, note text), medians of %d (one id a row: %d) rounds\n\n",
		time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), runtime.Version(), postgres.Name, rows, rounds, slowRounds)
	took := make([][]float64, len(contestants))
	for round := range rounds {
		for i := range contestants {
			k := (round + i) % len(contestants)
			if contestants[k].slow && round >= slowRounds {
				continue
			}
			seconds, err := load(ctx, conn, contestants[k].call, rows)
			if err != nil {
				return err
			}
			took[k] = append(took[k], seconds)
		}
	}
	printTable(took, rows)
	return nil
}

// load fills a new table and returns the seconds that took.
func load(ctx context.Context, conn *pgx.Conn, call string, rows int) (float64, error) {
	for _, sql := range []string{
		"DROP TABLE IF EXISTS t", "CREATE TABLE t (id bigint PRIMARY KEY DEFAULT " + call + ", note text)", "CHECKPOINT",
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return 0, err
		}
	}
	start := time.Now()
	_, err := conn.Exec(ctx, "INSERT INTO t (note) SELECT 'note ' || n FROM generate_series(1, $1::int) n", rows)
	if err != nil {
		return 0, fmt.Errorf("DEFAULT %s: %w", call, err)
	}
	return time.Since(start).Seconds(), nil
}

func printTable(took [][]float64, rows int) {
	fmt.Println("| DEFAULT | time | ids/s | time : sequence |")
	fmt.Println("|---|---|---|---|")
	for i, c := range contestants {
		ratios := make([]float64, len(took[i]))
		for round := range took[i] {
			ratios[round] = took[i][round] / took[0][round]
		}
		fmt.Printf("| %s | %.3f s | %.0f | **%.2f** [%.2f–%.2f] |\n", c.name, median(took[i]), float64(rows)/median(took[i]),
			median(ratios), slices.Min(ratios), slices.Max(ratios))
	}
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}
