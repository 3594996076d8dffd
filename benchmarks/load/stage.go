package load

import (
	"context"
	"os/exec"
	"strings"

	"nextid/dbtest"
)

// Stage starts the servers and clients of a benchmark. On an error its methods end
// the function that was called by Rig.Do, as the Rig's methods do.
type Stage struct {
	*dbtest.Rig
	Ctx    context.Context
	Nextid string // path of the program
}

// Must calls Fatal unless err is nil.
func (s *Stage) Must(err error) {
	if err != nil {
		s.Fatal(err)
	}
}

// Exec runs statements as the function Exec does.
func (s *Stage) Exec(dsn string, statements ...string) []ID {
	ids, err := Exec(s.Ctx, dsn, statements...)
	s.Must(err)
	return ids
}

// Command runs nextid with arguments, and waits for its end.
func (s *Stage) Command(args ...string) {
	if out, err := exec.CommandContext(s.Ctx, s.Nextid, args...).CombinedOutput(); err != nil {
		s.Fatalf("nextid %s: %w: %s", strings.Join(args[:min(3, len(args))], " "), err, out)
	}
}

// With opens n clients of one link each, calls f with them, and closes them. url and
// work return the URL and the Work of the i-th client.
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

// Run measures as the function Run does.
func (s *Stage) Run(c Config) Result {
	result, err := Run(s.Ctx, c)
	s.Must(err)
	return result
}
