// Package skew compares this server's clock with that of the store's
// database.
//
// Ids are unique whatever clocks say; but those of several servers follow the
// time only as far as their clocks agree, and a server whose clock is far
// ahead reserves times that have not come, which all others have to wait for.
// So a server does not start with such a clock, and one whose clock goes wrong
// later raises an alarm and does not follow it. It goes on issuing ids: its
// own time goes on with the monotonic clock.
package skew

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"nextid/generator"
)

// Config configures New and Check. Store is required.
type Config struct {
	Store generator.Timekeeper
	Limit time.Duration     // greatest difference without an alarm; 0: there is no alarm
	Clock generator.Runtime // nil: the system's
	// Doubt is called after each comparison: is the clock further ahead of
	// the store's than Limit? nil: nobody wants to know.
	Doubt  func(ahead bool)
	Logger *slog.Logger // nil: slog.Default()
}

const (
	// every is how often the clocks are compared.
	every = 5 * time.Second
	// slow is an answer that took too long to say anything.
	slow = 2 * time.Second
	// remindEvery is how often a difference that lasts is logged.
	remindEvery = 10 * time.Minute
)

func (c *Config) withDefaults() {
	if c.Clock == nil {
		c.Clock = generator.SystemClock{}
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Doubt == nil {
		c.Doubt = func(bool) {}
	}
}

// Offset is a comparison of the two clocks.
type Offset struct {
	Ahead time.Duration // by how much ours is certainly ahead; negative for behind, 0 for no certain difference
	Known bool          // false: the store has not said what time it is
	Alarm bool          // it is more than Limit
}

// Watch compares the clocks until Close.
type Watch struct {
	cfg  Config
	ctx  context.Context // ends with Close
	stop context.CancelFunc
	work sync.WaitGroup

	mu     sync.Mutex
	offset Offset
	logged time.Duration // when the alarm was logged, by the monotonic clock
}

// New returns a Watch. Close it.
func New(cfg Config) *Watch {
	cfg.withDefaults()
	w := &Watch{cfg: cfg}
	w.ctx, w.stop = context.WithCancel(context.Background())
	cfg.Clock.Go(&w.work, w.watch)
	return w
}

// Offset is the last comparison.
func (w *Watch) Offset() Offset {
	if w == nil {
		return Offset{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.offset
}

// Close ends the comparisons.
func (w *Watch) Close() {
	w.stop()
	w.cfg.Clock.Join(&w.work)
}

func (w *Watch) watch() {
	for {
		ahead, err := w.cfg.compare(w.ctx)
		switch {
		case err == nil:
			w.note(ahead)
		case w.ctx.Err() == nil: // of a store that does not answer others tell
			w.cfg.Logger.Debug("cannot compare the clock with that of the store", "error", err)
		}
		if w.cfg.Clock.Sleep(w.ctx, every) != nil {
			return
		}
	}
}

func (w *Watch) note(ahead time.Duration) {
	limit := w.cfg.Limit
	o := Offset{Ahead: ahead, Known: true, Alarm: limit > 0 && ahead.Abs() > limit}
	w.cfg.Doubt(o.Alarm && ahead > 0)
	w.mu.Lock()
	defer w.mu.Unlock()
	before, now := w.offset, w.cfg.Clock.Monotonic()
	w.offset = o
	switch {
	case o.Alarm && (!before.Alarm || now-w.logged >= remindEvery):
		w.logged = now
		w.cfg.Logger.Error("the clock of this server differs from that of the store; ids stay unique, but their times are wrong if it is this clock that is",
			"ahead", ahead, "clock_limit", limit)
	case before.Alarm && !o.Alarm:
		w.cfg.Logger.Warn("the clock of this server and that of the store agree again", "ahead", ahead)
	}
}

var errSlow = errors.New("the answer took too long, or the clock was set meanwhile")

// compare asks the store for its time. The difference is what cannot be the
// time that the answer took: one clock is certainly that much ahead.
func (c *Config) compare(ctx context.Context) (ahead time.Duration, err error) {
	mono, wall := c.Clock.Monotonic(), c.Clock.Wall()
	earliest, latest, err := c.Store.Time(ctx)
	if err != nil {
		return 0, err
	}
	took, passed := c.Clock.Monotonic()-mono, time.Duration(c.Clock.Wall()-wall)
	if took > slow || (took-passed).Abs() > 100*time.Millisecond {
		return 0, errSlow
	}
	before, after := time.Unix(0, wall), time.Unix(0, wall).Add(took)
	switch {
	case before.After(latest):
		return before.Sub(latest), nil
	case after.Before(earliest):
		return after.Sub(earliest), nil
	}
	return 0, nil
}

// Error is that of a clock with which a server should not start.
type Error struct{ Ahead, Limit time.Duration }

func (e *Error) Error() string {
	where := "ahead of"
	if e.Ahead < 0 {
		where = "behind"
	}
	return fmt.Sprintf("the clock of this machine is %v %s that of the store", e.Ahead.Abs().Round(time.Millisecond), where)
}

// Check compares the clocks once. It returns an *Error if they differ by more
// than Limit, and nil if they do not or nobody knows.
func Check(ctx context.Context, cfg Config) error {
	cfg.withDefaults()
	if cfg.Limit == 0 {
		return nil
	}
	ahead, err := cfg.compare(ctx)
	if err != nil {
		cfg.Logger.Debug("cannot compare the clock with that of the store", "error", err)
		return nil
	}
	if ahead.Abs() > cfg.Limit {
		return &Error{ahead, cfg.Limit}
	}
	return nil
}
