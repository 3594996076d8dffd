package server

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"nextid/generator"
	"nextid/generator/ticket"
	"nextid/migrations/appdb"
	"nextid/migrations/feed"
)

const (
	// feedEvery is the interval at which a server reads the sequences that it feeds.
	// feedFirst is the pause after the first round, which moves none: by then the
	// blocks in the other databases are known, too. feedList is the interval at which
	// it reads the list of sequences from the store.
	feedEvery = 10 * time.Second
	feedFirst = time.Second
	feedList  = time.Minute
	// feedTimeout bounds the work on one sequence in a round.
	feedTimeout = 30 * time.Second
	// feedLogEvery is the interval at which the same error of a sequence is logged
	// again.
	feedLogEvery = time.Hour
)

// feeder moves the sequences of applications' databases from block to block, as the
// option feeds of the generators says. Every server on a store runs a feeder. A
// lock in each database admits one server to a sequence at a time.
type feeder struct {
	registry  *generator.Registry
	passwords ticket.Passwords
	log       *slog.Logger
	asked     chan struct{} // has an entry after a read of nextid.feeds: the list may have changed

	mu   sync.Mutex
	seen map[feedKey]*generator.Feed // the state of each sequence
	ends map[string]int64            // by generator: the greatest end of a block
}

type feedKey struct{ name, url, column string }

// feedColumns holds the sequences to feed of one database.
type feedColumns map[feedKey]generator.FeedOption

func newFeeder(r *generator.Registry, p ticket.Passwords, log *slog.Logger) *feeder {
	return &feeder{registry: r, passwords: p, log: log, seen: map[feedKey]*generator.Feed{}, ends: map[string]int64{}, asked: make(chan struct{}, 1)}
}

// run keeps a goroutine for each database until ctx ends. It starts a new one when
// the sequences of a database have changed.
func (f *feeder) run(ctx context.Context) {
	var work sync.WaitGroup
	defer work.Wait()
	fed, stops := map[string]feedColumns{}, map[string]context.CancelFunc{} // by URL
	for {
		if wanted, err := f.wanted(ctx); err == nil { // else keep the list
			for url, columns := range fed {
				if !maps.Equal(columns, wanted[url]) {
					stops[url]()
					delete(fed, url)
				}
			}
			f.remember(wanted)
			for url, columns := range wanted {
				if fed[url] == nil {
					own, stop := context.WithCancel(ctx)
					fed[url], stops[url] = columns, stop
					work.Go(func() { f.serve(own, url, columns) })
				}
			}
		}
		select {
		case <-time.After(feedList):
		case <-f.asked:
		case <-ctx.Done():
			return
		}
	}
}

// wanted reads from the store the sequences to feed, by the URL of their database.
func (f *feeder) wanted(ctx context.Context) (map[string]feedColumns, error) {
	definitions, err := f.registry.Definitions(ctx)
	wanted := map[string]feedColumns{}
	for _, d := range definitions {
		var o struct {
			Feeds map[string]generator.FeedOption
		}
		if !strings.Contains(string(d.Options), `"feeds"`) || json.Unmarshal(d.Options, &o) != nil {
			continue
		}
		for key, option := range o.Feeds {
			url, column := feed.ParseKey(key)
			if wanted[url] == nil {
				wanted[url] = feedColumns{}
			}
			wanted[url][feedKey{d.Name, url, column}] = option
		}
	}
	return wanted, err
}

// remember keeps a state for each of the wanted sequences, and of no others.
func (f *feeder) remember(wanted map[string]feedColumns) {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.seen, func(k feedKey, _ *generator.Feed) bool { _, there := wanted[k.url][k]; return !there })
	for url, columns := range wanted {
		for k := range columns {
			if f.seen[k] == nil {
				l, _ := ticket.ParseLocation(url)
				f.seen[k] = &generator.Feed{Name: k.name, Database: l.Place(), Column: k.column}
			}
		}
	}
}

// serve feeds the sequences of one database until ctx ends. An error of one sequence
// does not stop the others. Each round looks for the sequences: a column can have got
// another one.
func (f *feeder) serve(ctx context.Context, url string, columns feedColumns) {
	feeds := map[feedKey]*feed.Feed{}
	for k, o := range columns {
		feeds[k] = &feed.Feed{Generator: k.name, Ahead: time.Duration(o.Ahead), Block: o.Block, Draw: f.draw, Registered: func(ctx context.Context) (bool, error) {
			wanted, err := f.wanted(ctx) // the list of run can be a minute old
			_, is := wanted[url][k]
			return is, err
		}}
	}
	for wait := feedFirst; ; wait = feedEvery {
		f.round(ctx, url, feeds, wait == feedFirst)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}

// round reads the sequences of one database, and moves those that are due unless reads
// is set. It connects anew: the name of the host may have moved to another server.
func (f *feeder) round(ctx context.Context, url string, feeds map[feedKey]*feed.Feed, reads bool) {
	var db *sql.DB
	l, unreached := ticket.ParseLocation(url)
	if unreached == nil {
		db, unreached = l.OpenSQL(f.passwords, map[string]string{"sql_mode": appdb.BackslashEscapes})
	}
	if unreached == nil {
		defer db.Close() // nothing is lost
		bounded, cancel := context.WithTimeout(ctx, feedTimeout)
		defer cancel()
		unreached = db.PingContext(bounded)
	}
	for k, one := range feeds {
		var s feed.State
		moved, err := false, unreached
		bounded, cancel := context.WithTimeout(ctx, feedTimeout)
		if err == nil {
			one.Sequence, err = feed.Find(bounded, db, l.System == ticket.MySQL, l.Place(), k.column)
		}
		if err == nil && reads {
			s, err = one.Read(bounded)
		} else if err == nil {
			s, moved, err = one.Step(bounded, false)
		}
		cancel()
		f.note(ctx, k, s, moved, err)
	}
}

// draw implements feed.Draw. The block is also above those of the other sequences: a
// store that was restored from a backup may not know them.
func (f *feeder) draw(ctx context.Context, name string, above, n int64) (int64, error) {
	e, err := f.registry.Existing(ctx, name)
	if err != nil {
		return 0, err
	}
	f.mu.Lock()
	above = max(above, f.ends[name])
	f.mu.Unlock()
	r, err := e.NextBlock(ctx, above, n)
	return r.First, err
}

// note records the result of one round for a sequence, and logs moves and errors.
func (f *feeder) note(ctx context.Context, k feedKey, s feed.State, moved bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one := f.seen[k]
	if one == nil || ctx.Err() != nil {
		return
	}
	now := time.Now()
	if s.Last != 0 {
		if s.FedBy(k.name) {
			f.ends[k.name] = max(f.ends[k.name], s.Top(k.name))
		}
		one.First, one.Last, one.Next, one.Left, one.Lasts, one.Moved, one.Looked = s.First, s.Last, s.Next, s.Left(), s.Lasts(), s.Note.Moved, now
	}
	if moved {
		one.Moves++
		f.log.Info("a sequence was moved to its next block", "generator", k.name, "database", one.Database, "column", k.column, "first", s.First, "last", s.Last)
	}
	if err == nil {
		one.Error = ""
		return
	}
	one.Failures++
	text := OneLine(err.Error())
	if one.Error != text || now.Sub(one.ErrorAt) > feedLogEvery {
		f.log.Warn("a sequence cannot be fed", "generator", k.name, "database", one.Database, "column", k.column, "error", text, "hint", HintOf(err))
		one.ErrorAt = now
	}
	one.Error = text
}

// answer returns the list for nextid.feeds. It also makes run read the wanted
// sequences again. Otherwise nextid migrate feed up would wait for feedList.
func (f *feeder) answer() []generator.Feed {
	select {
	case f.asked <- struct{}{}:
	default:
	}
	return f.feeds()
}

// feeds returns the sequences of this server, in order.
func (f *feeder) feeds() []generator.Feed {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []generator.Feed
	for _, one := range f.seen {
		all = append(all, *one)
	}
	slices.SortFunc(all, func(a, b generator.Feed) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Database, b.Database), cmp.Compare(a.Column, b.Column))
	})
	return all
}
