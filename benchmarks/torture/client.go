package torture

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"time"

	"nextid/benchmarks/load"
	"nextid/generator"
	"nextid/generator/history"
	"nextid/migrations/appdb"
)

// patience bounds how long a client waits for an answer before it connects to
// another server.
const patience = 6 * time.Second

// ledger logs every id that a client got, in memory and to a file. It counts answers
// and errors.
type ledger struct {
	began   time.Time
	history history.Log

	mu        sync.Mutex
	file      *os.File
	out       *bufio.Writer // keeps an error for Flush
	clients   int           // connections so far
	ids       int
	last      time.Time      // of the latest answer
	gap       time.Duration  // longest time without an answer
	gapAt     time.Time      // begin of gap
	protocols map[string]int // connections
	refusals  map[string]int // errors by SQLSTATE, MySQL's number, or a text
}

// newLedger starts the clock of a ledger. Without a path its file has a new name.
func newLedger(path string) (*ledger, error) {
	file, err := os.Create(path)
	if path == "" {
		file, err = os.CreateTemp(".", "torture-ids-*.log")
	}
	now := time.Now()
	return &ledger{file: file, out: bufio.NewWriter(file), protocols: map[string]int{}, refusals: map[string]int{}, began: now, last: now}, err
}

// connection returns the number of a new connection.
func (l *ledger) connection(w way) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clients++
	l.protocols[w.name]++
	return l.clients
}

// got logs the ids that a connection got in one answer.
func (l *ledger) got(connection int, name string, ids []load.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(ids) > 0 {
		l.tick(time.Now())
	}
	for _, id := range ids {
		l.history.Add(history.Event{Name: name, Client: connection, Range: generator.Range{First: int64(id.Lo), Step: 1, Count: 1}})
		l.ids++
		fmt.Fprintf(l.out, "%d\t%s\t%d\n", connection, name, id.Lo)
	}
}

// tick updates the longest time without an answer. The next one begins at now. The
// caller holds mu.
func (l *ledger) tick(now time.Time) {
	if gap := now.Sub(l.last); gap > l.gap {
		l.gap, l.gapAt = gap, l.last
	}
	if now.After(l.last) {
		l.last = now
	}
}

// refused counts an error that a client got instead of ids.
func (l *ledger) refused(err error) {
	what := cmp.Or(appdb.Code(err), "connection refused or lost")
	if errors.Is(err, context.DeadlineExceeded) {
		what = "no answer within " + patience.String()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refusals[what]++
}

// count returns the number of ids.
func (l *ledger) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ids
}

// end stops the clock of the ledger. The clients stop after that.
func (l *ledger) end() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.tick(now)
	l.last = now.Add(time.Hour) // later answers are logged, but no gap is measured
	return now.Sub(l.began)
}

// way is a way to draw.
type way struct {
	name            string
	mysql, prepared bool
}

// ways lists the ways of clients, in the order of draw.
var ways = []way{{"PostgreSQL", false, false}, {"MySQL", true, false}, {"PostgreSQL, prepared", false, true}, {"MySQL, prepared", true, true}}

// draw is one client: it draws until ctx ends. When its connection fails, or after
// up to lives, it connects again: to the next server, and after all servers in the
// next way.
func (p *place) draw(ctx context.Context, client int) {
	for at := client; ctx.Err() == nil; at++ {
		n := p.nodes[at%len(p.nodes)]
		if err := n.connection(ctx, client, ways[at/len(p.nodes)%len(ways)]); err != nil && ctx.Err() == nil {
			p.run.ledger.refused(err)
		}
		load.Rest(ctx, time.Duration(rand.IntN(100))*time.Millisecond)
	}
}

// lives bounds how long a connection is used.
const lives = 20 * time.Second

// connection draws on one connection, until an error or its end.
func (n *node) connection(ctx context.Context, client int, w way) error {
	p, l := n.place, n.place.run.ledger
	// Each connection has one name, so that draws that wait for the store do not
	// delay other names.
	names := p.names
	if client%4 == 3 {
		names, client = p.strict, client/4
	}
	name := names[client%len(names)]
	one, several := "SELECT next_id('"+name+"')", "SELECT next_ids('"+name+"', 20)"
	if w.mysql {
		several = "SELECT id FROM id_batch WHERE name = '" + name + "' AND n = 20"
	}
	link, err := n.dial(ctx, w, one)
	if err != nil {
		return err
	}
	defer link.Close()
	number := l.connection(w)
	ask := func(i int) error {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		var request []byte
		switch {
		case i%7 == 0:
			request = link.Query(nil, several)
		case w.prepared:
			request = link.Execute(nil)
		default:
			request = link.Query(nil, one)
		}
		ids, err := link.Exchange(ctx, request, 1)
		l.got(number, name, ids) // rows that came before an error were acknowledged, too
		return err
	}
	end := time.Now().Add(lives/2 + rand.N(lives/2))
	for i := number; ctx.Err() == nil && time.Now().Before(end); i++ {
		if err := ask(i); err != nil && ctx.Err() == nil {
			if !passing(err) {
				return err
			}
			l.refused(err)
			load.Rest(ctx, 50*time.Millisecond)
		}
		load.Rest(ctx, p.run.cfg.Pause)
	}
	return nil
}

// dial connects to the server, and prepares a statement if w says so.
func (n *node) dial(ctx context.Context, w way, sql string) (*load.Link, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	url := n.URL
	if w.mysql {
		url = n.MySQL
	}
	link, err := load.Dial(ctx, url)
	if err != nil {
		return nil, err
	}
	if w.prepared {
		if err := link.Prepare(ctx, sql); err != nil {
			link.Close()
			return nil, err
		}
	}
	return link, nil
}

// passing reports whether a connection can be used after an error: the server sent
// it, and does not shut down or refuse connections.
func passing(err error) bool {
	return appdb.Code(err) != "" && !slices.Contains([]string{"57P03", "57P01", "1053"}, appdb.Code(err))
}
