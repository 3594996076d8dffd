package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"nextid/generator"
)

// ClockConfig configures NewClockWatch and CheckClock. Store is required.
type ClockConfig struct {
	Store generator.Timekeeper
	Limit time.Duration     // greatest difference without an alarm; 0: there is no alarm
	Clock generator.Runtime // nil: the system's
	// Doubt is called after each comparison: is the clock further ahead of
	// the store's than Limit? nil: not reported.
	Doubt  func(ahead bool)
	Logger *slog.Logger // nil: slog.Default()
}

const (
	// every sets how often the clocks are compared.
	every = 5 * time.Second
	// slow is an answer that took too long to say anything.
	slow = 2 * time.Second
	// remindEvery sets how often a difference that lasts is logged.
	remindEvery = 10 * time.Minute
)

func (c *ClockConfig) withDefaults() {
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

// ClockOffset is a comparison of the two clocks.
type ClockOffset struct {
	Ahead time.Duration // by how much ours is certainly ahead; negative for behind, 0 for no certain difference
	Known bool          // false: the store has not said what time it is
	Alarm bool          // it is more than Limit
}

// ClockWatch compares the clocks until Close.
type ClockWatch struct {
	cfg  ClockConfig
	ctx  context.Context // ends with Close
	stop context.CancelFunc
	work sync.WaitGroup

	mu     sync.Mutex
	offset ClockOffset
	logged time.Duration // when the alarm was logged, by the monotonic clock
}

// NewClockWatch returns a Watch. Close it.
func NewClockWatch(cfg ClockConfig) *ClockWatch {
	cfg.withDefaults()
	w := &ClockWatch{cfg: cfg}
	w.ctx, w.stop = context.WithCancel(context.Background())
	cfg.Clock.Go(&w.work, w.watch)
	return w
}

// Offset is the last comparison.
func (w *ClockWatch) Offset() ClockOffset {
	if w == nil {
		return ClockOffset{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.offset
}

// Close ends the comparisons.
func (w *ClockWatch) Close() {
	w.stop()
	w.cfg.Clock.Join(&w.work)
}

func (w *ClockWatch) watch() {
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

func (w *ClockWatch) note(ahead time.Duration) {
	limit := w.cfg.Limit
	o := ClockOffset{Ahead: ahead, Known: true, Alarm: limit > 0 && ahead.Abs() > limit}
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
func (c *ClockConfig) compare(ctx context.Context) (ahead time.Duration, err error) {
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

// CheckClock compares the clocks once. It returns an error if they differ by more
// than Limit, and nil if they do not or that is unknown.
func CheckClock(ctx context.Context, cfg ClockConfig) error {
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
		where := "ahead of"
		if ahead < 0 {
			where = "behind"
		}
		return fmt.Errorf("the clock of this machine is %v %s that of the store", ahead.Abs().Round(time.Millisecond), where)
	}
	return nil
}
