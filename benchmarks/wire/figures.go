package wire

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"nextid/benchmarks/load"
	"nextid/benchmarks/machine"
	"nextid/benchmarks/report"
	"nextid/dbtest"
)

// figures returns the lines of Floors that are no simple ratio of two measurements.
func (r *run) figures() []line {
	many, idle := &manyNames{run: r}, sync.OnceValues(r.idleMemory)
	return []line{
		{what: "TLS 1.3, 8 connections: CPU against plain", bound: 1.5, aim: 1.3, figure: r.underTLS},
		{what: fmt.Sprintf("%d names made by one statement, s", r.Names), bound: 3, figure: func() report.Cell {
			many.create(r.Names)
			return report.Number(many.took.Seconds())
		}},
		{what: fmt.Sprintf("greatest pause of the garbage collector, %d names, 8 connections, ms", r.Names), bound: 1, figure: many.pause},
		{what: fmt.Sprintf("%d names, prepared, 8 connections: CPU against one name", r.Many), bound: 1.5, aim: 1.2, figure: many.drawn},
		{what: fmt.Sprintf("resident memory of an idle connection, kB, of %d", r.Idle), bound: 2.5, aim: 1.5, figure: func() report.Cell {
			before, after := idle()
			return report.Number((after - before) / float64(r.Idle) / 1e3)
		}},
		{what: fmt.Sprintf("resident memory of a server with %d idle connections, MB", r.Idle), bound: 60, figure: func() report.Cell {
			_, after := idle()
			return report.Number(after / 1e6)
		}},
	}
}

// underTLS returns the ratio of CPU times with TLS and without, measured by the same
// driver.
func (r *run) underTLS() report.Cell {
	dir, err := os.MkdirTemp("", "nextid-bench")
	r.Must(err)
	defer func() { _ = os.RemoveAll(dir) }()
	cert, key, _ := dbtest.Certificate(r, dir)
	server := r.nextid("--tls-cert", cert, "--tls-key", key).Start(r)
	defer server.Stop()
	var inside, outside []float64
	for range r.Rounds {
		for mode, values := range map[string]*[]float64{"require": &inside, "disable": &outside} {
			used, err := r.byDriver(server, strings.Replace(server.URL, "sslmode=disable", "sslmode="+mode, 1))
			r.Must(err)
			*values = append(*values, used)
		}
	}
	return report.Ratio(inside, outside)
}

// byDriver sends queries over 8 connections of pgconn, and returns the server's CPU
// time per query in microseconds.
func (r *run) byDriver(server *dbtest.Server, url string) (float64, error) {
	var conns []*pgconn.PgConn
	defer func() {
		for _, conn := range conns {
			_ = conn.Close(context.WithoutCancel(r.Ctx))
		}
	}()
	for range 8 {
		conn, err := pgconn.Connect(r.Ctx, url)
		if err != nil {
			return 0, err
		}
		conns = append(conns, conn)
		if _, err := conn.Exec(r.Ctx, nextID).ReadAll(); err != nil {
			return 0, err
		}
	}
	var queries atomic.Int64
	errs := make([]error, len(conns))
	before, end := machine.UsageOf(server), time.Now().Add(r.Length)
	var work sync.WaitGroup
	for i, conn := range conns {
		work.Go(func() {
			for errs[i] == nil && time.Now().Before(end) {
				_, errs[i] = conn.Exec(r.Ctx, nextID).ReadAll()
				queries.Add(1)
			}
		})
	}
	work.Wait()
	used := machine.UsageOf(server).Sub(before).CPU
	return float64(used) / 1e3 / float64(queries.Load()), errors.Join(errs...)
}

// manyNames measures a server with many names.
type manyNames struct {
	*run
	server *dbtest.Server // nil before the first create
	names  []string       // names that exist
	took   time.Duration  // time to make the first Names of them
}

// create starts the server if needed, and makes names until there are count.
func (m *manyNames) create(count int) {
	if m.server == nil {
		// gctrace logs each pass of the garbage collector; package runtime documents
		// the line.
		env := []string{"GODEBUG=gctrace=1", fmt.Sprintf("NEXTID_LIMITS_MAX_NAMES=%d", m.Names+m.Many)}
		m.server = dbtest.Nextid{Binary: m.Binary, Env: env}.Start(m)
	}
	had := len(m.names)
	if had >= count {
		return
	}
	began := time.Now()
	m.Exec(m.server.URL, "SET statement_timeout = 0",
		fmt.Sprintf("SELECT count(next_id('tenant' || g)) FROM generate_series(%d, %d) g", had+1, count))
	if had == 0 {
		m.took = time.Since(began)
	}
	for i := had; i < count; i++ {
		m.names = append(m.names, "tenant"+strconv.Itoa(i+1))
	}
}

// drawn returns the ratio of CPU times of draws from random names and from one name.
func (m *manyNames) drawn() report.Cell {
	m.create(m.Many)
	one := asked{url: m.server.URL, server: m.server, sql: []string{"SELECT next_id($1)"}, prepared: true, args: m.names[:1], conns: 8, depth: 1}
	all := one
	all.args = m.names
	return m.line(line{ours: all, other: one, of: cpu})
}

// pause measures at least passesARound passes of the garbage collector per round,
// and no more than mostPasses: the maximum of few pauses is not reliable.
const (
	passesARound = 3
	mostPasses   = 12
)

// pause returns the longest pause of the garbage collector in milliseconds, during
// queries that allocate.
func (m *manyNames) pause() report.Cell {
	m.create(m.Names)
	earlier := m.server.Log()
	const parts = "SELECT count(parse_id(7123456789012345678 + n)) FROM generate_series(1, 100) n"
	busy := asked{url: m.server.URL, server: m.server, sql: []string{parts}, conns: 8, depth: 1}
	var all []float64
	for len(all) < 2*min(passesARound*m.Rounds, mostPasses) {
		busy.measure(m.run)
		all = pauses(strings.TrimPrefix(m.server.Log(), earlier))
	}
	return report.Number(slices.Max(all))
}

// pass matches a line of gctrace. The first and the third number are the times of
// the two stop-the-world phases, before and after marking.
var pass = regexp.MustCompile(`(?m)^gc \d+ @.*: ([0-9.]+)\+[0-9.]+\+([0-9.]+) ms clock`)

// pauses returns the pauses of all passes in a log, two per pass, in milliseconds.
func pauses(log string) (all []float64) {
	for _, line := range pass.FindAllStringSubmatch(log, -1) {
		for _, stop := range line[1:] {
			if ms, err := strconv.ParseFloat(stop, 64); err == nil {
				all = append(all, ms)
			}
		}
	}
	return all
}

// quiet is the idle time before memory is measured. A server frees unused memory
// after it was idle for five to ten seconds.
const quiet = 11 * time.Second

// idleMemory returns the resident memory of a server in bytes: before and after each
// of Idle connections has drawn an id and has become idle.
func (r *run) idleMemory() (before, after float64) {
	most := strconv.Itoa(r.Idle + 1000)
	server := dbtest.Nextid{Binary: r.Binary, Env: []string{"NEXTID_LIMITS_CONNECTIONS=" + most, "NEXTID_LIMITS_CONNECTIONS_PER_IP=" + most}}.Start(r)
	defer server.Stop()
	draw := func(_ int, link *load.Link) load.Work {
		_, err := link.Exec(r.Ctx, nextID)
		r.Must(err)
		return nil
	}
	url := func(int) string { return server.URL }
	resident := func() float64 {
		time.Sleep(quiet)
		bytes, err := machine.Resident(server.PID)
		r.Must(err)
		return bytes
	}
	r.With(100, url, draw, func(load.Clients) { // the first connections allocate memory that all use
		before = resident()
		r.With(r.Idle, url, draw, func(load.Clients) { after = resident() })
	})
	return before, after
}
