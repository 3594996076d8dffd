package ticket

import (
	"time"

	"nextid/generator"
)

// health is how a database stands. It belongs to source.mu.
type health struct {
	up       bool
	err      error     // why it is down, nil before the first attempt
	since    time.Time // of the last change of up
	answered time.Time // when it was last connected to or asked with success
	draws    int64
	errors   int64

	logged   time.Time // when a change was told last
	toldDown bool      // what the log says
	changes  int       // since then
}

// logEvery bounds how often the changes of one database are told: one that
// comes and goes would fill the log.
const logEvery = 10 * time.Second

func (s *source) now() time.Time { return time.Unix(0, s.cfg.Runtime.Wall()) }

// set notes that a database can be used, or why it cannot, and tells the
// operator when that is news.
func (s *source) set(d *database, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	up := err == nil
	if d.since.IsZero() || d.up != up {
		d.since = now
		d.changes++
	}
	if d.up, d.err = up, err; up {
		d.answered = now
	} else {
		d.errors++
	}
	s.tellLocked(now)
	close(s.changed)
	s.changed = make(chan struct{})
}

// tellLocked logs which databases went down or came back, unless that was
// told a moment ago. What is not told now is told by a later call.
func (s *source) tellLocked(now time.Time) {
	for _, d := range s.databases {
		down := !d.up && d.err != nil
		if down == d.toldDown || !d.logged.IsZero() && now.Sub(d.logged).Abs() < logEvery {
			continue
		}
		log := s.cfg.Logger.With("generator", s.name, "database", d.location.String(), "not_logged", d.changes-1)
		if down {
			log.Error("a ticket database is down; numbers come from the others", "error", d.err)
		} else {
			log.Warn("a ticket database is back")
		}
		d.logged, d.toldDown, d.changes = now, down, 0
	}
}

// answered counts an answer with numbers.
func (s *source) answered(d *database) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.draws++
	d.answered = s.now()
	s.tellLocked(d.answered)
}

// stats is Generator.DatabaseStats.
func (s *source) stats() []generator.DatabaseStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tellLocked(s.now())
	all := make([]generator.DatabaseStats, 0, len(s.databases))
	for _, d := range s.databases {
		all = append(all, generator.DatabaseStats{
			Location: d.location.String(), Up: d.up, Since: d.since, Err: d.err, Answered: d.answered, Draws: d.draws, Errors: d.errors,
		})
	}
	return all
}
