package feed

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Sequence is the sequence of a column of an application's database.
type Sequence struct {
	Database string // for messages
	Column   string // as the user wrote it

	engine engine
	name   string // quoted, with its schema
	used   string // SQL expression: the greatest number in the column
	most   string // greatest number that the column's type holds
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
	First, Last int64
	Moved       time.Time
	rest        string // the comment before the first move
}

const notePrefix = "nextid feed "

// String returns the comment.
func (n Note) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s%s %d %d %s %s", notePrefix, n.Generator, n.First, n.Last, n.Moved.UTC().Format(time.RFC3339), n.rest))
}

// readNote parses a comment. Other text than a Note is kept as rest.
func readNote(comment string) Note {
	text, ok := strings.CutPrefix(comment, notePrefix)
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

// FedBy reports whether a sequence is in the block of its note, and the block is of
// that generator.
func (s State) FedBy(generator string) bool {
	return s.Note.Generator == generator && s.Note.First == s.First && s.Note.Last == s.Last && !s.Cycle
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
	// find sets the unexported fields of the Sequence, given its column.
	find(ctx context.Context, s *Sequence, parts []string) error
	// read returns the state of a sequence. q is nil for the pool.
	read(ctx context.Context, q querier, s *Sequence) (State, error)
	// move locks the sequence against other feeders, calls change with its state,
	// and moves it to the block that change returns; the zero block does not move.
	// If another feeder has the lock, or the wait for the sequence exceeds wait, it
	// returns errBusy.
	move(ctx context.Context, s *Sequence, wait time.Duration, change func(State) (block, error)) error
	// bound returns the statement that only sets a new MAXVALUE.
	bound(s *Sequence, last int64) string
	// plain returns the statements that remove the bounds and the note.
	plain(s *Sequence, n Note) []string
	// blockSQL returns the statements of a move.
	blockSQL(s *Sequence, b block) []string
	// greatest reads the greatest number in the column.
	greatest(ctx context.Context, s *Sequence, n *int64) error
	// exec runs statements. It returns errBusy if one waits longer than wait.
	exec(ctx context.Context, wait time.Duration, statements []string) error
	close() error
}

// querier is implemented by *sql.DB, *sql.Conn and *sql.Tx.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// errBusy is returned when the sequence cannot be locked now. A transaction has
// drawn from it, or another feeder has its lock. The sequence was not changed.
var errBusy = errors.New("the sequence is in use")

// Open finds the sequences of columns in a database, a MariaDB if mysql is set, else
// a PostgreSQL. The Database owns db; after an error, db is closed.
func Open(ctx context.Context, db *sql.DB, mysql bool, database string, columns []string) (*Database, error) {
	d := &Database{Name: database, engine: &postgres{db}}
	if mysql {
		d.engine = &mariadb{db}
	}
	for _, column := range columns {
		s := &Sequence{Database: database, Column: column, engine: d.engine}
		parts, err := identifiers(column, !mysql)
		if err == nil {
			err = d.engine.find(ctx, s, parts)
		}
		if err != nil {
			return nil, errors.Join(hints.At(database+": "+column, err), d.Close())
		}
		d.Sequences = append(d.Sequences, s)
	}
	return d, nil
}

// Database is an application's database with the sequences to feed.
type Database struct {
	Name      string
	Sequences []*Sequence
	engine    engine
}

// Close closes the connections.
func (d *Database) Close() error { return d.engine.close() }

// Read returns the state of the sequence.
func (s *Sequence) Read(ctx context.Context) (State, error) {
	st, err := s.engine.read(ctx, nil, s)
	return st, hints.Explain(err)
}

// identifiers splits a column's name at its dots. Parts may be quoted with " or `.
// With fold, other parts are converted to lower case, as PostgreSQL does.
func identifiers(text string, fold bool) (parts []string, err error) {
	bad := &Error{What: "not a column: " + text, Hint: `Write TABLE.COLUMN, SCHEMA.TABLE.COLUMN or the name of a sequence; names with capitals as "Orders".id.`}
	for rest := text; ; {
		part := ""
		if rest != "" && strings.ContainsRune("\"`", rune(rest[0])) {
			end := strings.IndexByte(rest[1:], rest[0])
			if end < 0 {
				return nil, bad
			}
			part, rest = rest[1:1+end], rest[end+2:]
		} else {
			end := strings.IndexByte(rest, '.')
			if end < 0 {
				end = len(rest)
			}
			if part, rest = rest[:end], rest[end:]; fold {
				part = strings.ToLower(part)
			}
		}
		if parts = append(parts, part); part == "" || len(parts) > 3 {
			return nil, bad
		}
		if rest == "" {
			return parts, nil
		}
		if rest[0] != '.' {
			return nil, bad
		}
		rest = rest[1:]
	}
}

// quoted returns a qualified, quoted name for PostgreSQL.
func quoted(parts ...string) string { return pgx.Identifier(parts).Sanitize() }
