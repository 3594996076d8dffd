package load

import (
	"context"
	"os/exec"
	"strings"

	"nextid/dbtest"
)

// Stage holds what a benchmark runs on. Its methods end what calls them with an
// error, as those of the Rig do: see Rig.Do.
type Stage struct {
	*dbtest.Rig
	Ctx    context.Context
	Nextid string // the program
}

// Must ends what goes on with an error.
func (s *Stage) Must(err error) {
	if err != nil {
		s.Fatal(err)
	}
}

// Exec runs statements on a connection of their own, and returns the ids of the
// last one.
func (s *Stage) Exec(dsn string, statements ...string) []ID {
	ids, err := Exec(s.Ctx, dsn, statements...)
	s.Must(err)
	return ids
}

// Command runs nextid.
func (s *Stage) Command(args ...string) {
	if out, err := exec.CommandContext(s.Ctx, s.Nextid, args...).CombinedOutput(); err != nil {
		s.Fatalf("nextid %s: %w: %s", strings.Join(args[:min(3, len(args))], " "), err, out)
	}
}

// With opens n clients of one link each, and calls f with them. open gives the
// URL of the i-th, and work what it does.
func (s *Stage) With(n int, url func(i int) string, work func(i int, l *Link) Work, f func(Clients)) {
	var all Clients
	defer func() { all.Close() }()
	for i := range n {
		link, err := Dial(s.Ctx, url(i))
		s.Must(err)
		all = append(all, Client{Links: []*Link{link}})
		all[i].Work = work(i, link)
	}
	f(all)
}

// Run measures.
func (s *Stage) Run(c Config) Result {
	result, err := Run(s.Ctx, c)
	s.Must(err)
	return result
}
