package feed_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"nextid/benchmarks/load"
)

// BenchmarkInsert compares a fed column with a plain one: 100,000 rows in one
// INSERT, single rows of 8 clients, and these while the sequence moves to another
// block ten times a second. Each iteration measures both, one after the other, and
// the metrics are medians of the iterations: run it with -benchtime 15x.
func BenchmarkInsert(b *testing.B) {
	for i, e := range engines {
		b.Run(e.name, func(b *testing.B) {
			script := "CREATE TABLE orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, note text); " +
				"CREATE TABLE plain (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, note text)"
			bulk := " (note) SELECT 'x' FROM generate_series(1, 100000)"
			if e.mysql {
				script = "CREATE SEQUENCE orders_seq; CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT nextval(orders_seq), note text); " +
					"CREATE SEQUENCE plain_seq; CREATE TABLE plain (id bigint PRIMARY KEY DEFAULT nextval(plain_seq), note text)"
				bulk = " (note) SELECT 'x' FROM seq_1_to_100000"
			}
			f := newFleet(b, i, 1_000_000_000, script)
			f.up()
			f.dbs[0].SetMaxIdleConns(8)
			one := f.feeds(f.server.Draw)[0]
			var bulks, rates, still, moving []float64
			for n := 0; b.Loop(); n++ {
				took, rate := map[string]float64{}, map[string]float64{}
				tables := []string{"plain", "orders"}
				if n%2 == 1 {
					slices.Reverse(tables)
				}
				for _, table := range tables {
					f.exec(0, "TRUNCATE "+table)
					start := time.Now()
					f.exec(0, "INSERT INTO "+table+bulk)
					took[table] = time.Since(start).Seconds()
				}
				for _, table := range tables {
					l, seconds := f.singleRows(table, nil)
					rate[table] = float64(len(l)) / seconds
					if table == "orders" {
						still = append(still, float64(l.Quantile(0.99))/1e6)
					}
				}
				l, _ := f.singleRows("orders", func() {
					if _, _, err := one.Step(b.Context(), true); err != nil {
						b.Error(err)
					}
				})
				moving = append(moving, float64(l.Quantile(0.99))/1e6)
				bulks, rates = append(bulks, took["orders"]/took["plain"]), append(rates, rate["orders"]/rate["plain"])
			}
			for name, values := range map[string][]float64{"bulk-time-ratio": bulks, "rows-per-s-ratio": rates, "p99-ms": still, "p99-ms-moving": moving} {
				slices.Sort(values)
				b.ReportMetric(values[len(values)/2], name)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// singleRows inserts rows from 8 clients for a second. Meanwhile it calls move ten
// times per second, if move is not nil.
func (f *fleet) singleRows(table string, move func()) (all load.Latency, seconds float64) {
	start := time.Now()
	end := start.Add(time.Second)
	var mu sync.Mutex
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for at := time.Now(); at.Before(end); {
				if _, err := f.dbs[0].ExecContext(f.t.Context(), "INSERT INTO "+table+" (note) VALUES ('x')"); err != nil {
					f.t.Error(err)
					return
				}
				now := time.Now()
				mu.Lock()
				all = append(all, now.Sub(at))
				mu.Unlock()
				at = now
			}
		})
	}
	for move != nil && time.Now().Before(end) {
		move()
		time.Sleep(100 * time.Millisecond) //nolint:forbidigo // between moves
	}
	clients.Wait()
	return all, time.Since(start).Seconds()
}
