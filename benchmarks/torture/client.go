package torture

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"nextid/generator"
	"nextid/generator/history"
)

// patience is how long a client waits for an answer before it goes elsewhere.
const patience = 6 * time.Second

// ledger is the log of every id that a client got, on disk.
type ledger struct {
	began time.Time

	mu       sync.Mutex
	file     *os.File
	out      *bufio.Writer
	err      error
	clients  int // connections so far
	ids      int64
	last     time.Time     // of an answer
	gap      time.Duration // longest time without one
	gapAt    time.Time
	perNode  []int64
	refusals map[string]int64 // by SQLSTATE, or what else happened
}

func newLedger(path string, nodes int) (*ledger, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return &ledger{
		file: file, out: bufio.NewWriterSize(file, 1<<20), perNode: make([]int64, nodes), refusals: map[string]int64{},
	}, nil
}

// begin is when the clients start.
func (l *ledger) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.began = time.Now()
	l.last = l.began
}

// connection is the number of a new connection.
func (l *ledger) connection() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clients++
	return l.clients
}

// got writes down what a connection got in one answer.
func (l *ledger) got(connection, node int, name string, ids []int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.tick(now)
	if now.After(l.last) {
		l.last = now
	}
	l.ids += int64(len(ids))
	l.perNode[node] += int64(len(ids))
	for _, id := range ids {
		if _, err := fmt.Fprintf(l.out, "%d\t%s\t%d\n", connection, name, id); err != nil {
			l.err = err
		}
	}
}

// tick looks at how long there was no answer.
func (l *ledger) tick(now time.Time) {
	if gap := now.Sub(l.last); gap > l.gap {
		l.gap, l.gapAt = gap, l.last
	}
}

// refused counts what a client was told instead of ids.
func (l *ledger) refused(err error) {
	what := "connection lost"
	var pg *pgconn.PgError
	switch {
	case errors.As(err, &pg):
		what = pg.Code
	case errors.Is(err, context.DeadlineExceeded):
		what = "no answer within " + patience.String()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refusals[what]++
}

// count is how many ids there are, and how many of them by each node.
func (l *ledger) count() (ids int64, perNode []int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ids, append([]int64(nil), l.perNode...)
}

// end is when the clients are told to stop.
func (l *ledger) end() (took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.tick(now)
	l.last = now.Add(time.Hour) // what comes now has its answer, but its time does not count
	return now.Sub(l.began)
}

// close ends the log. No client draws any more.
func (l *ledger) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.err, l.out.Flush(), l.file.Close())
}

// check reads a log back and judges it.
func check(path string) (ids int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }()
	var log history.Log
	for in := bufio.NewReaderSize(file, 1<<20); ; ids++ {
		line, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return ids, log.Check()
		}
		if err != nil {
			return ids, err
		}
		connection, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		name, number, _ := strings.Cut(rest, "\t")
		client, err1 := strconv.Atoi(connection)
		id, err2 := strconv.ParseInt(number, 10, 64)
		if err := cmp.Or(err1, err2); err != nil {
			return ids, fmt.Errorf("line %d of the log: %w", ids+1, err)
		}
		log.Add(history.Event{Name: name, Client: client, Range: generator.Range{First: id, Step: 1, Count: 1}})
	}
}

// draw is one client: it draws until ctx ends, and connects again, to another
// server, when its connection fails.
func (r *run) draw(ctx context.Context, client int) {
	for at := client; ctx.Err() == nil; at++ {
		node := at % len(r.nodes)
		if err := r.connection(ctx, client, node); err != nil && ctx.Err() == nil {
			r.ledger.refused(err)
		}
		rest(ctx, time.Duration(rand.IntN(100))*time.Millisecond)
	}
}

// thought is the pause of a client between two draws: it is the faults that
// matter here, not the rate.
const thought = 2 * time.Millisecond

// strictClients is how many of the clients draw from the strict generator,
// which waits for the store: one in so many.
const strictClients = 8

// connection draws on one connection until it fails.
func (r *run) connection(ctx context.Context, client, node int) error {
	conn, err := r.nodes[node].connect(ctx)
	if err != nil {
		return err
	}
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(last) // the server may be gone
	}()
	number := r.ledger.connection()
	name := r.names[client%len(r.names)] // only one: who waits for the store must not keep the others waiting
	if client%strictClients == strictClients-1 {
		name = r.strict
	}
	for i := number; ctx.Err() == nil; i++ {
		sql := "SELECT next_id($1)"
		if i%7 == 0 {
			sql = "SELECT next_ids($1, 20)"
		}
		ids, err := ask(ctx, conn, sql, name)
		if len(ids) > 0 { // rows that came before an error were acknowledged, too
			r.ledger.got(number, node, name, ids)
		}
		if err != nil && ctx.Err() == nil {
			if conn.IsClosed() || !passing(err) {
				return err
			}
			r.ledger.refused(err)
			rest(ctx, 50*time.Millisecond)
		}
		rest(ctx, thought)
	}
	return nil
}

// passing reports whether a client may go on with a connection after an
// error: the server said so.
func passing(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code != "57P03" && pg.Code != "57P01"
}

func ask(ctx context.Context, conn *pgx.Conn, sql, name string) (ids []int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	rows, err := conn.Query(ctx, sql, name)
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		var id int64
		if err = rows.Scan(&id); err != nil {
			break
		}
		ids = append(ids, id)
	}
	rows.Close()
	return ids, cmp.Or(err, rows.Err())
}

// rest waits for d or the end of ctx.
func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
