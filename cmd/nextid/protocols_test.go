package main

import (
	"context"
	"database/sql"
	"sync"
	"testing"

	"nextid/generator"
	"nextid/generator/history"
)

// TestSixtyFourConnectionsOverBothProtocols draws from one generator over both
// protocols at once. No id is repeated, and ids grow on every connection.
func TestSixtyFourConnectionsOverBothProtocols(t *testing.T) {
	t.Parallel()
	const connections, rounds, run = 64, 60, 50
	s := startServer(t, nil, "--mysql", "127.0.0.1:0")
	db, err := sql.Open("mysql", "anybody@tcp("+s.mysql+")/nextid")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var log history.Log
	var done sync.WaitGroup
	for client := range connections {
		draw := s.overPostgreSQL()
		if client%2 == 1 {
			draw = overMySQL(t, db, client)
		}
		done.Go(func() {
			last := int64(0)
			for round := range rounds {
				ids, err := draw(t.Context(), round%2*(run-1)+1)
				if err != nil {
					t.Error(err)
					return
				}
				for _, id := range ids {
					if id <= last {
						t.Errorf("connection %d got %d after %d", client, id, last)
						return
					}
					last = id
					log.Add(history.Event{Name: "orders", Client: client, Range: generator.Range{First: id, Step: 1, Count: 1}})
				}
			}
		})
	}
	done.Wait()
	if err := log.Check(); err != nil {
		t.Error(err)
	}
	if want := int64(connections * rounds / 2 * (1 + run)); log.Len() != want {
		t.Errorf("%d ids were drawn, want %d", log.Len(), want)
	}
}

// drawing asks one connection for n ids.
type drawing func(ctx context.Context, n int) ([]int64, error)

// overPostgreSQL draws in text, and prepared with a binary result.
func (s *process) overPostgreSQL() drawing {
	conn := s.connect()
	return func(ctx context.Context, n int) (ids []int64, err error) {
		if n == 1 {
			id, err := drawOnce(ctx, conn, "orders")
			return []int64{id}, err
		}
		rows, err := conn.Query(ctx, "SELECT * FROM next_ids('orders', $1)", n)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		for rows.Next() {
			var id int64
			if err := rows.Scan(&id); err != nil {
				return nil, err
			}
			ids = append(ids, id)
		}
		return ids, rows.Err()
	}
}

// overMySQL draws on one connection. Some clients prepare their statement.
func overMySQL(t *testing.T, db *sql.DB, client int) drawing {
	t.Helper()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // the server may have closed it
	return func(ctx context.Context, n int) (ids []int64, err error) {
		query, args := "SELECT next_id('orders')", []any{}
		switch {
		case n > 1:
			query, args = "SELECT * FROM next_ids('orders', ?)", []any{n}
		case client%4 == 1:
			query, args = "SELECT next_id(?)", []any{"orders"}
		}
		rows, err := conn.QueryContext(ctx, query, args...)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		for rows.Next() {
			var id int64
			if err := rows.Scan(&id); err != nil {
				return nil, err
			}
			ids = append(ids, id)
		}
		return ids, rows.Err()
	}
}
