package wire

import (
	"log/slog"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"
)

// panicLog logs panics. It logs one line of the program at most once a second: a
// client that triggers a bug must not fill the disk.
type panicLog struct{ lines sync.Map } // of *Throttle, by the line of the program

// note logs a recovered panic. The deferred function that has recovered calls note,
// while the panic is still on the stack.
func (l *panicLog) note(log *slog.Logger, message string, connection int32, cause any) {
	line, _ := l.lines.LoadOrStore(panicLine(), &Throttle{})
	if skipped, ok := line.(*Throttle).Next(time.Now()); ok {
		log.Error(message, "connection", connection, "panic", cause, "skipped", skipped, "stack", string(debug.Stack())) //nolint:sloglint // one of two constants
	}
}

// panicLine returns the line that panicked: the first frame below the call of panic
// that is not the runtime's.
func panicLine() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	panicked := false
	for {
		f, more := frames.Next()
		if panicked && !strings.HasPrefix(f.Function, "runtime.") {
			return f.File + ":" + strconv.Itoa(f.Line)
		}
		if panicked = panicked || f.Function == "runtime.gopanic"; !more {
			return ""
		}
	}
}

// Throttle bounds log lines to Lines a second, to one if Lines is 0.
type Throttle struct {
	Lines int

	mu      sync.Mutex
	since   time.Time // when the second began
	logged  int       // in it
	skipped int
}

// Next reports whether to log now, and the number of lines that were left out since
// the last one.
func (t *Throttle) Next(now time.Time) (skipped int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Sub(t.since) >= time.Second {
		t.since, t.logged = now, 0
	}
	if t.logged >= max(1, t.Lines) {
		t.skipped++
		return 0, false
	}
	t.logged++
	skipped, t.skipped = t.skipped, 0
	return skipped, true
}
