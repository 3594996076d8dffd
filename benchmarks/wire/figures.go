package wire

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"nextid/benchmarks/load"
	"nextid/benchmarks/report"
	"nextid/benchmarks/rig"
)

// figure is a line of the table that has a way of its own to be measured.
type figure struct {
	line
	measure func(context.Context) (report.Cell, error)
}

// figures are measured once, after the lines.
func (c Config) figures(s *stage) []figure {
	many, idle := &manyNames{Config: c, rig: s.rig}, &idleMemory{Config: c, rig: s.rig}
	return []figure{
		{line{what: "TLS 1.3, 8 connections: CPU against plain", bound: 1.5, aim: 1.3}, func(ctx context.Context) (report.Cell, error) {
			return c.underTLS(ctx, s.rig)
		}},
		{line{what: fmt.Sprintf("%d names made by one statement, s", c.Names), bound: 3}, many.made},
		{line{what: fmt.Sprintf("greatest pause of the garbage collector, %d names, 8 connections, ms", c.Names), bound: 1}, many.pause},
		{line{what: fmt.Sprintf("%d names, prepared, 8 connections: CPU against one name", c.Many), bound: 1.5, aim: 1.2}, many.drawn},
		{line{what: fmt.Sprintf("resident memory of an idle connection, kB, of %d", c.Idle), bound: 2.5, aim: 1.5}, idle.each},
		{line{what: fmt.Sprintf("resident memory of a server with %d idle connections, MB", c.Idle), bound: 60}, idle.all},
	}
}

// onOneStore compares two and five servers on one store in PostgreSQL with as many
// that have stores of their own. They share the processors, so that what an id
// costs is compared.
func (c Config) onOneStore(s *stage, store *rig.Server) ([]line, error) {
	if out, err := exec.CommandContext(s.ctx, c.Binary, "migrate", "store", "up", "--dsn", store.URL).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("nextid migrate store up: %w: %s", err, out)
	}
	const most = 5
	start := func(args ...string) (servers []*rig.Server, err error) {
		for range most {
			server, err := s.rig.Nextid(s.ctx, c.Binary, args...)
			if err != nil {
				return nil, err
			}
			servers = append(servers, server.Server)
		}
		return servers, nil
	}
	own, err := start()
	if err != nil {
		return nil, err
	}
	shared, err := start("--store", store.URL)
	if err != nil {
		return nil, err
	}
	for _, server := range append(own, shared[0]) {
		if err := prepare(s.ctx, server, makeOrders); err != nil {
			return nil, err
		}
	}
	of := func(servers []*rig.Server) asked {
		return asked{url: servers[0].URL, server: servers[0], beside: servers[1:], sql: []string{nextID}, conns: 4, depth: 1}
	}
	var lines []line
	for _, n := range []int{2, most} {
		what := fmt.Sprintf("%d servers, 4 connections each: CPU on one store against stores of their own", n)
		lines = append(lines, line{what, of(shared[:n]), of(own[:n]), cpu, false, 1.02, 1, 10})
	}
	return lines, nil
}

// underTLS compares connections inside and outside TLS, by the same simple
// client.
func (c Config) underTLS(ctx context.Context, r *rig.Rig) (report.Cell, error) {
	dir, err := os.MkdirTemp("", "nextid-bench")
	if err != nil {
		return report.Cell{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if err := rig.WriteCertificate(cert, key); err != nil {
		return report.Cell{}, err
	}
	server, err := r.Nextid(ctx, c.Binary, "--tls-cert", cert, "--tls-key", key)
	if err != nil {
		return report.Cell{}, err
	}
	defer server.Stop()
	var inside, outside []float64
	for range c.Rounds {
		for mode, values := range map[string]*[]float64{"require": &inside, "disable": &outside} {
			used, err := c.byDriver(ctx, server.Server, strings.Replace(server.URL, "sslmode=disable", "sslmode="+mode, 1))
			if err != nil {
				return report.Cell{}, err
			}
			*values = append(*values, used)
		}
	}
	return report.Ratio(inside, outside), nil
}

// byDriver asks over 8 connections of a driver, and returns the server's
// processor time of a query in microseconds.
func (c Config) byDriver(ctx context.Context, server *rig.Server, url string) (float64, error) {
	var conns []*pgconn.PgConn
	defer func() {
		for _, conn := range conns {
			_ = conn.Close(context.WithoutCancel(ctx))
		}
	}()
	for range 8 {
		conn, err := pgconn.Connect(ctx, url)
		if err != nil {
			return 0, err
		}
		conns = append(conns, conn)
		if _, err := conn.Exec(ctx, nextID).ReadAll(); err != nil {
			return 0, err
		}
	}
	var queries atomic.Int64
	errs := make([]error, len(conns))
	before, end := rig.UsageOf(server), time.Now().Add(c.Length)
	var work sync.WaitGroup
	for i, conn := range conns {
		work.Go(func() {
			for errs[i] == nil && time.Now().Before(end) {
				_, errs[i] = conn.Exec(ctx, nextID).ReadAll()
				queries.Add(1)
			}
		})
	}
	work.Wait()
	used := rig.UsageOf(server).Sub(before).CPU
	return float64(used) / 1e3 / float64(queries.Load()), errors.Join(errs...)
}

// manyNames is about a server with many names.
type manyNames struct {
	Config
	rig    *rig.Rig
	server *rig.Nextid // nil: not started yet
	names  []string
	took   time.Duration // to make the first Names of them
}

// create starts the server, once, and makes the names that it has not yet of so many.
func (m *manyNames) create(ctx context.Context, count int) (err error) {
	if m.server == nil {
		// A line of its log for each pass of the collector is in the documentation of package runtime.
		m.server, err = m.rig.NextidWith(ctx, m.Binary, "GODEBUG=gctrace=1", fmt.Sprintf("NEXTID_LIMITS_MAX_NAMES=%d", m.Names+m.Many))
		if err != nil {
			return err
		}
	}
	had := len(m.names)
	if had >= count {
		return nil
	}
	began := time.Now()
	if err := prepare(ctx, m.server.Server, "SET statement_timeout = 0",
		fmt.Sprintf("SELECT count(next_id('tenant' || g)) FROM generate_series(%d, %d) g", had+1, count)); err != nil {
		return err
	}
	if had == 0 {
		m.took = time.Since(began)
	}
	for i := had; i < count; i++ {
		m.names = append(m.names, "tenant"+strconv.Itoa(i+1))
	}
	return nil
}

// made is how long names took to be made, in seconds.
func (m *manyNames) made(ctx context.Context) (report.Cell, error) {
	if err := m.create(ctx, m.Names); err != nil {
		return report.Cell{}, err
	}
	return report.Number(m.took.Seconds()), nil
}

// drawn compares ids of names at random with ids of one name.
func (m *manyNames) drawn(ctx context.Context) (report.Cell, error) {
	if err := m.create(ctx, m.Many); err != nil {
		return report.Cell{}, err
	}
	one := asked{
		url: m.server.URL, server: m.server.Server, sql: []string{"SELECT next_id($1)"}, prepared: true,
		args: m.names[:1], conns: 8, depth: 1,
	}
	all := one
	all.args = m.names
	return m.line(ctx, line{ours: all, other: one, of: cpu})
}

// The greatest of few pauses says little: pause goes on until it has seen three
// passes of the garbage collector for each round, at most mostPasses.
const (
	passesARound = 3
	mostPasses   = 12
)

// pause is how long the garbage collector has stopped the process at most, in
// milliseconds, while it was asked for what allocates.
func (m *manyNames) pause(ctx context.Context) (report.Cell, error) {
	if err := m.create(ctx, m.Names); err != nil {
		return report.Cell{}, err
	}
	earlier, err := m.server.Log()
	if err != nil {
		return report.Cell{}, err
	}
	const parts = "SELECT count(parse_id(7123456789012345678 + n)) FROM generate_series(1, 100) n"
	busy := asked{url: m.server.URL, server: m.server.Server, sql: []string{parts}, conns: 8, depth: 1}
	var all []float64
	for len(all) < 2*min(passesARound*m.Rounds, mostPasses) {
		if _, err := busy.measure(ctx, m.Config); err != nil {
			return report.Cell{}, err
		}
		log, err := m.server.Log()
		if err != nil {
			return report.Cell{}, err
		}
		all = pauses(log[len(earlier):])
	}
	return report.Number(slices.Max(all)), nil
}

// pass is a line of gctrace: it stops the process before and after it marks.
var pass = regexp.MustCompile(`(?m)^gc \d+ @.*: ([0-9.]+)\+[0-9.]+\+([0-9.]+) ms clock`)

// pauses are the stops of all passes in a log, in milliseconds.
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

// quiet is how long connections have been idle: a server gives back what it does
// not use when it has been quiet for five to ten seconds.
const quiet = 11 * time.Second

// idleMemory is about connections that have drawn an id and are idle.
type idleMemory struct {
	Config
	rig           *rig.Rig
	before, after float64 // resident memory of the server, in bytes; 0: not measured yet
}

// each is what a connection takes of the server's resident memory, in kB.
func (m *idleMemory) each(ctx context.Context) (report.Cell, error) {
	if err := m.measure(ctx); err != nil {
		return report.Cell{}, err
	}
	return report.Number((m.after - m.before) / float64(m.Idle) / 1e3), nil
}

// all is the resident memory of the server with all of them, in MB.
func (m *idleMemory) all(ctx context.Context) (report.Cell, error) {
	if err := m.measure(ctx); err != nil {
		return report.Cell{}, err
	}
	return report.Number(m.after / 1e6), nil
}

// measure connects, once.
func (m *idleMemory) measure(ctx context.Context) error {
	if m.after > 0 {
		return nil
	}
	most := strconv.Itoa(m.Idle + 1000)
	server, err := m.rig.NextidWith(ctx, m.Binary, "NEXTID_LIMITS_CONNECTIONS="+most, "NEXTID_LIMITS_CONNECTIONS_PER_IP="+most)
	if err != nil {
		return err
	}
	var links []*load.Link
	defer func() {
		for _, l := range links {
			l.Close()
		}
	}()
	use := func(n int) error {
		for range n {
			link, err := load.Dial(ctx, server.URL)
			if err != nil {
				return err
			}
			links = append(links, link)
			if _, err := link.Exec(ctx, nextID); err != nil {
				return err
			}
		}
		time.Sleep(quiet)
		return nil
	}
	if err := use(100); err != nil { // what is made once
		return err
	}
	if m.before, err = resident(server.PID); err != nil {
		return err
	}
	if err := use(m.Idle); err != nil {
		return err
	}
	m.after, err = resident(server.PID)
	return err
}

// resident is a process's resident memory in bytes (VmRSS, proc_pid_status(5)).
func resident(pid int) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(status), "\nVmRSS:")
	fields := strings.Fields(after)
	if len(fields) == 0 {
		return 0, fmt.Errorf("process %d has no VmRSS", pid)
	}
	kilobytes, err := strconv.ParseFloat(fields[0], 64)
	return kilobytes * 1024, err
}
