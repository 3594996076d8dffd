package shared

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	maxSkew        = 10 * time.Second
	defaultTimeout = 5 * time.Second
	defaultLanes   = 4
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
	c.Timeout = cmp.Or(c.Timeout, defaultTimeout)
	c.Lanes = cmp.Or(c.Lanes, defaultLanes)
	if c.Clock == nil {
		c.Clock = generator.SystemClock{}
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
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

var (
	_ generator.Store     = (*Store)(nil)
	_ generator.Recoverer = (*Store)(nil)
	_ generator.Prober    = (*Store)(nil)

	_ generator.Timekeeper  = (*Store)(nil)
	_ generator.TimeGranter = (*Store)(nil)
)

// New returns a Store on engine after the engine has answered. The Store owns the
// engine and closes it, also if New fails.
func New(ctx context.Context, engine Engine, cfg Config) (*Store, error) {
	cfg = cfg.withDefaults()
	w, err := openHighWater(cfg.HighWater)
	if err != nil {
		engine.Close()
		return nil, &generator.Error{
			Kind: generator.ErrNotNow, Reason: generator.ReasonStore, Message: cfg.HighWater + " cannot be written", Cause: err,
			Hint: "nextid must be able to write its data directory.",
		}
	}
	s := &Store{engine: engine, cfg: cfg, highWater: w, learn: make(chan struct{}, 1)}
	s.learn <- struct{}{}
	s.health.log = cfg.Logger
	s.rounds = newRounds(engine, w, &s.health, cfg)
	if _, err := s.present(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Probe implements generator.Prober.
func (s *Store) Probe() error { return s.health.probe() }

// Time implements generator.Timekeeper.
func (s *Store) Time(ctx context.Context) (earliest, latest time.Time, err error) {
	k, ok := s.engine.(generator.Timekeeper)
	if !ok {
		return earliest, latest, &generator.Error{Kind: generator.ErrWrongKind, Message: "the store has no clock"}
	}
	if err := s.open(ctx); err != nil {
		return earliest, latest, err
	}
	bounded, cancel := s.bounded(ctx)
	defer cancel()
	if earliest, latest, err = k.Time(bounded); err != nil {
		return earliest, latest, err
	}
	// The callers ask every few seconds. So a server that reserves nothing notices a
	// failover soon, too: see raise.
	if l := s.epoch.Load(); l != nil {
		if name, err := s.engine.Epoch(bounded); err == nil && name != l.name {
			_, _ = s.meet(ctx, l) // the next reservation tries again
		}
	}
	return earliest, latest, nil
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
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	return s.engine.Row(ctx, key)
}

func (r *Row) mark() generator.Mark {
	return generator.Mark{Key: r.Key, Hi: r.Hi, Owner: r.Owner, Updated: time.UnixMilli(r.Updated)}
}

// Reserved implements generator.Reserver.
func (s *Store) Reserved(ctx context.Context, prefix string) ([]generator.Mark, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	rows, err := s.engine.Rows(ctx, prefix)
	if err != nil {
		return nil, err
	}
	marks := make([]generator.Mark, 0, len(rows))
	for _, r := range rows {
		if r.Key == epochKey || !strings.HasPrefix(r.Key, prefix) {
			continue
		}
		marks = append(marks, r.mark())
	}
	slices.SortFunc(marks, func(a, b generator.Mark) int { return cmp.Compare(a.Key, b.Key) })
	return marks, nil
}

// Define implements generator.Definitions. Callers have usually just read the name.
// So it is read again only before begin, and if it turns out to exist.
func (s *Store) Define(ctx context.Context, d generator.Definition) (generator.Definition, bool, error) {
	if err := s.open(ctx); err != nil {
		return generator.Definition{}, false, err
	}
	var was *Entry
	for try := range attempts {
		l, err := s.present(ctx)
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
			if err := s.begin(ctx, l, d.Name); err != nil {
				return generator.Definition{}, false, err
			}
		}
		written, err := s.put(ctx, e, was)
		if err != nil {
			return generator.Definition{}, false, err
		}
		if written {
			return e.Definition, true, nil
		}
	}
	return generator.Definition{}, false, generator.ChangedError(d.Name)
}

// entry reads an entry of the catalogue; nil and ErrUnknown for none.
func (s *Store) entry(ctx context.Context, name string) (*Entry, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	e, err := s.engine.Name(ctx, name)
	if err != nil {
		return nil, err
	}
	return &e, nil
}

// put writes an entry of the catalogue.
func (s *Store) put(ctx context.Context, e Entry, was *Entry) (written bool, err error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	return s.engine.PutName(ctx, e, was)
}

// defined reads an entry that is not dropped.
func (s *Store) defined(ctx context.Context, name string) (*Entry, error) {
	e, err := s.entry(ctx, name)
	if err == nil && e.Dropped {
		return nil, Unknown(name)
	}
	return e, err
}

// Redefine implements generator.Definitions.
func (s *Store) Redefine(ctx context.Context, d generator.Definition) (generator.Definition, error) {
	was, err := s.defined(ctx, d.Name)
	if err != nil {
		return generator.Definition{}, err
	}
	if was.Version != d.Version {
		return generator.Definition{}, generator.ChangedError(d.Name)
	}
	e := *was
	e.Options = slices.Clone(d.Options)
	e.Version++
	written, err := s.put(ctx, e, was)
	if err == nil && !written {
		err = generator.ChangedError(d.Name)
	}
	if err != nil {
		return generator.Definition{}, err
	}
	return e.Definition, nil
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
func (s *Store) ListDefined(ctx context.Context) ([]generator.Definition, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	entries, err := s.engine.Names(ctx)
	if err != nil {
		return nil, err
	}
	var all []generator.Definition
	for _, e := range entries {
		if !e.Dropped {
			all = append(all, e.Definition)
		}
	}
	slices.SortFunc(all, func(a, b generator.Definition) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// Count implements generator.Definitions.
func (s *Store) Count(ctx context.Context) (int, error) {
	if err := s.open(ctx); err != nil {
		return 0, err
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	return s.engine.Count(ctx)
}

// Undefine implements generator.Definitions.
func (s *Store) Undefine(ctx context.Context, name string) error {
	was, err := s.defined(ctx, name)
	if err != nil {
		return err
	}
	e := *was
	e.Dropped = true
	written, err := s.put(ctx, e, was)
	if err == nil && !written {
		err = generator.ChangedError(name)
	}
	return err
}

func badCount(r generator.Reservation) error {
	return &generator.Error{
		Kind:    generator.ErrCount,
		Message: fmt.Sprintf("cannot reserve %d numbers for the key %q", r.N, r.Key),
	}
}
