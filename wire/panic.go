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
type panicLog struct {
	mu    sync.Mutex
	lines map[string]*throttle
}

// note logs a recovered panic. The deferred function that has recovered calls note,
// while the panic is still on the stack.
func (l *panicLog) note(log *slog.Logger, message string, connection int32, cause any) {
	if skipped, ok := l.at(panicLine()).next(time.Now()); ok {
		log.Error(message, "connection", connection, "panic", cause, "skipped", skipped, "stack", string(debug.Stack())) //nolint:sloglint // one of two constants
	}
}

// at returns the throttle of a line of the program.
func (l *panicLog) at(line string) *throttle {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lines == nil {
		l.lines = map[string]*throttle{}
	}
	t := l.lines[line]
	if t == nil {
		t = &throttle{}
		l.lines[line] = t
	}
	return t
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
