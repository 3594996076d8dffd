package shards

import (
	"cmp"
	"context"
	"errors"
	"slices"
)

// Reshard adds a database to the set of shards dsns, while these are in use. See the
// package comment for the steps. It restores lost settings first, as Up does. If it
// cannot keep ids apart, it returns an error before it changes anything else.
func Reshard(ctx context.Context, dsns []string, add string, o Options) error {
	return with(ctx, append(slices.Clone(dsns), add), o, func(s *set) error { return s.reshard(ctx) })
}

// reshard runs Reshard. The last shard of s is the new one.
func (s *set) reshard(ctx context.Context) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	old, add := s.shards[:len(s.shards)-1], s.shards[len(s.shards)-1]
	if err := s.able(ctx); err != nil {
		return err
	}
	if _, err := s.mend(ctx); err != nil {
		return err
	}
	if err := s.whole(old, add); err != nil {
		return err
	}
	if err := add.install(ctx); err != nil {
		return hints.At(add.name, err)
	}
	if err := s.read(ctx); err != nil {
		return err
	}
	if complaints, err := s.fit(); err != nil || len(complaints) > 0 {
		return errors.Join(err, complaint(complaints, "Create missing tables, or leave them out with --exclude."))
	}
	// There are new tables of PostgreSQL, or sessions from before mend or an earlier run.
	err := each(old, func(one *shard) error {
		m, lines := one.state.Member, one.state.Lines
		if slices.ContainsFunc(lines, func(l Line) bool { return l.Draws != m.Has }) {
			return one.assign(ctx, lines, m.Has)
		}
		if !m.Draining {
			return nil
		}
		return s.drain(ctx, one, "")
	})
	if err != nil {
		return err
	}
	m, err := s.grow(ctx, old, add)
	if err != nil {
		return err
	}
	if err := s.move(ctx, add, m, "The other shards are as they were. "); err != nil {
		return err
	}
	if err := s.read(ctx); err != nil { // the donor draws no more numbers of the new shard
		return err
	}
	// The others would draw the ids of rows that the new shard has brought.
	full, err := s.startLines(ctx, func(one *shard, l Line) bool {
		return one == add || l.free < drawn(l.Name, add) || !started(l.Name, old...)
	})
	if err != nil || len(full) > 0 {
		return errors.Join(err, complaint(full, ""))
	}
	err = each(old, func(one *shard) error {
		member := *one.state.Member
		member.Of = m.Of
		return one.join(ctx, member)
	})
	if err != nil {
		return err
	}
	s.say(add, "ready: its ids are apart from those of the other %d shards", len(old))
	// An earlier run may have changed other shards.
	for _, one := range s.shards {
		s.remind(one)
	}
	return nil
}

// whole returns an error unless the old shards are the complete set.
func (s *set) whole(old []*shard, add *shard) error {
	added, also := add.state.Member, 0
	if added != nil { // an interrupted run may have noted the new shard
		also = added.Of
	}
	name, _, err := oneSet(old, also)
	if err != nil {
		return err
	}
	for _, one := range old {
		if one.state.Member == nil {
			return hints.At(one.name, &Error{What: "is no shard", Hint: "Run nextid migrate shards up first."})
		}
	}
	if added != nil && (added.Set != name || added.Number != len(old)+1) {
		return hints.At(add.name, &Error{What: "is a shard already", Hint: leave})
	}
	return nil
}

// grow returns the note of the new shard. If no progression is spare, it takes half
// of the numbers of another shard.
func (s *set) grow(ctx context.Context, old []*shard, add *shard) (Member, error) {
	m := Member{Set: old[0].state.Member.Set, Number: len(old) + 1, Of: len(old) + 1}
	if had := add.state.Member; had != nil { // from an interrupted run
		m.Has = had.Has
		return m, nil
	}
	var taken []Progression
	for _, one := range old {
		taken = append(taken, one.state.Member.Has)
	}
	if free, ok := spare(taken); ok && free.Increment <= add.most {
		m.Has = free
		return m, s.headroom(add, free)
	}
	donor := slices.MinFunc(old, func(a, b *shard) int {
		return cmp.Compare(a.state.Member.Has.Increment, b.state.Member.Has.Increment)
	})
	stay, give := donor.state.Member.Has.halves()
	if most := min(donor.most, add.most); stay.Increment > most {
		return m, tooGreat(donor, stay.Increment)
	}
	if err := errors.Join(s.headroom(donor, stay), s.headroom(add, give)); err != nil {
		return m, err
	}
	less := *donor.state.Member
	less.Has = stay
	m.Has = give
	return m, s.move(ctx, donor, less, "Nothing collides: the numbers are still this shard's own. ")
}

// move gives a shard its note, and waits until no session draws from its former
// progression.
func (s *set) move(ctx context.Context, one *shard, m Member, meanwhile string) error {
	err := s.give(ctx, one, m)
	if err == nil {
		err = s.drain(ctx, one, meanwhile)
	}
	return hints.At(one.name, err)
}

// headroom returns an error if a column of a shard does not hold its next id.
func (s *set) headroom(one *shard, has Progression) error {
	for _, l := range one.state.Lines {
		if l.trouble != "" {
			continue
		}
		if first, ok := has.first(drawn(l.Name, s.shards...)); !ok || first > l.Most {
			return hints.At(one.name, usedUp(l, first))
		}
	}
	return nil
}
