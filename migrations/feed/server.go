package feed

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"nextid/generator"
	"nextid/migrations/appdb"
)

// Server is the nextid server whose generators blocks are drawn from. It is reached
// over PostgreSQL's protocol.
type Server struct{ db *sql.DB }

// OpenServer returns a Server. It connects at the first query.
func OpenServer(url string) (*Server, error) {
	if mysql, err := appdb.IsMySQL(url); mysql || err != nil {
		return nil, &Error{What: "--server is not a postgres:// URL", Hint: "Write --server postgres://USER@HOST:5433/nextid."}
	}
	db, err := appdb.OpenPostgres(url)
	if err != nil {
		return nil, err
	}
	return &Server{db}, nil
}

// Close closes the connections.
func (s *Server) Close() error { return s.db.Close() }

// Draw implements Draw. Only after the store has lost numbers, or a sequence was
// changed, is the first block not above.
func (s *Server) Draw(ctx context.Context, name string, above, n int64) (first int64, err error) {
	for range 2 {
		err = s.db.QueryRowContext(ctx, "SELECT nextid.next_block($1, $2)", name, n).Scan(&first)
		if appdb.Says(err, pgUndefinedTable) {
			err = &Error{What: "it has no generator " + name, Hint: "Run nextid migrate feed up.", Err: err}
		}
		if err != nil || first > above {
			break
		}
		if err := s.above(ctx, name, above); err != nil {
			return 0, err
		}
	}
	return first, ofServer(err)
}

// ofServer explains an error of the server, and names the server.
func ofServer(err error) error { return hints.At("the nextid server", err) }

// options holds the options of a generator that feeds need.
type options struct {
	Start, Increment int64
	Feeds            map[string]generator.FeedOption
	Scatter          json.RawMessage
}

// find reads a generator. there is false if the generator does not exist. It returns
// an error if sequences cannot be fed from the generator.
func (s *Server) find(ctx context.Context, name string) (g options, there bool, err error) {
	var kind, text string
	err = s.db.QueryRowContext(ctx, "SELECT kind, options FROM nextid.generators WHERE name = $1", name).Scan(&kind, &text)
	if errors.Is(err, sql.ErrNoRows) {
		return g, false, nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), &g)
	}
	is := ""
	switch {
	case err != nil:
	case kind != "segment":
		is = "is of kind " + kind
	case g.Increment != 1:
		is = fmt.Sprintf("counts in steps of %d", g.Increment)
	case g.Scatter != nil:
		is = "scatters its numbers"
	}
	if is != "" {
		err = &Error{
			What: fmt.Sprintf("the generator %s %s", name, is),
			Hint: "Sequences are fed from segment generators with increment 1. Give another --name: up creates it.",
		}
	}
	return g, true, ofServer(err)
}

const (
	pgIsBeyond       = "55000" // of a setval to a lower number
	pgUndefinedTable = "42P01" // of an unknown generator
)

// above moves the generator to numbers greater than last. It creates a missing
// generator.
func (s *Server) above(ctx context.Context, name string, last int64) error {
	_, there, err := s.find(ctx, name)
	if err != nil {
		return err
	}
	if there {
		if _, err = s.db.ExecContext(ctx, "SELECT setval($1, $2)", name, last); appdb.Says(err, pgIsBeyond) {
			err = nil
		}
	} else {
		_, err = s.db.ExecContext(ctx, "SELECT create_generator($1, 'segment', $2)", name, fmt.Sprintf(`{"start": %d}`, last+1))
	}
	return ofServer(err)
}

// ParseKey splits the key of a column in the option feeds: the URL of its database
// without the password, a space, and the column.
func ParseKey(key string) (url, column string) {
	url, column, _ = strings.Cut(key, " ")
	return url, column
}

// feederSays returns the state of a target in nextid.feeds: "ok", or the feeder's
// last error, or "" before its first read.
func (s *Server) feederSays(ctx context.Context, t *target) (says string, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT coalesce(max(coalesce(last_error, 'ok')), '') FROM nextid.feeds WHERE name = $1 AND database = $2 AND column_name = $3
		AND (looked_at IS NOT NULL OR last_error IS NOT NULL)`, t.Generator, t.Database, t.Column).Scan(&says)
	return says, ofServer(err)
}

// feederPatience bounds how long up waits for the servers' feeders.
const feederPatience = 20 * time.Second
