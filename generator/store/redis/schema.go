package redis

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// Schema prepares a database for use as a store. It then has a marker, without
// which servers refuse it.
type Schema struct{ e *Engine }

// OpenSchema returns the Schema of a database.
func OpenSchema(cfg Config) (*Schema, error) {
	e, err := Open(cfg)
	if err != nil {
		return nil, err
	}
	return &Schema{e}, nil
}

// Up creates the marker. It changes no reservation and no definition. A database of
// format 1 gets the index of the keys.
func (s *Schema) Up(ctx context.Context) error {
	return s.e.on(ctx, func(c *redis.Client) error {
		for cursor := uint64(0); ; {
			pairs, next, err := c.HScan(ctx, s.e.rows, cursor, "", listAtOnce).Result()
			if err != nil {
				return err
			}
			var keys []redis.Z
			for i := 0; i < len(pairs); i += 2 {
				keys = append(keys, redis.Z{Member: pairs[i]})
			}
			if len(keys) > 0 {
				if err := c.ZAdd(ctx, s.e.index, keys...).Err(); err != nil {
					return err
				}
			}
			if cursor = next; cursor == 0 {
				return c.Set(ctx, s.e.marker, format, 0).Err()
			}
		}
	})
}

// Down removes all keys of the store.
func (s *Schema) Down(ctx context.Context) error {
	return s.e.on(ctx, func(c *redis.Client) error {
		return c.Del(ctx, s.e.marker, s.e.rows, s.e.index, s.e.entries).Err()
	})
}

// Status reports whether the database is prepared, and counts its keys.
func (s *Schema) Status(ctx context.Context) (text string, complete bool, err error) {
	err = s.e.on(ctx, func(c *redis.Client) error {
		switch said, err := c.Get(ctx, s.e.marker).Result(); {
		case errors.Is(err, redis.Nil):
			text = "not prepared"
			return nil
		case err != nil:
			return err
		case said != format:
			text = "prepared by another version of nextid"
			return nil
		}
		rows, err := c.HLen(ctx, s.e.rows).Result()
		if err != nil {
			return err
		}
		names, err := c.HLen(ctx, s.e.entries).Result()
		text, complete = fmt.Sprintf("prepared; %d generators, %d keys", names, rows), true
		return err
	})
	return text, complete, err
}

// Print returns the command of Up for a new database.
func (s *Schema) Print() (string, error) {
	return fmt.Sprintf("SET %s %s\n", s.e.marker, format), nil
}

// Close closes the connections.
func (s *Schema) Close() error { return s.e.Close() }
