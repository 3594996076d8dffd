package shards

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"nextid/migrations/appdb"
)

// Report holds the result of Status.
type Report struct {
	Names    []string // of the shards
	States   []State
	Problems []string // a line each: why ids can collide, or run out
	Missed   []string // a line each: what was not checked
}

// Status reads settings, counters and rows of databases. It also works for shards
// that were not made by Up. It changes nothing.
func Status(ctx context.Context, dsns []string, o Options) (r Report, err error) {
	err = with(ctx, dsns, o, func(s *set) error { return s.report(ctx, &r) })
	return r, err
}

// PrintStatus writes the Report of Status. It returns an error if there are problems,
// or if something was not checked.
func PrintStatus(ctx context.Context, dsns []string, o Options) error {
	r, err := Status(ctx, dsns, o)
	if err != nil {
		return err
	}
	table := []string{"shard\tdatabase\tserver\tcolumn\toffset\tincrement\tnext id"}
	for i, s := range r.States {
		number := "-"
		if s.Member != nil {
			number = fmt.Sprintf("%d of %d", s.Member.Number, s.Member.Of)
		}
		row := func(column string, draws Progression, next string) {
			table = append(table, fmt.Sprintf("%s\t%s\t%s\t%s\t%d\t%d\t%s", number, r.Names[i], s.Title, column, draws.Offset, draws.Increment, next))
		}
		if len(s.Lines) == 0 {
			row("-", s.Setting, "-")
		}
		for _, l := range s.Lines {
			row(l.Name, l.Draws, strconv.FormatInt(l.Next, 10))
		}
	}
	appdb.PrintTable(o.Out, table...)
	for i, s := range r.States {
		appdb.PrintEach(o.Out, "note: "+r.Names[i], s.Notes)
	}
	appdb.PrintEach(o.Out, "problem", r.Problems)
	appdb.PrintEach(o.Out, "not looked at", r.Missed)
	appdb.PrintEach(o.Out, "left out", o.Exclude)
	switch {
	case len(r.Problems) > 0:
		return &Error{What: fmt.Sprintf("problems: %d", len(r.Problems)), Hint: "See docs/shards.md."}
	case len(r.Missed) > 0:
		return &Error{
			What: "no two shards were seen to draw the same id, but not everything was looked at",
			Hint: "--rows looks at all rows, --exclude NAME leaves something out.",
		}
	}
	text := "no two shards draw the same id"
	if o.Rows == RowsNone {
		text = "no two shards will draw the same id; rows were not looked at (--rows=false)"
	}
	fmt.Fprintln(o.Out, text)
	return nil
}

func (s *set) report(ctx context.Context, r *Report) error {
	if err := s.read(ctx); err != nil {
		return err
	}
	r.Problems = problems(s.shards)
	for i, b := range s.shards {
		for _, a := range s.shards[:i] {
			r.Problems = append(r.Problems, collide(a, b)...)
		}
	}
	r.Missed = s.lacking()
	err := s.rows(ctx, r)
	for _, one := range s.shards {
		for _, l := range one.state.Lines {
			if l.Most > 0 && l.Next > l.Most/5*4 && l.Next <= l.Most { // more than 80 % are used
				one.state.Notes = append(one.state.Notes, fmt.Sprintf("%s is at %d of %d: %s in time", l.Name, l.Next, l.Most, l.widen()))
			}
		}
		for _, m := range one.state.missed {
			r.Missed = append(r.Missed, one.name+": "+m.what)
		}
		r.Names = append(r.Names, one.name)
		r.States = append(r.States, one.state)
	}
	return err
}

// problems returns the problems of single shards.
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
				add(one, "%s is new and draws %s: run nextid migrate shards up again", l.Name, l.Draws)
			}
		}
	}
	return all
}

// names lists the names of the lines of all shards.
func (s *set) names() (names []string) {
	for _, one := range s.shards {
		for _, l := range one.state.Lines {
			if !slices.Contains(names, l.Name) {
				names = append(names, l.Name)
			}
		}
	}
	return names
}

// lacking describes the lines that some shards do not have, and others have.
func (s *set) lacking() (missed []string) {
	for _, one := range s.shards {
		for _, name := range s.names() {
			if !slices.ContainsFunc(one.state.Lines, func(l Line) bool { return l.Name == name }) {
				missed = append(missed, one.name+": there is no "+name+" that draws ids, as there is on another shard")
			}
		}
	}
	return missed
}

// collide returns a problem for each line of which two shards will draw the same
// number. If there is none, it returns that of the settings, which later tables get.
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
	if p, q := a.state.Setting, b.state.Setting; len(all) == 0 && p.Increment > 0 && q.Increment > 0 {
		if n, ok := p.meet(q, 1); ok {
			all = append(all, fmt.Sprintf(will+" %s and %s, such as %d, for tables to come", a.name, b.name, p, q, n))
		}
	}
	return all
}
