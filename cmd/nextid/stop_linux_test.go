package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
)

// stubborn lists statements that run for many seconds without a row, by what they
// do. MySQL's dialect has no patterns.
var stubborn = map[string]string{
	"pattern":   "SELECT repeat('a', 1000000) ~ '(a{1,200}){1,4}c'",
	"LIKE":      "SELECT repeat('a', 1000000) LIKE concat('%', repeat('_a', 500), 'b%')",
	"aggregate": "SELECT count(*) FROM generate_series(1, 1000000000)",
	"sort":      "SELECT max(g) FROM (SELECT g FROM generate_series(1, 100000000) g ORDER BY -g) a",
	"join":      "SELECT count(*) FROM generate_series(1, 100000) a JOIN generate_series(1, 100000) b ON a < b",
}

// endsWithin bounds the time until a real server has ended a statement.
// TestEveryStatementCanBeStopped in sqlfuncs checks the promise of 100 ms.
const endsWithin = 2 * time.Second

// TestStatementsEndWhenTheyAreStopped stops statements of both protocols in all
// ways.
func TestStatementsEndWhenTheyAreStopped(t *testing.T) {
	s := startServer(t, nil, "--mysql", "127.0.0.1:0")
	const after = 300 * time.Millisecond
	// until calls stop again and again while run goes on: a request that comes
	// before the statement has begun stops nothing.
	until := func(run func() error, stop func()) error {
		ended := make(chan struct{})
		var work sync.WaitGroup
		work.Go(func() {
			for {
				select {
				case <-ended:
					return
				case <-time.After(after):
					stop()
				}
			}
		})
		err := run()
		close(ended)
		work.Wait() // else the last request could stop the next statement
		return err
	}
	check := func(t *testing.T, how string, start time.Time, err error) {
		t.Helper()
		var e *pgconn.PgError
		var m *mysql.MySQLError
		took := time.Since(start)
		if errors.As(err, &e) && e.Code != "57014" && e.Code != "53200" || errors.As(err, &m) && m.Number != 1317 && m.Number != 1969 && m.Number != 1041 || err == nil || took > after+endsWithin {
			t.Errorf("%s: %v after %v", how, err, took)
		}
	}
	for name, sql := range stubborn {
		t.Run(name, func(t *testing.T) {
			conn := s.connect()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			start := time.Now()
			err := until(func() error { _, err := conn.Exec(ctx, sql); return err }, func() { _ = conn.PgConn().CancelRequest(ctx) })
			check(t, "cancel request", start, err)
			if _, err := conn.Exec(ctx, "SET statement_timeout = 300"); err != nil {
				t.Fatal(err)
			}
			start = time.Now()
			_, err = conn.Exec(ctx, sql)
			check(t, "statement_timeout", start, err)

			if name == "pattern" {
				return
			}
			victim, _ := s.connectMySQL(t)
			killer, _ := s.connectMySQL(t)
			var id int64
			if err := victim.QueryRowContext(ctx, "SELECT connection_id()").Scan(&id); err != nil {
				t.Fatal(err)
			}
			start = time.Now()
			err = until(func() error { _, err := victim.ExecContext(ctx, sql); return err }, func() { _, _ = killer.ExecContext(ctx, fmt.Sprintf("KILL QUERY %d", id)) })
			check(t, "KILL QUERY", start, err)
			if _, err := victim.ExecContext(ctx, "SET max_statement_time = 0.3"); err != nil {
				t.Fatal(err)
			}
			start = time.Now()
			_, err = victim.ExecContext(ctx, sql)
			check(t, "max_statement_time", start, err)
		})
	}
}

// TestDrainTimeoutHoldsWhateverRuns ends a server while stubborn statements of each
// kind run in both protocols.
func TestDrainTimeoutHoldsWhateverRuns(t *testing.T) {
	const drain = 500 * time.Millisecond
	s := startServer(t, []string{"NEXTID_DRAIN_TIMEOUT=" + drain.String()}, "--mysql", "127.0.0.1:0")
	ctx := t.Context()
	for name, sql := range stubborn {
		conn := s.connect()
		go func() { _, _ = conn.Exec(ctx, sql) }() // ends with the server
		if name != "pattern" {
			conn, _ := s.connectMySQL(t)
			go func() { _, _ = conn.ExecContext(ctx, sql) }()
		}
	}
	time.Sleep(300 * time.Millisecond) // time for them to begin
	start := time.Now()
	s.signal(syscall.SIGTERM)
	s.wait()
	if took := time.Since(start); took > drain+endsWithin {
		t.Errorf("the server ended after %v", took)
	} else {
		t.Logf("the server ended after %v", took)
	}
}
