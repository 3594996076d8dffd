package feed

import (
	"context"
	"fmt"
)

// Report holds the result of Status.
type Report struct {
	Feeds    []Line
	Problems []string // a line each: why ids can collide, or run out
}

// Line is one sequence in a Report.
type Line struct {
	Database, Column string
	Generator        string
	State            State
}

// Status reads the states of the sequences. It changes nothing.
func Status(ctx context.Context, o Options) (r Report, err error) {
	err = with(ctx, o, func(s *set) error {
		if err := s.read(ctx); err != nil {
			return err
		}
		for i, t := range s.feeds {
			r.Feeds = append(r.Feeds, Line{t.Database, t.Column, t.Generator, t.state})
			if problem := t.problem(); problem != "" {
				r.Problems = append(r.Problems, t.Database+": "+t.Column+": "+problem)
				continue
			}
			for _, other := range s.feeds[:i] {
				if other.problem() == "" && other.Generator == t.Generator && other.name+other.Database != t.name+t.Database && other.state.First <= t.state.Last && t.state.First <= other.state.Last {
					r.Problems = append(r.Problems, fmt.Sprintf("%s and %s both draw %s from %d to %d, as a copy of a database does: run nextid migrate feed up for both",
						other.Database, t.Database, t.Column, max(t.state.First, other.state.First), min(t.state.Last, other.state.Last)))
				}
			}
		}
		return nil
	})
	return r, err
}

// problem returns why the sequence can collide with another one, or run out; "" for
// no problem.
func (t *target) problem() string {
	s := t.state
	switch n := s.Note; {
	case n.Generator == "":
		return "is not fed: run nextid migrate feed up"
	case n.Generator != t.Generator:
		return "is fed by the generator " + n.Generator
	case !s.FedBy(t.Generator):
		return fmt.Sprintf("its sequence was changed, and is outside of its block %d to %d: run nextid migrate feed up again", n.First, n.Last)
	case s.Left() < s.size()/8:
		return fmt.Sprintf("has %d of %d numbers left: no feeder moves it", s.Left(), s.size())
	}
	return ""
}
