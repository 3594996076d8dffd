package shards

import (
	"context"
	"errors"
	"fmt"
)

// Report is what Status found.
type Report struct {
	Names    []string // of the shards
	States   []State
	Problems []string // why ids can collide or end, a line each
}

// Status asks databases for their settings and counters, whether Up has made
// them shards or somebody by hand.
func Status(ctx context.Context, dsns []string) (Report, error) {
	s, err := openSet(ctx, dsns, Options{})
	if err != nil {
		return Report{}, err
	}
	if err := s.read(ctx); err != nil {
		return Report{}, errors.Join(err, s.close())
	}
	var r Report
	r.Problems = append(problems(s.shards), collisions(s.shards)...)
	for _, one := range s.shards {
		r.Names = append(r.Names, one.name)
		r.States = append(r.States, one.state)
	}
	return r, s.close()
}

// problems are those of single shards.
func problems(shards []*shard) []string {
	var all []string
	add := func(one *shard, format string, args ...any) {
		all = append(all, one.name+": "+fmt.Sprintf(format, args...))
	}
	for _, one := range shards {
		st := one.state
		if st.trouble != "" {
			add(one, "%s", st.trouble)
		}
		if m := st.Member; m != nil {
			if m.Of != len(shards) {
				add(one, "is one of %d shards, and %d are given", m.Of, len(shards))
			}
			if !st.asNoted() {
				add(one, "should draw %s, and draws others: run nextid migrate shards up again", m.Has)
			}
			if m.Draining {
				add(one, "sessions may still draw as before the last change: run that command again")
			}
		}
		for _, l := range st.Lines {
			switch {
			case l.trouble != "":
				add(one, "%s %s", l.Name, l.trouble)
			case l.Next > l.Most:
				add(one, "%s", usedUp(l, l.Next))
			case st.Member != nil && !l.Started && l.Draws != st.Member.Has:
				add(one, "column %s is new and draws %s: run nextid migrate shards up again", l.Name, l.Draws)
			}
		}
	}
	return all
}

// collisions finds numbers that two shards will draw.
func collisions(shards []*shard) []string {
	var all []string
	for i, a := range shards {
		for _, b := range shards[:i] {
			all = append(all, collide(b, a)...)
		}
	}
	return all
}

func collide(a, b *shard) []string {
	const will = "%s and %s both draw"
	var all []string
	for _, l := range a.state.Lines {
		for _, k := range b.state.Lines {
			if l.Name != k.Name || l.trouble != "" || k.trouble != "" {
				continue
			}
			if n, ok := l.Draws.meet(k.Draws, max(l.Next, k.Next)); ok && n <= min(l.Most, k.Most) {
				all = append(all, fmt.Sprintf(will+" %d for %s: %s and %s", a.name, b.name, n, l.Name, l.Draws, k.Draws))
			}
		}
	}
	if p, q := a.state.Setting, b.state.Setting; len(all) == 0 && p.Increment > 0 && q.Increment > 0 && !a.state.session && !b.state.session {
		if n, ok := p.meet(q, 1); ok {
			all = append(all, fmt.Sprintf(will+" %s and %s, such as %d, for tables to come", a.name, b.name, p, q, n))
		}
	}
	return all
}
