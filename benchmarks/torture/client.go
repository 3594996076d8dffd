package torture

import (
	"bufio"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	driver "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"nextid/generator"
	"nextid/generator/history"
)

// patience bounds how long a client waits for an answer before it connects to
// another server.
const patience = 6 * time.Second

// ledger logs every id that a client got to a file, and counts answers and errors.
type ledger struct {
	began time.Time

	mu        sync.Mutex
	file      *os.File
	out       *bufio.Writer
	err       error
	clients   int // connections so far
	ids       int64
	last      time.Time     // of the latest answer
	gap       time.Duration // longest time without an answer
	gapAt     time.Time     // begin of gap
	protocols map[protocol]int
	refusals  map[string]int64 // errors by SQLSTATE, MySQL's number, or a text
}

func newLedger(path string) (*ledger, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return &ledger{
		file: file, out: bufio.NewWriterSize(file, 1<<20), protocols: map[protocol]int{}, refusals: map[string]int64{},
	}, nil
}

// begin starts the clock of the ledger, when the clients start.
func (l *ledger) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.began = time.Now()
	l.last = l.began
}

// connection returns the number of a new connection.
func (l *ledger) connection(p protocol) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clients++
	l.protocols[p]++
	return l.clients
}

// got logs the ids that a connection got in one answer.
func (l *ledger) got(connection int, name string, ids []int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.tick(now)
	if now.After(l.last) {
		l.last = now
	}
	l.ids += int64(len(ids))
	for _, id := range ids {
		if _, err := fmt.Fprintf(l.out, "%d\t%s\t%d\n", connection, name, id); err != nil {
			l.err = err
		}
	}
}

// tick updates the longest time without an answer.
func (l *ledger) tick(now time.Time) {
	if gap := now.Sub(l.last); gap > l.gap {
		l.gap, l.gapAt = gap, l.last
	}
}

// refused counts an error that a client got instead of ids.
func (l *ledger) refused(err error) {
	what := "connection lost"
	state, told := code(err)
	switch {
	case told:
		what = state
	case errors.Is(err, context.DeadlineExceeded):
		what = "no answer within " + patience.String()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refusals[what]++
}

// count returns the number of ids.
func (l *ledger) count() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ids
}

// end stops the clock of the ledger. The clients stop after that.
func (l *ledger) end() (took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.tick(now)
	l.last = now.Add(time.Hour) // later answers are logged, but no gap is measured
	return now.Sub(l.began)
}

// close closes the file, after all clients have stopped.
func (l *ledger) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.err, l.out.Flush(), l.file.Close())
}

// check reads a log and checks it: no id twice, and the ids of each connection in
// order.
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

// draw is one client: it draws until ctx ends. When its connection fails, or after
// up to lives, it connects again: to the next server, and after all servers with the
// next protocol.
func (p *place) draw(ctx context.Context, client int) {
	for at := client; ctx.Err() == nil; at++ {
		n := p.nodes[at%len(p.nodes)]
		if err := n.connection(ctx, client, protocols[at/len(p.nodes)%len(protocols)]); err != nil && ctx.Err() == nil {
			p.run.ledger.refused(err)
		}
		rest(ctx, time.Duration(rand.IntN(100))*time.Millisecond)
	}
}

// lives bounds how long a connection is used.
const lives = 20 * time.Second

// connection draws on one connection, until an error or its end.
func (n *node) connection(ctx context.Context, client int, over protocol) error {
	conn, err := n.dial(ctx, over)
	if err != nil {
		return err
	}
	defer conn.close()
	p, l := n.place, n.place.run.ledger
	number := l.connection(over)
	// Each connection has one name, so that draws that wait for the store do not
	// delay other names.
	names := p.names
	if client%4 == 3 {
		names, client = p.strict, client/4
	}
	name := names[client%len(names)]
	end := time.Now().Add(lives/2 + rand.N(lives/2))
	for i := number; ctx.Err() == nil && time.Now().Before(end); i++ {
		count := 1
		if i%7 == 0 {
			count = 20
		}
		ids, err := conn.ask(ctx, name, count)
		if len(ids) > 0 { // rows that came before an error were acknowledged, too
			l.got(number, name, ids)
		}
		if err != nil && ctx.Err() == nil {
			if !passing(err) {
				return err
			}
			l.refused(err)
			rest(ctx, 50*time.Millisecond)
		}
		rest(ctx, p.run.cfg.Pause)
	}
	return nil
}

// protocol is a way to draw.
type protocol string

const (
	postgres      protocol = "PostgreSQL"
	mysql         protocol = "MySQL"
	mysqlPrepared protocol = "MySQL, prepared"
	web           protocol = "HTTP"
)

// protocols lists the protocols of clients, in the order of draw.
var protocols = []protocol{postgres, mysql, postgres, mysqlPrepared}

// client is a connection that draws.
type client struct {
	db           *sql.DB
	conn         *sql.Conn // never replaced, so that the ids of a client are of one session
	one, several string    // the queries for one id, and for a number of them
}

// dial connects to the server.
func (n *node) dial(ctx context.Context, over protocol) (*client, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c := &client{one: "SELECT next_id($1)", several: "SELECT next_ids($1, $2)"}
	if over == postgres {
		cfg, err := pgx.ParseConfig(n.url())
		if err != nil {
			return nil, err
		}
		c.db = stdlib.OpenDB(*cfg)
	} else {
		c.one, c.several = "SELECT next_id(?)", "SELECT id FROM id_batch WHERE name = ? AND n = ?"
		cfg := driver.NewConfig()
		cfg.User, cfg.DBName, cfg.Net, cfg.Addr = "torture", "nextid", "unix", n.socket(mysql)
		cfg.InterpolateParams = over == mysql
		cfg.Logger = &driver.NopLogger{}
		connector, err := driver.NewConnector(cfg)
		if err != nil {
			return nil, err
		}
		c.db = sql.OpenDB(connector)
	}
	var err error
	if c.conn, err = c.db.Conn(ctx); err != nil {
		return nil, errors.Join(err, c.db.Close())
	}
	return c, nil
}

func (c *client) close() {
	_ = c.conn.Close() // the server may be down
	_ = c.db.Close()
}

// ask draws ids. After an error it also returns the ids that came before.
func (c *client) ask(ctx context.Context, name string, count int) (ids []int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	query, args := c.one, []any{name}
	if count > 1 {
		query, args = c.several, []any{name, count}
	}
	rows, err := c.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, rows.Close(), rows.Err()) }()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return ids, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// code returns the SQLSTATE or the MySQL number of a server's error.
func code(err error) (string, bool) {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code, true
	}
	if my, ok := errors.AsType[*driver.MySQLError](err); ok {
		return strconv.Itoa(int(my.Number)), true
	}
	return "", false
}

// passing reports whether a connection can be used after an error: the server sent
// it, and does not shut down or refuse connections.
func passing(err error) bool {
	told, ok := code(err)
	return ok && !slices.Contains([]string{"57P03", "57P01", "1053"}, told)
}

// rest waits for d or the end of ctx.
func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
