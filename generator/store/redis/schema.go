package redis

import (
	"context"
	"fmt"

	"github.com/gomodule/redigo/redis"
)

// Schema prepares a database for use as a store: it holds a marker, without
// which servers refuse the database.
type Schema struct{ e *Engine }

// OpenSchema returns the Schema of a database.
func OpenSchema(cfg Config) (*Schema, error) {
	e, err := Open(cfg)
	if err != nil {
		return nil, err
	}
	e.unchecked = true
	return &Schema{e}, nil
}

// Up makes the marker. What is there already stays.
func (s *Schema) Up(ctx context.Context) error {
	return s.e.on(ctx, func(c redis.Conn) error {
		_, err := redis.DoContext(c, ctx, "SET", s.e.marker, format)
		return err
	})
}

// Down removes everything.
func (s *Schema) Down(ctx context.Context) error {
	return s.e.on(ctx, func(c redis.Conn) error {
		_, err := redis.DoContext(c, ctx, "DEL", s.e.marker, s.e.rows, s.e.entries)
		return err
	})
}

// Status tells what is there.
func (s *Schema) Status(ctx context.Context) (text string, complete bool, err error) {
	err = s.e.on(ctx, func(c redis.Conn) error {
		if complete, err = redis.Bool(redis.DoContext(c, ctx, "EXISTS", s.e.marker)); err != nil || !complete {
			text = "not prepared"
			return err
		}
		rows, err := redis.Int(redis.DoContext(c, ctx, "HLEN", s.e.rows))
		if err != nil {
			return err
		}
		names, err := redis.Int(redis.DoContext(c, ctx, "HLEN", s.e.entries))
		text = fmt.Sprintf("prepared; %d generators, %d keys", names, rows)
		return err
	})
	return text, complete, err
}

// Print tells what Up does.
func (s *Schema) Print() (string, error) {
	return fmt.Sprintf("SET %s %s\n", s.e.marker, format), nil
}

// Close gives up the connections.
func (s *Schema) Close() error { return s.e.Close() }
