// Package shards configures databases that draw ids by themselves, so that no two
// draw the same id. These are AUTO_INCREMENT columns of MySQL and MariaDB, with
// auto_increment_offset and auto_increment_increment, and sequences of PostgreSQL,
// with INCREMENT BY.
//
// Each shard has a Progression, and no number is in two of them. That keeps ids
// apart, whatever the shards' counters are, as long as all sessions of a shard draw
// from its progression. After a change, some do not:
//
//   - In MySQL the progression is a setting that a session copies when it
//     connects. Older sessions continue in the old progression.
//   - In PostgreSQL it belongs to the sequence. With CACHE, a session holds
//     numbers of the old progression.
//
// So numbers move to another shard only when the old shard can no longer draw them:
//
//  1. A new shard takes a progression that no shard has, if there is one. Then
//     no other shard changes.
//  2. Otherwise the shard with the smallest increment gives away half of its
//     numbers: (1, 3) becomes (1, 6) and gives (4, 6). Both halves were its own,
//     so neither its old nor its new sessions collide with other shards.
//  3. reshard waits until no session of that shard is older than the change, or
//     kills those sessions. In PostgreSQL no wait is needed: cached numbers are
//     below the sequence's last_value.
//  4. Then it reads the counters, and the new shard starts above all of them. Those
//     that are behind the new shard's rows go above these, too.
//
// A failure between any two steps leaves disjoint progressions. The next run
// continues from there, because each database has a note of its state: the tables
// nextid_shard and nextid_shard_lines, made by the goose migrations in the folders
// mysql and postgres.
//
// A set holds the shards of one command (Up, Reshard, Status or Down). A shard
// embeds a database: mysqlShard or postgresShard. State describes a shard, a Line
// one of its columns or sequences. A command has one goroutine. It locks each
// database until it closes the connection.
package shards

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"nextid/migrations/appdb"
)

// Options are the options of the commands.
type Options struct {
	Increment int64         // of all shards in Up; 0: the number of shards
	Wait      time.Duration // bounds the wait for older sessions, and for locks
	Kill      bool          // kill the sessions that are left after Wait
	Exclude   []string      // schemas, tables, columns or sequences to ignore
	Rows      Rows          // which rows Status reads
	Out       io.Writer     // gets a line for each change
	// Progress shows the progress of a command in a line that replaces the previous
	// one; "" removes the line. It is nil without a terminal.
	Progress func(line string)

	dry io.Writer // see Dry; nil: run the statements
}

// Dry returns options with which a command writes its statements to w, and changes
// nothing.
func (o Options) Dry(w io.Writer) Options {
	o.dry, o.Out = w, w
	return o
}

// shard is one database of a set.
type shard struct {
	database
	*connection
	state     State   // as of the last read
	planned   *Member // note that a dry run would have written
	unsettled bool    // a dry run would have made the settings as noted, and no line would be started
}

// set holds the options and shards of a command.
type set struct {
	Options
	shards []*shard
}

// openAll connects to the reachable shards, and returns the errors of the others.
func openAll(ctx context.Context, dsns []string, o Options) (s *set, failures []error) {
	s = &set{Options: o}
	for _, dsn := range dsns {
		one, err := open(ctx, dsn, o)
		if err != nil {
			failures = append(failures, hints.At(appdb.NameOf(dsn), err))
			continue
		}
		s.shards = append(s.shards, one)
	}
	return s, failures
}

// with calls run with the shards, unless one is unreachable.
func with(ctx context.Context, dsns []string, o Options, run func(*set) error) error {
	s, failures := openAll(ctx, dsns, o)
	if len(failures) > 0 {
		return errors.Join(failures[0], s.close())
	}
	return errors.Join(run(s), s.close())
}

// each calls f for shards until it returns an error, which names the shard.
func each(shards []*shard, f func(*shard) error) error {
	for _, one := range shards {
		if err := f(one); err != nil {
			return hints.At(one.name, err)
		}
	}
	return nil
}

// lock locks all shards against other runs, and reads their states.
func (s *set) lock(ctx context.Context) error {
	if err := each(s.shards, func(one *shard) error { return one.lock(ctx) }); err != nil {
		return err
	}
	return s.read(ctx)
}

func (s *set) close() error {
	s.progress("")
	var all error
	for _, one := range s.shards {
		all = errors.Join(all, one.close())
	}
	return all
}

// read reads the states of all shards.
func (s *set) read(ctx context.Context) error {
	err := each(s.shards, func(one *shard) (err error) {
		one.state, err = one.database.state(ctx)
		one.state.Member = cmp.Or(one.planned, one.state.Member)
		if !one.unsettled {
			return err
		}
		if one.state.Setting.Increment > 0 {
			one.state.Setting = one.state.Member.Has
		}
		for i := range one.state.Lines {
			one.state.Lines[i].Started, one.state.Lines[i].Draws = false, one.state.Member.Has
		}
		return err
	})
	if err != nil {
		return err
	}
	s.stepping()
	return s.exclude()
}

// stepping refuses sequences with steps of their own, such as Hibernate's. Sequences
// that up has set, on any shard, have the steps of a shard: one may be restored from
// another shard's dump, or renamed. Status takes settings that were made by hand.
func (s *set) stepping() {
	noted := map[string]bool{}
	for _, one := range s.shards {
		for _, l := range one.state.Lines {
			noted[l.sequence] = noted[l.sequence] || l.noted
		}
	}
	for _, one := range s.shards {
		for i, l := range one.state.Lines {
			m := one.state.Member
			if one.held && l.trouble == "" && l.sequence != "" && l.Draws.Increment > 1 && !noted[l.sequence] && (m == nil || l.Draws != m.Has) {
				one.state.Lines[i].trouble = fmt.Sprintf("counts in steps of %d (nextid migrate feed keeps them)", l.Draws.Increment)
			}
		}
	}
}

// exclude removes the lines that s.Exclude names. A name that matches no line is an
// error.
func (s *set) exclude() error {
	found := map[string]bool{}
	out := func(path []string) bool {
		i := slices.IndexFunc(s.Exclude, func(name string) bool { return named(name, path) })
		if i >= 0 {
			found[s.Exclude[i]] = true
		}
		return i >= 0
	}
	for _, one := range s.shards {
		one.state.Lines = slices.DeleteFunc(one.state.Lines, func(l Line) bool { return out(l.path) || out(l.sequencePath) })
		one.state.missed = slices.DeleteFunc(one.state.missed, func(m missed) bool { return out(m.path) })
	}
	for _, name := range s.Exclude {
		if !found[name] {
			return &Error{
				What: fmt.Sprintf("--exclude %s: no table, column or sequence that draws ids has that name on these shards", name),
				Hint: `Write TABLE, TABLE.COLUMN, SEQUENCE or SCHEMA, a name with capitals or dots in double quotes: '"Order Items".id'.`,
			}
		}
	}
	return nil
}

// say writes a line about one shard.
func (s *set) say(one *shard, format string, args ...any) {
	s.warn(one.name+": "+format, args...)
}

// warn writes a line, in a dry run as an SQL comment.
func (s *set) warn(format string, args ...any) {
	prefix := ""
	if s.dry != nil {
		prefix = "-- "
	}
	s.progress("")
	fmt.Fprintf(s.Out, prefix+format+"\n", args...)
}

// progress shows a line on the terminal, if there is one.
func (s *set) progress(format string, args ...any) {
	if s.Progress != nil {
		s.Progress(fmt.Sprintf(format, args...))
	}
}

// Up makes databases a set of shards: number i of N has the progression i, i+N, …. A
// second Up with the same databases restores lost settings, and adds new tables. A
// problem with one shard or column does not stop the repair of others. It is
// returned at the end.
func Up(ctx context.Context, dsns []string, o Options) error {
	s, unreachable := openAll(ctx, dsns, o)
	return errors.Join(s.up(ctx, unreachable), s.close())
}

// up runs Up. It repairs shards with a note first, even if others are unreachable.
func (s *set) up(ctx context.Context, unreachable []error) error {
	if err := s.lock(ctx); err != nil {
		return errors.Join(append(unreachable, err)...)
	}
	mended, err := s.mend(ctx)
	if err = errors.Join(append(unreachable, err)...); err != nil {
		if mended > 0 {
			s.warn("the settings of %d shards were restored, but their counters not yet raised: run up again after this error is corrected", mended)
		}
		return err
	}
	members, err := s.members()
	if err != nil {
		return err
	}
	if err := s.able(ctx); err != nil {
		return err
	}
	if err := each(s.shards, func(one *shard) error { return one.install(ctx) }); err != nil {
		return err
	}
	if err := s.read(ctx); err != nil {
		return err
	}
	complaints, err := s.fit()
	if err != nil {
		return err
	}
	// No line starts before all shards draw their own progressions for it: others
	// might draw its first numbers.
	for i, one := range s.shards {
		switch st := one.state; {
		case st.Member == nil || !st.asNoted():
			err = s.give(ctx, one, members[i])
		case slices.ContainsFunc(st.Lines, func(l Line) bool { return l.Draws != members[i].Has }):
			err = one.assign(ctx, st.Lines, members[i].Has)
		}
		if err != nil {
			return hints.At(one.name, err)
		}
	}
	if err := each(s.shards, func(one *shard) error {
		return s.drain(ctx, one, "Until then the databases' ids can collide as before. ")
	}); err != nil {
		return err
	}
	if err := s.read(ctx); err != nil {
		return err
	}
	full, err := s.startLines(ctx, func(_ *shard, l Line) bool { return !started(l.Name, s.shards...) })
	if err != nil {
		return err
	}
	complaints = append(complaints, full...)
	for _, one := range s.shards {
		s.remind(one)
	}
	return complaint(complaints, "Everything else is done. Correct that and run up again, or leave the column out with --exclude.")
}

// mend restores the settings in the notes of shards. It returns the number of
// repaired shards, and an error if two notes have common numbers: one is of a copy,
// or older than a reshard.
func (s *set) mend(ctx context.Context) (mended int, err error) {
	for _, one := range s.shards {
		st := one.state
		if st.Member == nil {
			continue
		}
		if i := slices.IndexFunc(s.shards, func(o *shard) bool {
			return o != one && o.state.Member != nil && o.state.Member.Has.together(st.Member.Has)
		}); i >= 0 {
			what := fmt.Sprintf("has the note of %s, and %s that of %s", st.Member.Has, s.shards[i].name, s.shards[i].state.Member.Has)
			err = errors.Join(err, hints.At(one.name, &Error{What: what, Hint: leave}))
			continue
		}
		if st.asNoted() && !st.lapsed || st.trouble != "" {
			continue
		}
		if e := errors.Join(one.able(ctx), one.exec(ctx, one.unsettle), one.assign(ctx, st.Lines, st.Member.Has)); e != nil {
			err = errors.Join(err, hints.At(one.name, e))
			continue
		}
		s.say(one, "draws %s again", st.Member.Has)
		one.unsettled = s.dry != nil
		mended++
	}
	if mended == 0 || s.dry != nil {
		return mended, err
	}
	return mended, errors.Join(err, s.read(ctx))
}

// complaint returns one error for the problems of columns.
func complaint(all []string, hint string) error {
	if len(all) == 0 {
		return nil
	}
	return &Error{What: strings.Join(all, "; "), Hint: hint}
}

// leave is the hint about a database that has another shard's note, or an old one.
const leave = "If it is a copy, from a backup older than reshard, or has left its set: stop its clients, and run nextid migrate shards down for it alone."

// oneSet checks that shards with a note, whose numbers mend has compared, belong to
// one set, of all shards that are given or of the number also. It returns the name of
// the set, and the numbers that are taken.
func oneSet(shards []*shard, also int) (name string, taken map[int]bool, err error) {
	taken = map[int]bool{}
	err = each(shards, func(one *shard) error {
		m := one.state.Member
		switch {
		case m == nil:
			return nil
		case name != "" && name != m.Set:
			return &Error{What: "belongs to another set of shards", Hint: leave}
		case m.Of != len(shards) && m.Of != also:
			return &Error{
				What: fmt.Sprintf("is one of %d shards, and %d are given", m.Of, len(shards)),
				Hint: "Give all shards of the set with --dsn; nextid migrate shards reshard --add adds one. " + leave,
			}
		}
		name, taken[m.Number] = m.Set, true
		return nil
	})
	return name, taken, err
}

// members returns the note of each shard: the present one, or for new shards one of a
// free number and progression.
func (s *set) members() ([]Member, error) {
	n := len(s.shards)
	increment := max(s.Increment, int64(n))
	if s.Increment != 0 && s.Increment < int64(n) {
		return nil, &Error{What: fmt.Sprintf("an increment of %d is too small for %d shards", s.Increment, n)}
	}
	name, taken, err := oneSet(s.shards, n)
	if err != nil {
		return nil, err
	}
	name = cmp.Or(name, rand.Text())
	members := make([]Member, n)
	var has []Progression
	for i, one := range s.shards {
		if m := one.state.Member; m != nil {
			members[i], has = *m, append(has, m.Has)
		}
	}
	var fresh []*Member
	for i, one := range s.shards {
		if one.state.Member != nil {
			continue
		}
		m := &members[i]
		*m = Member{Set: name, Number: 1, Of: n}
		for taken[m.Number] {
			m.Number++
		}
		free, ok := spare(has)
		switch {
		case ok:
		case len(has) == 0:
			free = Progression{1, increment}
		case len(fresh) == 0:
			return nil, &Error{What: one.name + ": the other shards draw all numbers", Hint: leave}
		default: // another new shard got all spare numbers
			donor := slices.MinFunc(fresh, func(a, b *Member) int { return cmp.Compare(a.Has.Increment, b.Has.Increment) })
			donor.Has, free = donor.Has.halves()
		}
		m.Has, has, fresh, taken[m.Number] = free, append(has, free), append(fresh, m), true
	}
	for i, one := range s.shards {
		if one.state.Member == nil && members[i].Has.Increment > one.most {
			return nil, tooGreat(one, members[i].Has.Increment)
		}
	}
	return members, nil
}

func tooGreat(one *shard, increment int64) error {
	return &Error{What: fmt.Sprintf("%s: an increment of %d is more than %d, the most it takes", one.name, increment, one.most)}
}

// able returns an error if a server cannot be a shard, or if the account cannot see
// the sessions of others.
func (s *set) able(ctx context.Context) error {
	return each(s.shards, func(one *shard) error {
		if one.state.Member == nil {
			if err := one.able(ctx); err != nil {
				return err
			}
		}
		switch {
		case one.state.trouble != "":
			return &Error{What: one.state.trouble}
		case one.state.blind:
			return &Error{
				What: "this account cannot see the sessions of others, which may draw as before a change",
				Hint: "GRANT PROCESS ON *.* TO it.",
			}
		}
		return nil
	})
}

// fit checks that all shards have the same lines, and that each line can be one of a
// shard. complaints describes the lines for which this is not so.
func (s *set) fit() (complaints []string, err error) {
	if len(s.names()) == 0 {
		return nil, &Error{What: "no table of these databases has a column that draws ids", Hint: "Create them first."}
	}
	for _, one := range s.shards {
		for _, l := range one.state.Lines {
			if l.trouble != "" {
				complaints = append(complaints, one.name+": "+l.Name+" "+l.trouble)
			}
			if !l.Unique && l.column != "" {
				s.say(one, "column %s has no unique key of its own: this database would take an id twice", l.Name)
			}
		}
	}
	return append(complaints, s.lacking()...), nil
}

// give writes the note of a shard, and then the settings.
func (s *set) give(ctx context.Context, one *shard, m Member) error {
	if err := one.join(ctx, m); err != nil {
		return err
	}
	if s.dry != nil {
		one.planned = &m
	}
	s.say(one, "shard %d of %d draws %s", m.Number, m.Of, m.Has)
	s.progress("%s: %d columns get their progression", one.name, len(one.state.Lines))
	return one.assign(ctx, one.state.Lines, m.Has)
}

// drain waits until no session is left that may still draw from the former
// progression. meanwhile is the part of the hint about collisions until then.
func (s *set) drain(ctx context.Context, one *shard, meanwhile string) error {
	const pause, rollback = 200 * time.Millisecond, time.Minute
	deadline, reported, killed := time.Now().Add(s.Wait), -1, false
	for {
		left, err := one.older(ctx)
		if err != nil || len(left) == 0 {
			return err
		}
		if len(left) != reported {
			reported = len(left)
			s.say(one, "waiting for older sessions to end: %d (%s)", reported, describe(left))
		}
		if time.Now().After(deadline) {
			if !s.Kill || killed {
				return &Error{
					What: fmt.Sprintf("sessions are older than the change, and may still draw ids in the old progression: %d (%s)", len(left), describe(left)),
					Hint: meanwhile + "Restart these clients or their pools and run the command again, or add --kill.",
				}
			}
			for _, session := range left {
				err := one.exec(ctx, fmt.Sprintf("KILL CONNECTION %d", session.id))
				if err != nil && !appdb.Says(err, erNoSuchThread) { // it has ended
					return err
				}
			}
			// A killed session ends after the rollback of its transaction.
			killed, deadline = true, time.Now().Add(max(s.Wait, rollback))
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// remind writes what the operator must do so that the settings outlast a restart.
func (s *set) remind(one *shard) {
	if s.dry == nil && one.state.restart != "" {
		s.say(one, "%s", one.state.restart)
	}
}

// describe lists the first three sessions.
func describe(sessions []session) string {
	const shown = 3
	var all []string
	for _, one := range sessions {
		all = append(all, fmt.Sprintf("%d %s", one.id, one.account))
	}
	if more := len(all) - shown; more > 0 {
		all = append(all[:shown], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, ", ")
}

// drawn returns the least number of a line above all that some shards have drawn.
func drawn(name string, shards ...*shard) int64 {
	least := int64(1)
	for _, one := range shards {
		for _, l := range one.state.Lines {
			if l.Name == name && l.trouble == "" {
				least = max(least, l.free)
			}
		}
	}
	return least
}

// errUsedUp is the cause of usedUp's errors.
var errUsedUp = errors.New("the column's type ends")

// usedUp returns the error of a line whose type does not hold its next id.
func usedUp(l Line, next int64) error {
	return &Error{What: fmt.Sprintf("%s ends at %d, and its next id would be %d: %s", l.Name, l.Most, next, l.widen()), Err: errUsedUp}
}

// Down restores the settings that the databases had before Up. It does not change
// tables, counters and positions of sequences.
func Down(ctx context.Context, dsns []string, o Options) error {
	return with(ctx, dsns, o, func(s *set) error {
		if err := s.lock(ctx); err != nil {
			return err
		}
		var all error
		for _, one := range s.shards {
			said, err := "is no shard", error(nil)
			if one.state.Member != nil {
				said, err = "the settings are as before", one.restore(ctx)
			}
			if err == nil {
				err = one.forget(ctx)
			}
			if all = errors.Join(all, hints.At(one.name, err)); err == nil {
				s.say(one, "%s", said)
			}
		}
		return all
	})
}
