package load

import (
	"context"
	"fmt"
	"log"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"nextid/benchmarks/report"
	"nextid/dbtest"
)

// Setup holds the programs of a benchmark, and its progress.
type Setup struct {
	Nextid   string // path of the server's program
	Self     string // path of nextid-bench, which runs the floor
	Progress *log.Logger
}

// Stage is one run of a benchmark: its servers, clients and report. On an error its
// methods end the function that was called by Do, as the Rig's methods do.
type Stage struct {
	Setup
	*dbtest.Rig
	Ctx    context.Context
	Report *report.Report
}

// Measure calls f with a new Stage, stops its servers, and completes the report. The
// report is nil after an error before the first section. If ctx has ended, errors do
// not count.
func (c Setup) Measure(ctx context.Context, r *report.Report, f func(s *Stage)) (*report.Report, error) {
	s := &Stage{c, &dbtest.Rig{}, ctx, r}
	defer func() { _ = s.Close() }()
	r.Began, r.Machine = time.Now(), report.ThisMachine()
	c.Progress.Print("start the servers")
	err := s.Do(func(testing.TB) { f(s) })
	r.Interrupted = ctx.Err() != nil
	r.Took = time.Since(r.Began).Seconds()
	switch {
	case err != nil && len(r.Sections) == 0:
		return nil, err
	case r.Interrupted:
		return r, nil
	}
	return r, err
}

// Try calls f. If it fails, Try notes the error, and returns it.
func (s *Stage) Try(what string, f func()) error {
	err := s.Do(func(testing.TB) { f() })
	if err != nil {
		s.Note("%s: %v", what, err)
	}
	return err
}

// Note adds a note to the report, unless the report has it already or the run was
// interrupted.
func (s *Stage) Note(format string, args ...any) {
	if note := fmt.Sprintf(format, args...); s.Ctx.Err() == nil && !slices.Contains(s.Report.Notes, note) {
		s.Report.Notes = append(s.Report.Notes, note)
	}
}

// Open starts a server, runs statements on it, and adds its version to the report.
func (s *Stage) Open(kind dbtest.Kind, statements ...string) *dbtest.Server {
	server := kind(s)
	s.Exec(server.URL, statements...)
	if !slices.Contains(s.Report.Versions, server.Name) {
		s.Report.Versions = append(s.Report.Versions, server.Name)
	}
	return server
}

// Begin opens a server that may be missing. If that fails, it notes why and returns
// nil.
func (s *Stage) Begin(kind dbtest.Kind, statements ...string) (server *dbtest.Server) {
	if err := s.Do(func(testing.TB) { server = s.Open(kind, statements...) }); err != nil {
		s.Note("%v", err)
	}
	return server
}

// Server returns the configuration of the measured server.
func (s *Stage) Server(args ...string) dbtest.Nextid {
	return dbtest.Nextid{Binary: s.Nextid, Args: args}
}

// Floor starts nextid-bench floor; see the function Floor. Its process has a single
// processor.
func (s *Stage) Floor(mysql bool) *dbtest.Server {
	floor := dbtest.Run(s, "floor", "", syscall.SIGKILL, func(floor *dbtest.Server) []string {
		return []string{"env", "GOMAXPROCS=1", s.Self, "floor", fmt.Sprintf("--mysql=%t", mysql), floor.Addr}
	})
	if floor.URL = "postgres://bench@" + floor.Addr + "/bench?sslmode=disable"; mysql {
		floor.URL = "mysql://bench@" + floor.Addr + "/bench"
	}
	return floor
}

// Must calls Fatal unless err is nil.
func (s *Stage) Must(err error) {
	if err != nil {
		s.Fatal(err)
	}
}

// Exec runs statements on a new connection, and returns the ids in the result of the
// last one.
func (s *Stage) Exec(url string, statements ...string) (ids []ID) {
	link, err := Dial(s.Ctx, url)
	s.Must(err)
	defer link.Close()
	for _, sql := range statements {
		ids, err = link.Exec(s.Ctx, sql)
		s.Must(err)
	}
	return ids
}

// Command runs nextid with arguments, and waits for its end.
func (s *Stage) Command(args ...string) {
	if out, err := exec.CommandContext(s.Ctx, s.Nextid, args...).CombinedOutput(); err != nil {
		s.Fatalf("nextid %s: %w: %s", strings.Join(args[:min(3, len(args))], " "), err, out)
	}
}

// Dial opens a link and adds it to those of a client.
func (s *Stage) Dial(c *Client, url string) *Link {
	link, err := Dial(s.Ctx, url)
	s.Must(err)
	c.Links = append(c.Links, link)
	return link
}

// With makes n clients by open, calls f with them, and closes their links.
func (s *Stage) With(n int, open func(i int, c *Client), f func([]Client)) {
	all := make([]Client, n)
	defer func() {
		for _, c := range all {
			c.Close()
		}
	}()
	for i := range all {
		open(i, &all[i])
	}
	f(all)
}

// Run measures n clients, which are made by open, as the function Run does. Before
// that each runs one operation, so that the servers plan statements and open
// connections.
func (s *Stage) Run(n int, open func(i int, c *Client), config Config) (result Result) {
	s.With(n, open, func(clients []Client) {
		for _, client := range clients {
			s.Must(client.Once(s.Ctx))
		}
		config.Clients = clients
		var err error
		result, err = Run(s.Ctx, config)
		s.Must(err)
	})
	return result
}

// Rest waits for d or the end of ctx.
func Rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
