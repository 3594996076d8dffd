package feed

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"nextid/generator"
	"nextid/migrations/appdb"
)

// Sequence is the sequence of a column of an application's database.
type Sequence struct {
	Database string // for messages
	Column   string // as the user wrote it

	engine engine
	db     *sql.DB
	name   string   // quoted, with its schema
	path   []string // MariaDB only: schema and name
	used   string   // SQL expression: the greatest number in the column
	most   int64    // greatest number that the column's type holds
}

// State holds the position and the bounds of a sequence.
type State struct {
	First, Last int64 // bounds: MINVALUE and MAXVALUE
	Next        int64 // the next number
	Increment   int64
	Cycle       bool
	Cache       int64     // numbers that a session, or the server, takes at once
	Most        int64     // greatest number that the types of column and sequence hold
	Note        Note      // of the last move; the zero Note if there was none
	Now         time.Time // the database's clock
}

// Note is the content of the comment on a fed sequence.
type Note struct {
	Generator   string
	First, Last int64 // the block
	Moved       time.Time
	rest        string // the comment before the first move
}

// String returns the comment.
func (n Note) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s%s %d %d %s %s", appdb.FeedNote, n.Generator, n.First, n.Last, n.Moved.UTC().Format(time.RFC3339), n.rest))
}

// readNote parses a comment. Other text than a Note is kept as rest.
func readNote(comment string) Note {
	text, ok := strings.CutPrefix(comment, appdb.FeedNote)
	parts := strings.SplitN(text, " ", 5)
	if !ok || len(parts) < 4 {
		return Note{rest: comment}
	}
	n := Note{Generator: parts[0]}
	var err error
	if _, err = fmt.Sscan(parts[1]+" "+parts[2], &n.First, &n.Last); err == nil {
		n.Moved, err = time.Parse(time.RFC3339, parts[3])
	}
	if err != nil {
		return Note{rest: comment}
	}
	if len(parts) == 5 {
		n.rest = parts[4]
	}
	return n
}

// FedBy reports whether a sequence draws in the block of its note, and the block is
// of that generator. With an increment, each number of the sequence stands for that
// many ids: those up to the next number, or those since the previous one. Both must be
// in the block.
func (s State) FedBy(generator string) bool {
	return s.Note.Generator == generator && s.check() == nil && s.First == s.Note.First+s.Increment-1 && s.Last == s.Note.Last-s.Increment+1
}

// Top returns the greatest id that the sequence has drawn, or draws before it moves.
func (s State) Top(generator string) int64 {
	if s.FedBy(generator) {
		return s.Note.Last
	}
	return max(s.Note.Last, appdb.Plus(s.Next, max(s.Increment, 1)-1))
}

// Left returns the number of values that the sequence can still draw.
func (s State) Left() int64 {
	if s.Next > s.Last || s.Next < s.First {
		return 0
	}
	return (s.Last-s.Next)/s.Increment + 1
}

// size returns the number of values in the block.
func (s State) size() int64 { return (s.Last-s.First)/s.Increment + 1 }

// rate returns the numbers drawn per second since the last move.
func (s State) rate() float64 {
	elapsed := max(s.Now.Sub(s.Note.Moved), time.Second)
	return float64(s.size()-s.Left()) / elapsed.Seconds()
}

// Lasts returns how long the rest of the block lasts at the rate since the last
// move.
func (s State) Lasts() time.Duration {
	lasts := float64(s.Left()) / s.rate() * float64(time.Second) // +Inf if nothing was drawn
	return time.Duration(min(lasts, math.MaxInt64/2))
}

// check returns an error if the sequence cannot be fed.
func (s State) check() error {
	switch {
	case s.Increment < 1:
		return &Error{What: "its sequence goes down", Hint: "Blocks rise. Make it rise: ALTER SEQUENCE … INCREMENT BY 1."}
	case s.Cycle:
		return &Error{What: "its sequence has CYCLE and repeats itself", Hint: "ALTER SEQUENCE … NO CYCLE."}
	case s.Increment > 1<<20:
		return &Error{What: fmt.Sprintf("its sequence has an increment of %d", s.Increment), Hint: "Feed sequences with an increment below a million."}
	}
	return nil
}

// engine implements the queries and statements for one kind of database.
type engine interface {
	// find sets name, path, used and most of the Sequence, given its column.
	find(ctx context.Context, parts []string) error
	// read returns the state of the sequence.
	read(ctx context.Context, q appdb.Querier) (State, error)
	// locked calls f under a lock against other feeders, without which it returns
	// errBusy. Before an error of f is returned, the changes in f are undone, as
	// far as the database can.
	locked(ctx context.Context, f func(appdb.Querier) error) error
	// patience returns the statements that limit the waits of those after them.
	patience(wait time.Duration) []string
	// comment returns the statement that sets the comment of the sequence.
	comment(text string) string
}

// change calls plan with the state of the sequence, under the lock against other
// feeders, and runs the statements that plan returns. It tries again while another
// feeder has the lock, or while the sequence is not free within wait. At last it
// returns errBusy. Unless sent is set, the last statement was certainly not executed.
func (s *Sequence) change(ctx context.Context, wait time.Duration, plan func(State) ([]string, error)) (sent bool, err error) {
	for range attempts {
		err = s.engine.locked(ctx, func(q appdb.Querier) error {
			st, err := s.engine.read(ctx, q)
			if err != nil {
				return err
			}
			statements, err := plan(st)
			if err != nil || statements == nil {
				return err
			}
			last := len(statements) - 1
			if err = appdb.Exec(ctx, q, append(s.engine.patience(wait), statements[:last]...)...); err == nil {
				sent = true
				err = appdb.Exec(ctx, q, statements[last])
			}
			if appdb.LockTimeout(err) {
				sent, err = false, errBusy
			}
			return err
		})
		if !errors.Is(err, errBusy) {
			return sent, err
		}
		if err := (generator.Goroutines{}).Pause(ctx, pause); err != nil {
			return false, err
		}
	}
	return false, err
}

// moveSQL returns the statements of a move. The last one moves the sequence. So the
// sequence has not moved if one of them does not get its lock. If a move ends
// between the two in MariaDB, comment and sequence differ, and the next step moves
// again.
func (s *Sequence) moveSQL(n Note, increment int64) []string {
	return []string{
		s.engine.comment(n.String()),
		fmt.Sprintf("ALTER SEQUENCE %s MINVALUE %d MAXVALUE %d START WITH %[2]d RESTART WITH %[2]d", s.name, n.First+increment-1, n.Last-increment+1),
	}
}

// boundSQL returns the statement that only sets a new MAXVALUE.
func (s *Sequence) boundSQL(last int64) string {
	return fmt.Sprintf("ALTER SEQUENCE %s MAXVALUE %d", s.name, last)
}

// plainSQL returns the statements that remove the bounds, and then the note.
func (s *Sequence) plainSQL(n Note) []string {
	return []string{"ALTER SEQUENCE " + s.name + " MINVALUE 1 NO MAXVALUE START WITH 1", s.engine.comment(n.rest)}
}

// idleLimit is the number of seconds after which a database ends a session that has
// the locks of a move, and sends no statement. Otherwise inserts would wait for a
// feeder that was paused, or cut off from the database. lockLimit is the number of
// seconds after which a read of a sequence that somebody has locked ends.
const (
	idleLimit = 10
	lockLimit = 5
)

// errBusy is returned when the sequence cannot be locked now. A transaction has
// drawn from it, or another feeder has its lock. The sequence was not changed.
var errBusy = errors.New("the sequence is in use")

// Find returns the sequence of a column in a database, a MariaDB if mysql is set, else a
// PostgreSQL. database names it in messages.
func Find(ctx context.Context, db *sql.DB, mysql bool, database, column string) (*Sequence, error) {
	s := &Sequence{Database: database, Column: column, db: db}
	if s.engine = (postgres{s}); mysql {
		s.engine = mariadb{s}
	}
	parts, exact, ok := appdb.SplitName(column)
	if mysql { // PostgreSQL converts unquoted names to lower case
		parts = exact
	}
	var err error = &Error{What: "not a column: " + column, Hint: `Write TABLE.COLUMN, SCHEMA.TABLE.COLUMN or the name of a sequence; names with capitals as "Orders".id.`}
	if ok && len(parts) <= 3 {
		err = s.engine.find(ctx, parts)
	}
	return s, hints.At(database+": "+column, err)
}

// Read returns the state of the sequence.
func (s *Sequence) Read(ctx context.Context) (State, error) {
	bounded, cancel := context.WithTimeout(ctx, lockLimit*time.Second)
	defer cancel()
	st, err := s.engine.read(bounded, s.db)
	if bounded.Err() != nil && ctx.Err() == nil {
		err = &Error{What: "its sequence is locked, or the database does not answer", Err: err}
	}
	return st, hints.Explain(err)
}
