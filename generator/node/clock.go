package node

import (
	"cmp"
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
	Limit time.Duration     // greatest difference without an alarm; 0: no alarm
	Clock generator.Runtime // nil: the operating system's
	// Doubt is called after each comparison. ahead reports whether the clock is ahead
	// of the store's by more than Limit. nil: not called.
	Doubt  func(ahead bool)
	Logger *slog.Logger // nil: slog.Default()
}

const (
	// every is the interval of comparisons.
	every = 5 * time.Second
	// slow is the duration from which an answer is too slow to be used.
	slow = 2 * time.Second
	// remindEvery is the interval at which a lasting difference is logged.
	remindEvery = 10 * time.Minute
)

func (c *ClockConfig) withDefaults() {
	c.Clock = cmp.Or[generator.Runtime](c.Clock, generator.SystemClock{})
	c.Logger = cmp.Or(c.Logger, slog.Default())
	if c.Doubt == nil {
		c.Doubt = func(bool) {}
	}
}

// ClockOffset is the result of a comparison of the two clocks.
type ClockOffset struct {
	Ahead time.Duration // least amount by which this server's clock is ahead; negative for behind, 0 for no certain difference
	Known bool          // false until the store has told its time
	Alarm bool          // the difference is more than Limit
}

// ClockWatch compares the clocks until Close.
type ClockWatch struct {
	cfg  ClockConfig
	ctx  context.Context // canceled by Close
	stop context.CancelFunc
	work sync.WaitGroup

	mu     sync.Mutex
	offset ClockOffset
	logged time.Duration // when the alarm was last logged, by the monotonic clock
}

// NewClockWatch returns a running ClockWatch. The caller must call Close.
func NewClockWatch(cfg ClockConfig) *ClockWatch {
	cfg.withDefaults()
	w := &ClockWatch{cfg: cfg}
	w.ctx, w.stop = context.WithCancel(context.Background())
	cfg.Clock.Go(&w.work, w.watch)
	return w
}

// Offset returns the latest comparison.
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
		case w.ctx.Err() == nil: // other messages report a store that does not answer
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

// compare asks the store for its time. ahead is the part of the difference that the
// duration of the answer cannot explain: one clock is ahead of the other by at
// least that much.
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
// than Limit; nil if not, or if that is unknown.
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
