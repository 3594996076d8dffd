package shared

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"nextid/generator"
)

// Failover decides what happens to a name whose row has another epoch than the
// database's present one.
type Failover string

// The values of Failover.
const (
	Stop     Failover = "stop"
	Skip     Failover = "skip"
	Lossless Failover = "lossless"
)

// Config configures a Store. The zero value of every field means its default.
type Config struct {
	Owner     string        // owner of reservations that name none
	Failover  Failover      // "": Stop
	Skip      int64         // numbers to skip after a failover with Skip; 0: DefaultSkip
	Wait      time.Duration // longest time slice of a server plus the greatest skew of clocks; 0: DefaultWait
	HighWater string        // file; "" keeps it in memory only
	Timeout   time.Duration // of one round trip; 0: 5 s
	Lanes     int           // round trips at a time; 0: 4
	Clock     generator.Runtime
	Logger    *slog.Logger
}

// Defaults of Config.
const (
	DefaultSkip = 10_000_000
	// DefaultWait is the 60 s time slice of package worker plus maxSkew.
	DefaultWait = time.Minute + maxSkew
	// maxSkew is the greatest difference of two servers' clocks.
	maxSkew = 10 * time.Second
)

// WaitFor returns the Config.Wait for servers whose time slices have this length; 0
// means the default length.
func WaitFor(slice time.Duration) time.Duration {
	if slice == 0 {
		return DefaultWait
	}
	return slice + maxSkew
}

func (c Config) withDefaults() Config {
	c.Failover = cmp.Or(c.Failover, Stop)
	c.Skip = cmp.Or(c.Skip, DefaultSkip)
	c.Wait = cmp.Or(c.Wait, DefaultWait)
	c.Timeout = cmp.Or(c.Timeout, 5*time.Second)
	c.Lanes = cmp.Or(c.Lanes, 4)
	c.Clock = cmp.Or[generator.Runtime](c.Clock, generator.SystemClock{})
	c.Logger = cmp.Or(c.Logger, slog.Default())
	return c
}

// Store implements generator.Store on an Engine.
type Store struct {
	engine    Engine
	cfg       Config
	rounds    *rounds
	highWater *highWater
	epoch     atomic.Pointer[epoch]
	learn     chan struct{} // a mutex with one token: one goroutine at a time asks for the epoch
	closed    atomic.Bool
	health    health
}

// New returns a Store on engine after the engine has answered. The Store owns the
// engine and closes it, also if New fails.
func New(ctx context.Context, engine Engine, cfg Config) (*Store, error) {
	cfg = cfg.withDefaults()
	w, err := openHighWater(cfg.HighWater)
	if err != nil {
		engine.Close()
		return nil, generator.CausedError(err, generator.ReasonStore, "", "nextid must be able to write its data directory.", "%s cannot be written", cfg.HighWater)
	}
	s := &Store{engine: engine, cfg: cfg, highWater: w, learn: make(chan struct{}, 1)}
	s.learn <- struct{}{}
	s.health.log = cfg.Logger
	s.rounds = newRounds(s)
	if _, err := s.present(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Time implements generator.Timekeeper. Its callers ask every few seconds. So a
// server that reserves nothing notices a failover soon, too: see raise.
func (s *Store) Time(ctx context.Context) (earliest, latest time.Time, err error) {
	name, err := request(ctx, s, func(ctx context.Context) (name string, err error) {
		if earliest, latest, err = s.engine.Time(ctx); err == nil {
			name, _ = s.engine.Epoch(ctx)
		}
		return name, err
	})
	if l := s.epoch.Load(); err == nil && l != nil && name != "" && name != l.name {
		_, _ = s.meet(ctx, l) // the next reservation tries again
	}
	return earliest, latest, err
}

// Exclusive implements generator.Store.
func (s *Store) Exclusive() bool { return false }

// Close implements generator.Store.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	s.rounds.close()
	s.highWater.close()
	return s.engine.Close()
}

// open returns an error if the store is closed. Every call that does not go through
// rounds begins with it.
func (s *Store) open(ctx context.Context) error {
	switch {
	case s.closed.Load():
		return generator.StoreClosedError()
	case ctx.Err() != nil:
		return generator.StoreLateError(ctx)
	}
	return nil
}

// bounded returns ctx with the timeout of one request to the engine.
func (s *Store) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.cfg.Timeout)
}

// request sends one request to the engine, unless the store is closed.
func request[V any](ctx context.Context, s *Store, send func(ctx context.Context) (V, error)) (v V, err error) {
	if err := s.open(ctx); err != nil {
		return v, err
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	return send(ctx)
}

func (s *Store) now() int64 { return s.cfg.Clock.Wall() / int64(time.Millisecond) }

// Mark implements generator.Reserver.
func (s *Store) Mark(ctx context.Context, key string) (generator.Mark, bool, error) {
	r, err := s.row(ctx, key)
	if err != nil || r == nil || key == epochKey {
		return generator.Mark{}, false, err
	}
	return r.mark(), true, nil
}

func (s *Store) row(ctx context.Context, key string) (*Row, error) {
	return request(ctx, s, func(ctx context.Context) (*Row, error) { return s.engine.Row(ctx, key) })
}

func (r *Row) mark() generator.Mark {
	return generator.Mark{Key: r.Key, Hi: r.Hi, Owner: r.Owner, Updated: time.UnixMilli(r.Updated)}
}

// Reserved implements generator.Reserver.
func (s *Store) Reserved(ctx context.Context, prefix string) ([]generator.Mark, error) {
	rows, err := request(ctx, s, func(ctx context.Context) ([]Row, error) { return s.engine.Rows(ctx, prefix) })
	marks := make([]generator.Mark, 0, len(rows))
	for _, r := range rows {
		if r.Key != epochKey && strings.HasPrefix(r.Key, prefix) {
			marks = append(marks, r.mark())
		}
	}
	slices.SortFunc(marks, func(a, b generator.Mark) int { return cmp.Compare(a.Key, b.Key) })
	return marks, err
}

// Define implements generator.Definitions. Callers have usually just read the name.
// So it is read again only before begin, and if it turns out to exist.
func (s *Store) Define(ctx context.Context, d generator.Definition) (generator.Definition, bool, error) {
	var was *Entry
	for try := range attempts {
		l, err := s.epochToWrite(ctx, try)
		if err != nil {
			return generator.Definition{}, false, err
		}
		begins := s.mayHaveLost(l)
		if begins || try > 0 {
			was, err = s.entry(ctx, d.Name)
			if err != nil && !errors.Is(err, generator.ErrUnknown) {
				return generator.Definition{}, false, err
			}
			if was != nil && !was.Dropped {
				return was.Definition, false, nil
			}
		}
		e := Entry{Definition: d}
		e.Options = slices.Clone(d.Options)
		e.Version, e.Created = 1, time.UnixMilli(s.now())
		if was != nil {
			e.Version = was.Version + 1
		}
		if begins {
			begun, err := s.begin(ctx, l, d.Name)
			if err != nil {
				return generator.Definition{}, false, err
			}
			if !begun {
				continue
			}
		}
		if written, err := s.put(ctx, l, e, was); err != nil || written {
			return e.Definition, written, err
		}
	}
	return generator.Definition{}, false, generator.ChangedError(d.Name)
}

// entry reads an entry of the catalogue; nil and ErrUnknown for none.
func (s *Store) entry(ctx context.Context, name string) (*Entry, error) {
	e, err := request(ctx, s, func(ctx context.Context) (Entry, error) { return s.engine.Name(ctx, name) })
	if err != nil {
		return nil, err
	}
	return &e, nil
}

// put writes an entry of the catalogue in the epoch l.
func (s *Store) put(ctx context.Context, l *epoch, e Entry, was *Entry) (written bool, err error) {
	return request(ctx, s, func(ctx context.Context) (bool, error) { return s.engine.PutName(ctx, l.name, e, was) })
}

// epochToWrite is present for a change of the catalogue. If the second try has
// written nothing either, the database may have another epoch.
func (s *Store) epochToWrite(ctx context.Context, try int) (*epoch, error) {
	l, err := s.present(ctx)
	if err != nil || try < 2 {
		return l, err
	}
	name, err := request(ctx, s, s.engine.Epoch)
	if err == nil && name != l.name {
		l, err = s.meet(ctx, l)
	}
	return l, err
}

// defined reads an entry that is not dropped.
func (s *Store) defined(ctx context.Context, name string) (*Entry, error) {
	e, err := s.entry(ctx, name)
	if err == nil && e.Dropped {
		return nil, generator.UnknownError(name)
	}
	return e, err
}

// edit writes the entry of an existing name as change makes it.
func (s *Store) edit(ctx context.Context, name string, change func(*Entry) error) (generator.Definition, error) {
	for try := range attempts {
		l, err := s.epochToWrite(ctx, try)
		if err != nil {
			return generator.Definition{}, err
		}
		was, err := s.defined(ctx, name)
		if err != nil {
			return generator.Definition{}, err
		}
		e := *was
		if err := change(&e); err != nil {
			return generator.Definition{}, err
		}
		if written, err := s.put(ctx, l, e, was); err != nil || written {
			return e.Definition, err
		}
	}
	return generator.Definition{}, generator.ChangedError(name)
}

// Redefine implements generator.Definitions.
func (s *Store) Redefine(ctx context.Context, d generator.Definition) (generator.Definition, error) {
	return s.edit(ctx, d.Name, func(e *Entry) error {
		if e.Version != d.Version {
			return generator.ChangedError(d.Name)
		}
		e.Options = slices.Clone(d.Options)
		e.Version++
		return nil
	})
}

// Undefine implements generator.Definitions.
func (s *Store) Undefine(ctx context.Context, name string) error {
	_, err := s.edit(ctx, name, func(e *Entry) error {
		e.Dropped = true
		return nil
	})
	return err
}

// Defined implements generator.Definitions.
func (s *Store) Defined(ctx context.Context, name string) (generator.Definition, error) {
	e, err := s.defined(ctx, name)
	if err != nil {
		return generator.Definition{}, err
	}
	return e.Definition, nil
}

// ListDefined implements generator.Definitions.
func (s *Store) ListDefined(ctx context.Context) (all []generator.Definition, err error) {
	entries, err := request(ctx, s, s.engine.Names)
	for _, e := range entries {
		if !e.Dropped {
			all = append(all, e.Definition)
		}
	}
	slices.SortFunc(all, func(a, b generator.Definition) int { return cmp.Compare(a.Name, b.Name) })
	return all, err
}

// Count implements generator.Definitions.
func (s *Store) Count(ctx context.Context) (int, error) { return request(ctx, s, s.engine.Count) }
