package ticket

import (
	"fmt"
	"time"

	"nextid/dsn"
	"nextid/generator"
)

// health is the state of a database, guarded by source.mu.
type health struct {
	up       bool
	err      error     // error of the last attempt; nil before the first
	since    time.Time // of the last change of up
	answered time.Time // time of the last answer or connection
	draws    int64
	errors   int64

	logged     time.Time // time of the last log line
	loggedDown bool      // state in the last log line
	changes    int       // of up since the last log line
}

// logEvery is the shortest interval between log lines on one database, so that
// frequent changes do not fill the log.
const logEvery = 10 * time.Second

func (s *source) now() time.Time { return time.Unix(0, s.cfg.Runtime.Wall()) }

// set stores that a database is up, or its error, and logs a change.
func (s *source) set(d *database, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	up := err == nil
	if d.since.IsZero() || d.up != up {
		d.since = now
		d.changes++
	}
	if !up {
		err = dsn.Plain(err)
	}
	if d.up, d.err = up, err; up {
		d.answered = now
	} else {
		d.errors++
	}
	s.logLocked(now)
	close(s.changed)
	s.changed = make(chan struct{})
}

// logLocked logs the databases that went down or came up, at most every logEvery. A
// later call logs what was left out.
func (s *source) logLocked(now time.Time) {
	for _, d := range s.databases {
		down := !d.up && d.err != nil
		if down == d.loggedDown || !d.logged.IsZero() && now.Sub(d.logged).Abs() < logEvery {
			continue
		}
		log := s.cfg.Logger.With("generator", s.name, "database", d.location.String(), "not_logged", d.changes-1)
		if down {
			log.Error("a ticket database is down; numbers come from the others", "error", d.err)
		} else {
			log.Warn("a ticket database is back")
		}
		d.logged, d.loggedDown, d.changes = now, down, 0
	}
}

// answered counts a draw that the database answered.
func (s *source) answered(d *database) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.draws++
	d.answered = s.now()
	s.logLocked(d.answered)
}

// Details implements generator.Detailed for the table nextid.databases.
func (g *Generator) Details() generator.Details {
	s := g.source
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logLocked(s.now())
	all, down := generator.Details{Table: "databases", Label: "database"}, 0
	for _, d := range s.databases {
		var why any
		if d.err != nil {
			why = d.err.Error()
		}
		if !d.up && d.err != nil {
			down++
		}
		location := d.location.String()
		all.Rows = append(all.Rows, generator.Row{Key: location, Fields: []generator.Field{
			{Name: "database", Value: location},
			{Name: "up", Value: d.up, Metric: generator.Metric{Name: "nextid_ticket_database_up", Help: "1 if the database can be drawn from."}},
			{Name: "since", Value: d.since},
			{Name: "error", Value: why},
			{Name: "answered_at", Value: d.answered, Metric: generator.Metric{Name: "nextid_ticket_database_last_answer_timestamp_seconds", Help: "Unix time of the database's last answer; 0 for never."}},
			{Name: "draws", Value: d.draws, Counter: true, Metric: generator.Metric{Name: "nextid_ticket_database_draws_total", Help: "Draws that the database answered."}},
			{Name: "errors", Value: d.errors, Counter: true, Metric: generator.Metric{Name: "nextid_ticket_database_errors_total", Help: "Failed draws and connections."}},
		}})
	}
	if down > 0 {
		all.Note = fmt.Sprintf("%d of the %d databases of generator %q are down: see nextid.databases", down, len(s.databases), s.name)
	}
	return all
}
