package feed

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"nextid/generator"
	"nextid/migrations/appdb"
)

// Column is a column and the generator that feeds it.
type Column struct{ Column, Generator string }

// Options are the options of the commands. Each command feeds all Columns in all
// databases.
type Options struct {
	DSNs    []string
	Columns []Column
	Server  *Server       // Up, Once and Down need it
	Cron    bool          // cron runs Once, and the servers do not feed
	Ahead   time.Duration // 0: DefaultAhead
	Block   int64         // see Feed
	Out     io.Writer     // gets a line for each change
	Dry     bool          // print the SQL, and change nothing
}

// set holds the feeds of a command.
type set struct {
	Options
	feeds []*target
}

// target is a Feed with the state that a command has read.
type target struct {
	*Feed
	dsn      string
	state    State
	greatest int64 // greatest number in the column
}

// same reports whether two targets are one sequence.
func (t *target) same(other *target) bool { return t.dsn == other.dsn && t.name == other.name }

// with connects to all databases, finds the sequences, and calls run with those that
// it has found. Unless partly is set, it must have found all.
func with(ctx context.Context, o Options, partly bool, run func(*set) error) error {
	s := &set{Options: o}
	s.Ahead = cmp.Or(o.Ahead, DefaultAhead)
	var missing error
	for _, dsn := range o.DSNs {
		db, mysql, err := appdb.Open(dsn)
		if err != nil {
			return err
		}
		defer db.Close() // nothing is lost
		for _, c := range o.Columns {
			sequence, err := Find(ctx, db, mysql, appdb.NameOf(dsn), c.Column)
			if err != nil {
				missing = errors.Join(missing, err)
				continue
			}
			t := &target{Feed: &Feed{Sequence: sequence, Generator: c.Generator, Ahead: s.Ahead, Block: o.Block}, dsn: dsn}
			if o.Server != nil {
				t.Draw = o.Server.Draw
			}
			for _, other := range s.feeds {
				if t.same(other) && t.Generator != other.Generator {
					return t.at(&Error{What: fmt.Sprintf("has the sequence of %s: it is fed by one generator, not by %s and %s", other.Column, other.Generator, t.Generator)})
				}
			}
			s.feeds = append(s.feeds, t)
		}
	}
	if missing != nil && !partly {
		return missing
	}
	return errors.Join(missing, run(s))
}

func (s *set) say(t *target, format string, args ...any) {
	fmt.Fprintf(s.Out, "%s: %s: %s\n", t.Database, t.Column, fmt.Sprintf(format, args...))
}

// at prefixes an error with database and column.
func (t *target) at(err error) error { return hints.At(t.Database+": "+t.Column, err) }

// of returns the targets of one generator.
func (s *set) of(generator string) []*target {
	return slices.DeleteFunc(slices.Clone(s.feeds), func(t *target) bool { return t.Generator != generator })
}

// generators returns the names of the generators without repetitions, in the order
// of s.Columns.
func (s *set) generators() (names []string) {
	for _, c := range s.Columns {
		if !slices.Contains(names, c.Generator) {
			names = append(names, c.Generator)
		}
	}
	return names
}

// each runs f on all targets and joins the errors.
func (s *set) each(f func(*target) error) error {
	var all error
	for _, t := range s.feeds {
		all = errors.Join(all, t.at(f(t)))
	}
	return all
}

// read reads the states of all sequences, and before that the greatest numbers in the
// columns.
func (s *set) read(ctx context.Context) error {
	return s.each(func(t *target) (err error) {
		if err = t.db.QueryRowContext(ctx, "SELECT "+t.used).Scan(&t.greatest); err == nil {
			t.state, err = t.Read(ctx)
		}
		return err
	})
}

// Up moves each sequence to a block of its own, above all numbers that any of the
// databases has drawn, and above their present blocks. Then it registers the
// sequences with the servers, which feed them. A second Up moves all sequences again.
// So it repairs those that were changed.
//
//  1. The generator moves above all drawn numbers, plus a reserve.
//  2. Sequences that are not fed yet get a MAXVALUE at the end of the reserve.
//  3. The sequences are registered. From here on the servers complete a failed Up.
//  4. Each sequence moves.
func Up(ctx context.Context, o Options) error {
	return with(ctx, o, false, func(s *set) error {
		if err := s.read(ctx); err != nil {
			return err
		}
		if err := s.each(func(t *target) error { return t.state.check() }); err != nil {
			return err
		}
		for _, dsn := range o.DSNs {
			if name := appdb.NameOf(dsn); !o.Cron && (strings.Contains(name, ",") || strings.HasPrefix(name, "/") || otherPlace.MatchString(dsn)) {
				return &Error{
					What: name + ": the servers feed a database under one host before the parameters, and the URL names several, or none, or another place in a parameter",
					Hint: "Name the primary, or a proxy before them; or add --cron and let cron run nextid migrate feed once.",
				}
			}
		}
		for _, name := range s.generators() {
			if err := s.up(ctx, name); err != nil {
				return err
			}
		}
		return nil
	})
}

// otherPlace matches the parameters with which pgx replaces the place that a URL names.
var otherPlace = regexp.MustCompile(`[?&](host|port|database|dbname)=`)

// headroom bounds the numbers that a sequence may draw before its first move.
const headroom = 1_000_000

// up runs Up for the targets of one generator.
func (s *set) up(ctx context.Context, name string) error {
	feeds := s.of(name)
	drawn, most, plain := int64(0), int64(math.MaxInt64), false
	for _, t := range feeds {
		if n := t.state.Note; n.Generator != "" && n.Generator != name {
			return t.at(&Error{What: "its sequence is fed by the generator " + n.Generator, Hint: "Run nextid migrate feed down with that --name first."})
		}
		// Ids above the greatest row may be in open transactions, or of deleted rows.
		drawn = max(drawn, t.greatest, t.state.Top(name))
		most = min(most, t.state.Most)
		plain = plain || !t.state.FedBy(name)
	}
	begin := drawn
	if plain {
		begin = appdb.Plus(drawn, min(headroom, max(most-drawn, 0)/8))
	}
	for _, t := range feeds {
		if n := t.size(t.state); (t.state.Most-begin)/t.state.Increment/2 < n {
			return t.at(&Error{
				What: fmt.Sprintf("the column ends at %d, and %d of its numbers are used: blocks of %d do not fit", t.state.Most, drawn, n),
				Hint: "Make the column and its sequence bigint, or give a smaller --block.",
			})
		}
	}
	if s.Dry {
		return s.print(feeds, name, begin)
	}
	if err := s.Server.above(ctx, name, begin); err != nil {
		return err
	}
	for _, t := range feeds {
		if t.above = begin; t.state.FedBy(name) {
			continue
		}
		if err := t.run(ctx, t.boundSQL(begin)); err != nil {
			return t.at(err)
		}
	}
	if !s.Cron {
		if err := s.register(ctx, name, &generator.FeedOption{Ahead: generator.Duration(s.Ahead), Block: s.Block}); err != nil {
			return err
		}
	}
	var all error
	for _, t := range feeds {
		t.patient = true
		st, _, err := t.Step(ctx, true)
		if err != nil {
			all = errors.Join(all, t.at(err))
			continue
		}
		s.say(t, "draws %d to %d", st.First, st.Last)
	}
	if all != nil || s.Cron {
		return all
	}
	return s.fedByServers(ctx, feeds)
}

// print writes the statements of Up for one generator.
func (s *set) print(feeds []*target, name string, begin int64) error {
	fmt.Fprintf(s.Out, "-- the generator %s goes on above %d; the first blocks would be:\n", name, begin)
	first := begin + 1
	for _, t := range feeds {
		t.Draw = func(_ context.Context, _ string, _, n int64) (int64, error) {
			first += n
			return first - n, nil
		}
		n, err := t.next(context.Background(), t.state)
		if err != nil {
			return t.at(err)
		}
		statements := t.moveSQL(n, t.state.Increment)
		if !t.state.FedBy(name) {
			statements = append([]string{t.boundSQL(begin)}, statements...)
		}
		for _, statement := range statements {
			fmt.Fprintf(s.Out, "/* %s */ %s;\n", t.Database, statement)
		}
	}
	return nil
}

// run runs statements that change the sequence.
func (t *target) run(ctx context.Context, statements ...string) error {
	_, err := t.change(ctx, lastWait, func(State) ([]string, error) { return statements, nil })
	if errors.Is(err, errBusy) {
		return &Error{What: "a transaction has drawn from its sequence and is still open", Hint: "Run it again when that has ended.", Err: err}
	}
	return hints.Explain(err)
}

// register replaces the entries of the targets of a generator in its option feeds, or
// removes them if setting is nil.
func (s *set) register(ctx context.Context, name string, setting *generator.FeedOption) error {
	g, _, err := s.Server.find(ctx, name)
	if err != nil {
		return err
	}
	feeds, settings := s.of(name), map[string]*generator.FeedOption{}
	for _, key := range slices.Sorted(maps.Keys(g.Feeds)) {
		if slices.ContainsFunc(feeds, func(t *target) bool { return t.has(ctx, key) }) {
			settings[key] = nil
		} else if setting == nil {
			fmt.Fprintf(s.Out, "the servers go on feeding %s from %s\n", key, name)
		}
	}
	for _, t := range feeds {
		if url, err := appdb.WithoutPassword(t.dsn); err != nil {
			return &Error{What: "--dsn is not a URL"}
		} else if setting != nil {
			settings[url+" "+t.Column] = setting // see ParseKey
		}
	}
	if len(settings) == 0 {
		return nil
	}
	text, err := json.Marshal(map[string]any{"feeds": settings})
	if err != nil {
		return err
	}
	_, err = s.Server.db.ExecContext(ctx, "SELECT alter_generator($1, $2)", name, string(text))
	return ofServer(err)
}

// has reports whether a key of the option feeds names the sequence, perhaps with other
// words: another user or parameters of the URL, or another name of the column.
func (t *target) has(ctx context.Context, key string) bool {
	url, column := ParseKey(key)
	if appdb.NameOf(url) != t.Database {
		return false
	}
	_, mysql := t.engine.(mariadb)
	other, err := Find(ctx, t.db, mysql, t.Database, column)
	return column == t.Column || err == nil && other.name == t.name
}

// fedByServers waits until a server has read each target. It returns an error if a
// server cannot.
func (s *set) fedByServers(ctx context.Context, feeds []*target) error {
	patient, cancel := context.WithTimeout(ctx, feederPatience)
	defer cancel()
	for _, t := range feeds {
		says, err := s.Server.feederSays(ctx, t)
		for err == nil && says == "" && (generator.Goroutines{}).Sleep(patient, pause) == nil {
			says, err = s.Server.feederSays(ctx, t)
		}
		if err != nil {
			return err
		}
		if says != "ok" {
			return t.at(&Error{
				What: "in a block of its own, but the nextid server does not feed it: " + cmp.Or(says, "it has not read the sequence yet"),
				Hint: "Can that server reach the database under the same URL? The password must be in the file of database_passwords. nextid.feeds shows the present error. " +
					"If no server can reach the database, add --cron and let cron run nextid migrate feed once.",
			})
		}
	}
	return nil
}

// Once moves the sequences that are due (Feed.Due), as a server does: above the blocks
// of all. It does so for those that it reaches.
func Once(ctx context.Context, o Options) error {
	return with(ctx, o, true, func(s *set) error {
		tops := map[string]int64{}
		failed := s.each(func(t *target) (err error) {
			if t.state, err = t.Read(ctx); err == nil && t.state.Note.Generator != t.Generator {
				err = &Error{What: "its sequence is not fed by " + t.Generator, Hint: "Run nextid migrate feed up first."}
			}
			tops[t.Generator] = max(tops[t.Generator], t.state.Note.Last)
			return err
		})
		return errors.Join(failed, s.each(func(t *target) error {
			if t.state.Note.Generator != t.Generator {
				return nil
			}
			t.above = tops[t.Generator]
			if t.Due(t.state) {
				if err := t.try(ctx, t.state); err != nil {
					return err
				}
			}
			st, moved, err := t.Step(ctx, false)
			if moved {
				s.say(t, "moved to %d to %d", st.First, st.Last)
			}
			return err
		}))
	})
}

// Down removes the sequences from the servers' feeds, and their bounds. Their
// positions do not change.
func Down(ctx context.Context, o Options) error {
	return with(ctx, o, false, func(s *set) error {
		if err := s.read(ctx); err != nil {
			return err
		}
		for _, name := range s.generators() {
			if err := s.register(ctx, name, nil); err != nil {
				return err
			}
		}
		return s.each(func(t *target) error {
			if t.state.Note.Generator != t.Generator {
				s.say(t, "is not fed by %s", t.Generator)
				return nil
			}
			if err := t.run(ctx, t.plainSQL(t.state.Note)...); err != nil {
				return err
			}
			s.say(t, "a plain sequence again, at %d. Its next %d numbers, to %d, are its own; other databases may draw the numbers after them, too",
				t.state.Next, t.state.Left(), t.state.Last)
			return nil
		})
	})
}

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
	err = with(ctx, o, false, func(s *set) error {
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
				if other.problem() == "" && other.Generator == t.Generator && !t.same(other) && other.state.First <= t.state.Last && t.state.First <= other.state.Last {
					r.Problems = append(r.Problems, fmt.Sprintf("%s and %s both draw %s from %d to %d, as a copy of a database does: run nextid migrate feed up for both",
						other.Database, t.Database, t.Column, max(t.state.First, other.state.First), min(t.state.Last, other.state.Last)))
				}
			}
		}
		return nil
	})
	return r, err
}

// PrintStatus writes block and position of each sequence. It returns an error if
// sequences may collide or end.
func PrintStatus(ctx context.Context, o Options) error {
	r, err := Status(ctx, o)
	if err != nil {
		return err
	}
	table := []string{"database\tcolumn\tgenerator\tfirst\tlast\tnext\tleft\tlasts\tmoved"}
	for _, l := range r.Feeds {
		s := l.State
		lasts, moved := "-", "-"
		if n := s.Lasts(); n < 10_000*24*time.Hour {
			lasts = n.Round(time.Minute).String()
		}
		if !s.Note.Moved.IsZero() {
			moved = s.Note.Moved.Format(time.RFC3339)
		}
		table = append(table, fmt.Sprintf("%s\t%s\t%s\t%d\t%d\t%d\t%d\t%s\t%s", l.Database, l.Column, l.Generator, s.First, s.Last, s.Next, s.Left(), lasts, moved))
	}
	appdb.PrintTable(o.Out, table...)
	appdb.PrintEach(o.Out, "problem", r.Problems)
	if n := len(r.Problems); n > 0 {
		return &Error{What: fmt.Sprintf("%d sequences may collide or end", n), Hint: "See docs/feed.md."}
	}
	fmt.Fprint(o.Out, "each sequence is in a block of its own\n")
	return nil
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
	case s.check() != nil:
		return s.check().Error()
	case !s.FedBy(t.Generator):
		return fmt.Sprintf("its sequence was changed, and is outside of its block %d to %d: run nextid migrate feed up again", n.First, n.Last)
	case s.Next <= t.greatest && t.greatest <= s.Last:
		return fmt.Sprintf("goes on at %d, and its column has %d: ids that were drawn come again. Run nextid migrate feed up again", s.Next, t.greatest)
	case s.Left() < s.size()/8:
		return fmt.Sprintf("has %d of %d numbers left: no feeder moves it", s.Left(), s.size())
	}
	return ""
}
